"""Text to tokens in one linear pass; whatever cannot be a token is reported and becomes a `BAD` one."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from typing import NamedTuple

from perdure.verbs.sexpr.forms import Span
from perdure.verbs.sexpr.mistakes import Mistake, Report, shown
from perdure.verbs.sexpr.name_syntax import VARIABLE
from perdure.verbs.sexpr.text_limits import check_tokens


class Kind(enum.Enum):
    """What a token is, in S-expressions or in the LET form."""

    OPEN = enum.auto()
    CLOSE = enum.auto()
    COMMA = enum.auto()
    COMMENT = enum.auto()
    STRING = enum.auto()
    BROKEN_STRING = enum.auto()
    KEYWORD = enum.auto()
    SYMBOL = enum.auto()
    VARIABLE = enum.auto()
    WORD = enum.auto()
    NUMBER = enum.auto()
    SIGN = enum.auto()
    BAD = enum.auto()
    OVER = enum.auto()


class Token(NamedTuple):
    """One token; `leads` says that nothing but space stands before it on its line."""

    kind: Kind
    text: str
    start: int
    line: int
    column: int
    leads: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def span(self) -> Span:
        return Span(self.start, self.end, self.line, self.column)


# Possessive or bounded repeats: a quote that never closes costs one look, not a search for another way to match.
_TOKEN = re.compile(
    r"""(?P<space>[ \t]++)
      | (?P<newline>\r\n|\n|\r)
      | (?P<comment>;[^\n\r]*+)
      | (?P<string>"[^"\\\n\r]*+(?:\\[^\n\r][^"\\\n\r]*+)*+")
      | (?P<broken>"[^\n\r]*+)
      | (?P<open>[(\[{])
      | (?P<close>[)\]}])
      | (?P<comma>,)
      | (?P<quoted>'[^'\n\r()\[\]{}"]{0,200}'|“[^”\n\r()\[\]{}"]{0,200}”|‘[^’\n\r()\[\]{}"]{0,200}’)
      | (?P<word>[^\s()\[\]{}",;]++)
      | (?P<odd>\s)""",
    re.VERBOSE,
)
_FOREIGN_COMMENT = re.compile(r"(?:#|//|--)[^\n\r]*")
_FOREIGN = re.compile(r"[^A-Za-z0-9_.:@+-]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_KINDS = {
    "comment": Kind.COMMENT,
    "string": Kind.STRING,
    "broken": Kind.BROKEN_STRING,
    "open": Kind.OPEN,
    "close": Kind.CLOSE,
    "comma": Kind.COMMA,
    "quoted": Kind.BAD,
}
_LEADING = {":": Kind.KEYWORD, "@": Kind.SYMBOL}


def tokens(text: str, report: Report) -> Iterator[Token]:
    """The tokens of `text`, comments included, white space left out; DefinitionError when they are too many."""
    check_tokens(text, report.file, _TOKEN)
    position = 1 if text.startswith("\ufeff") else 0
    line, line_start, leads = 1, position, True
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match is not None, "every character begins some token"
        kind = str(match.lastgroup)
        if kind == "newline":
            line, line_start, leads = line + 1, match.end(), True
        elif kind == "odd":
            odd = Token(Kind.BAD, match[0], position, line, position - line_start + 1)
            unknown(odd, 0, "Delete it, or use an ordinary space.", report)
        elif kind != "space":
            token = _token(kind, match, line, position - line_start + 1, leads)
            _inspect(kind, token, report)
            yield token
            leads = False
            position = token.end
            continue
        position = match.end()


def _token(kind: str, match: re.Match[str], line: int, column: int, leads: bool) -> Token:
    start = match.start()
    comment = _FOREIGN_COMMENT.match(match.string, start) if leads and kind == "word" else None
    if comment:
        return Token(Kind.COMMENT, comment[0], start, line, column, leads)
    if kind != "word":
        return Token(_KINDS[kind], match[0], start, line, column, leads)
    return Token(_word_kind(match[0]), match[0], start, line, column, leads)


def _word_kind(word: str) -> Kind:
    if word[0] == "$" and VARIABLE.match(word):
        return Kind.VARIABLE
    return Kind.BAD if _FOREIGN.search(word) else _LEADING.get(word[0], Kind.WORD)


def _inspect(kind: str, token: Token, report: Report) -> None:
    """Report what no later stage would: characters that belong to no form, strings without an end."""
    if token.kind is Kind.BROKEN_STRING:
        never_closed(token, report)
    elif token.kind is Kind.COMMENT and kind == "word":
        unknown(token, 0, "Comments begin with ';;'.", report)
    elif kind == "quoted":
        unknown(token, 0, f'Text stands in straight double quotes: "{shown(token.text[1:-1])}".', report)
    elif token.kind is Kind.BAD:
        found = _FOREIGN.search(token.text)
        at = found.start() if found else 0
        unknown(token, at, _advice(token.text, at), report)
    if kind != "word":
        refuse_surrogates(token, report)


def never_closed(token: Token, report: Report) -> None:
    hint = "Close it with '\"' on the same line; a line break inside a string is written \\n."
    report.add(Mistake.UNTERMINATED_STRING, token, "the string is never closed", hint)


def refuse_surrogates(token: Token, report: Report) -> None:
    found = _SURROGATE.search(token.text)
    if found:
        unknown(token, found.start(), "Write characters beyond U+FFFF as themselves or as two \\u escapes.", report)


def unknown(token: Token, at: int, hint: str, report: Report) -> None:
    reason = f"the character '{shown(token.text[at])}' means nothing here"
    report.add(Mistake.UNKNOWN_CHARACTER, token._replace(column=token.column + at), reason, hint)


def _advice(word: str, at: int) -> str:
    character = word[at]
    if character == "$":
        return "A variable is a dollar sign and a name, with fields after dots: $case or $case.owner."
    if character in "'‘’“”`«»":
        return 'Text stands in straight double quotes: "like this".'
    if character == "=":
        return "Arguments are written ':name value', without an equals sign."
    if not character.isprintable():
        return "Delete it; it cannot be seen."
    return "Names use the letters a to z, digits, '-', '_' and '.'; any other text stands in double quotes."

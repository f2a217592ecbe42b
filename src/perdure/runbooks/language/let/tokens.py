"""The text of the LET form to tokens in one linear pass; whatever cannot be a token is reported."""

from __future__ import annotations

import re
from typing import NamedTuple

from perdure.verbs.sexpr.mistakes import Report, shown
from perdure.verbs.sexpr.text_limits import check_tokens
from perdure.verbs.sexpr.tokens import Kind as Kind
from perdure.verbs.sexpr.tokens import Token as Token
from perdure.verbs.sexpr.tokens import never_closed, refuse_surrogates, unknown


class Comment(NamedTuple):
    """A comment before the token of that index; one that does not lead its line belongs to what stands there."""

    before: int
    text: str
    line: int
    leads: bool


# Possessive repeats: whatever does not match costs one look, not a search for another way to match.
_TOKEN = re.compile(
    r"""(?P<space>[ \t]++)
      | (?P<newline>\r\n|\n|\r)
      | (?P<comment>\#[^\n\r]*+)
      | (?P<word>[A-Za-z_][A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*+|\[[0-9]++\])*+)
      | (?P<variable>\$[A-Za-z_][A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*+|\[[0-9]++\])*+)
      | (?P<string>"[^"\\\n\r]*+(?:\\[^\n\r][^"\\\n\r]*+)*+")
      | (?P<broken>"[^\n\r]*+)
      | (?P<number>[+-]?\.?[0-9][A-Za-z0-9_.+-]*+)
      | (?P<sign>[=!<>]=|[()\[\]{},:=<>])
      | (?P<symbol>@[A-Za-z_][A-Za-z0-9_.-]*+)
      | (?P<quoted>'[^'\n\r()\[\]{}"]{0,200}'|“[^”\n\r()\[\]{}"]{0,200}”|‘[^’\n\r()\[\]{}"]{0,200}’)
      | (?P<odd>.)""",
    re.VERBOSE | re.DOTALL,
)
_KINDS = {
    "word": Kind.WORD,
    "variable": Kind.VARIABLE,
    "string": Kind.STRING,
    "broken": Kind.BROKEN_STRING,
    "number": Kind.NUMBER,
    "sign": Kind.SIGN,
    "symbol": Kind.BAD,
    "quoted": Kind.BAD,
    "odd": Kind.BAD,
}


def tokens(text: str, report: Report) -> tuple[list[Token], list[Comment]]:
    """The tokens of `text`, the last of them the end of it, and apart from them its comments.

    Raises DefinitionError when they are too many.
    """
    check_tokens(text, report.file, _TOKEN)
    found: list[Token] = []
    comments: list[Comment] = []
    line, line_start, leads = 1, (1 if text.startswith("\ufeff") else 0), True
    for match in _TOKEN.finditer(text, line_start):
        kind = str(match.lastgroup)
        if kind == "space":
            continue
        if kind == "newline":
            line, line_start, leads = line + 1, match.end(), True
            continue
        start = match.start()
        if kind == "comment":
            comments.append(Comment(len(found), match[0].lstrip("# \t").rstrip(), line, leads))
            continue
        token = Token(_KINDS[kind], match[0], start, line, start - line_start + 1, leads)
        found.append(token)
        leads = False
        if kind in ("broken", "symbol", "quoted", "odd", "string"):
            _inspect(token, report, found)
    found.append(Token(Kind.OVER, "", len(text), line, len(text) - line_start + 1, leads))
    return found, comments


def _inspect(token: Token, report: Report, found: list[Token]) -> None:
    """Report what no later stage would: characters that mean nothing, strings without an end."""
    if token.kind is Kind.BROKEN_STRING:
        never_closed(token, report)
    elif token.kind is Kind.BAD and not _continues(found):
        unknown(token, 0, _advice(token.text), report)
    if token.kind is not Kind.BAD:
        refuse_surrogates(token, report)


def _continues(found: list[Token]) -> bool:
    """Whether a run of characters that mean nothing was reported at its first."""
    return len(found) > 1 and found[-2].kind is Kind.BAD and found[-2].end == found[-1].start


def _advice(text: str) -> str:
    match text[0]:
        case "'" | "‘" | "’" | "“" | "”" | "`" | "«" | "»":
            inside = text[1:-1]
            return f'Text stands in straight double quotes: "{shown(inside) if inside else "like this"}".'
        case "@":
            return "Results are written by their names alone here: case.owner, not @case.owner."
        case "$":
            return "A variable is a dollar sign and a name: $case_id."
        case ";":
            return "Comments begin with '#'; statements need no end."
        case "&" | "|" | "!":
            return "Conditions are joined by 'and', 'or' and 'not'."
        case "/" | "-":
            return "Comments begin with '#'."
        case character if not character.isprintable():
            return "Delete it; it cannot be seen."
        case _:
            return "Names use the letters a to z, digits, '-', '_' and '.'; any other text stands in double quotes."

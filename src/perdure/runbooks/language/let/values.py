"""Reads the values and calls of the LET form."""

from __future__ import annotations

from perdure.runbooks.language.faults import Fault
from perdure.runbooks.language.let.token_cursor import KEYWORDS, Cursor
from perdure.runbooks.language.let.tokens import Kind, Token
from perdure.runbooks.language.program import Argument, CallForm, ListForm, Literal, MapForm, Symbol, Value, Variable
from perdure.verbs.sexpr.forms import Span, snake
from perdure.verbs.sexpr.literals import is_exact, number, number_advice, string
from perdure.verbs.sexpr.mistakes import Mistake, shown
from perdure.verbs.sexpr.name_syntax import NAME, VERB

WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "nil": None}
_OTHER_WORDS = {"True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null"}
_STARTS = frozenset({Kind.WORD, Kind.VARIABLE, Kind.STRING, Kind.NUMBER})


def read_value(cursor: Cursor) -> Value | None:
    """The value at hand, or None when it is none; then that has been reported."""
    token = cursor.peek()
    match token.kind:
        case Kind.STRING:
            return _string(cursor, cursor.next())
        case Kind.NUMBER:
            return _number(cursor, cursor.next())
        case Kind.VARIABLE:
            name, path = split_path(cursor.next().text[1:])
            return Variable(name, path, token.span)
        case Kind.WORD:
            return _word(cursor, token)
        case Kind.SIGN if token.text == "[":
            return _list(cursor)
        case Kind.SIGN if token.text == "{":
            return _map(cursor)
        case Kind.BAD | Kind.BROKEN_STRING:
            cursor.next()
            return None
        case _:
            _no_value(cursor, token)
            return None


def read_call(cursor: Cursor) -> CallForm | None:
    """`verb(name: value, …)`, or None when there is no verb to speak of."""
    token = cursor.peek()
    if token.kind is not Kind.WORD or (token.text in KEYWORDS and cursor.peek(1).text != "("):
        hint = "Write the name of a verb and its arguments: EXEC domain.verb(name: value)."
        cursor.add(Mistake.MISSING_VERB, token, "the call names no verb", hint)
        if token.text == "(":
            _arguments(cursor)
        return None
    cursor.next()
    is_verb = VERB.match(token.text) is not None
    if not is_verb:
        hint = "Verbs are named domain.verb: words of letters, digits and '-', joined by single dots."
        cursor.add(Mistake.MALFORMED_VERB, token, f"'{shown(token.text)}' is not the name of a verb", hint)
    if cursor.peek().text != "(" or cursor.peek().kind is not Kind.SIGN:
        reason = f"the arguments of {shown(token.text)} do not follow"
        cursor.add(Fault.MISSING_PARENTHESIS, token, reason, f"Write '{shown(token.text)}(name: value)'.")
        return CallForm(token.text, (), span=token.span) if is_verb else None
    arguments, last = _arguments(cursor)
    span = Span(token.start, last.end, token.line, token.column)
    return CallForm(token.text, arguments, span=span) if is_verb else None


def split_path(text: str) -> tuple[str, tuple[str, ...]]:
    """`a.b[0]` as a name and a path."""
    if "." not in text and "[" not in text:
        return text, ()
    name, *path = text.replace("[", ".").replace("]", "").split(".")
    return name, tuple(path)


def _arguments(cursor: Cursor) -> tuple[tuple[Argument, ...], Token]:
    found: list[Argument] = []
    seen: set[str] = set()
    if cursor.enter():
        while not cursor.ends():
            if cursor.takes(",") is None:
                _argument(cursor, found, seen)
    return tuple(found), cursor.leave()


def _argument(cursor: Cursor, found: list[Argument], seen: set[str]) -> None:
    token = cursor.peek()
    if token.kind is Kind.WORD and cursor.peek(1).text in (":", "=") and cursor.peek(1).kind is Kind.SIGN:
        _pair(cursor, found, seen, "argument")
    elif token.text == ":" and cursor.peek(1).kind is Kind.WORD:
        cursor.next()
        name = shown(cursor.next().text)
        reason = f"':{name}' is not how an argument is named"
        cursor.add(Mistake.MALFORMED_KEYWORD, token, reason, f"Write '{name}: value'.")
        _skip_value(cursor)
    elif token.kind is Kind.WORD and NAME.match(token.text) and _starts_value(cursor.peek(1)):
        cursor.next()
        name = shown(token.text)
        cursor.add(Mistake.KEYWORD_WITHOUT_COLON, token, f"'{name}' lacks its colon", f"Write '{name}: value'.")
        _skip_value(cursor)
    else:
        if token.kind not in (Kind.BAD, Kind.BROKEN_STRING):
            reason = f"the value '{shown(token.text)}' has no name"
            cursor.add(Mistake.VALUE_WITHOUT_KEYWORD, token, reason, "Every argument is named: write 'name: value'.")
        _skip_value(cursor)
        while not cursor.ends() and cursor.peek().text != "," and cursor.peek(1).text != ":":
            _skip_value(cursor)


def _pair(cursor: Cursor, found: list[Argument], seen: set[str], thing: str) -> None:
    """`name: value`, and the comma that should follow it."""
    name_token, colon = cursor.next(), cursor.next()
    name = name_token.text
    if name_token.kind is Kind.STRING:
        name = string(name, lambda at, escape: _bad_escape(cursor, name_token, at, escape))
    elif not NAME.match(name):
        hint = "Names are words of letters, digits, '-' and '_'; the name of a key may stand in double quotes."
        cursor.add(Mistake.MALFORMED_KEYWORD, name_token, f"'{shown(name)}' does not name an {thing}", hint)
    if colon.text == "=":
        hint = f"Write '{shown(name)}: value'."
        cursor.add(Mistake.KEYWORD_WITHOUT_COLON, colon, f"'{shown(name)}' is followed by an equals sign", hint)
    if cursor.ends() or cursor.peek().text == ",":
        hint = f"Write '{shown(name)}: value', or remove it."
        cursor.add(Mistake.KEYWORD_WITHOUT_VALUE, name_token, f"'{shown(name)}' has no value", hint)
        return
    value = read_value(cursor)
    key = name if name_token.kind is Kind.STRING else snake(name)
    if key in seen:
        mistake = Mistake.DUPLICATE_ARGUMENT if thing == "argument" else Mistake.DUPLICATE_KEY
        hint = "Keep one of them; '-' and '_' are the same in names."
        cursor.add(mistake, name_token, f"the {thing} '{shown(name)}' is given twice", hint, name)
    elif value is not None:
        seen.add(key)
        span = Span(name_token.start, value.span.end, name_token.line, name_token.column)
        found.append(Argument(name, value, span, is_exact=_is_exact(name_token, name)))
    _comma(cursor)


def _is_exact(token: Token, name: str) -> bool:
    """Whether a name in quotes is more than another way to write the name."""
    return token.kind is Kind.STRING and (snake(name) != name or not NAME.match(name))


def _comma(cursor: Cursor) -> None:
    token = cursor.peek()
    if cursor.ends() or token.text == "," or token.kind in (Kind.BAD, Kind.BROKEN_STRING):
        return
    hint = "Write a comma between them."
    cursor.add(Fault.MISSING_COMMA, token, f"no comma stands before '{shown(token.text)}'", hint)
    if cursor.peek(1).text not in (":", "="):
        while not cursor.ends() and cursor.peek().text != "," and cursor.peek(1).text != ":":
            _skip_value(cursor)


def _list(cursor: Cursor) -> ListForm:
    opened = cursor.peek()
    items: list[Value] = []
    if cursor.enter():
        while not cursor.ends():
            if cursor.takes(",") is not None:
                continue
            value = read_value(cursor)
            if value is not None:
                items.append(value)
                _comma(cursor)
    last = cursor.leave()
    return ListForm(tuple(items), Span(opened.start, last.end, opened.line, opened.column))


def _map(cursor: Cursor) -> MapForm:
    opened = cursor.peek()
    entries: list[Argument] = []
    seen: set[str] = set()
    if cursor.enter():
        while not cursor.ends():
            if cursor.takes(",") is None:
                _entry(cursor, entries, seen)
    last = cursor.leave()
    return MapForm(tuple(entries), Span(opened.start, last.end, opened.line, opened.column))


def _entry(cursor: Cursor, entries: list[Argument], seen: set[str]) -> None:
    token = cursor.peek()
    if token.kind in (Kind.WORD, Kind.STRING) and cursor.peek(1).text in (":", "="):
        _pair(cursor, entries, seen, "key")
        return
    if token.kind not in (Kind.BAD, Kind.BROKEN_STRING):
        hint = 'A map holds pairs: {name: value} or {"any text": value}.'
        cursor.add(Mistake.MAP_KEY, token, f"'{shown(token.text)}' is not a key", hint)
    _skip_value(cursor)
    while not cursor.ends() and cursor.peek().text != ",":
        _skip_value(cursor)


def _word(cursor: Cursor, token: Token) -> Value | None:
    if token.text == "EXEC" and cursor.peek(1).kind is Kind.WORD:
        cursor.next()
        return read_call(cursor)
    following = cursor.peek(1)
    if following.kind is Kind.SIGN and following.text == "(" and following.start == token.end:
        return read_call(cursor)
    cursor.next()
    if token.text in WORDS:
        return Literal(WORDS[token.text], token.span)
    name, path = split_path(token.text)
    meant = _OTHER_WORDS.get(token.text)
    if meant or token.text in KEYWORDS or not NAME.match(name):
        hint = f"Write {meant}." if meant else f'Put text in double quotes: "{shown(token.text)}".'
        cursor.add(Mistake.BARE_WORD, token, f"'{shown(token.text)}' is not a value", hint)
        return None
    return Symbol(name, path, token.span)


def _string(cursor: Cursor, token: Token) -> Literal:
    return Literal(string(token.text, lambda at, escape: _bad_escape(cursor, token, at, escape)), token.span)


def _bad_escape(cursor: Cursor, token: Token, at: int, escape: str) -> None:
    hint = 'Known escapes are \\n \\r \\t \\\\ \\" and \\uXXXX; for a backslash itself write \\\\.'
    place = token._replace(column=token.column + at)
    cursor.add(Mistake.BAD_ESCAPE, place, f"'{shown(escape)}' is not an escape", hint)


def _number(cursor: Cursor, token: Token) -> Literal | None:
    value = number(token.text)
    if value is None:
        reason = f"'{shown(token.text)}' is not a number"
        cursor.add(Mistake.MALFORMED_NUMBER, token, reason, number_advice(token.text))
        return None
    if not is_exact(token.text, value):
        hint = f'Write it as text, "{shown(token.text)}", or with fewer digits.'
        cursor.add(Mistake.INEXACT_NUMBER, token, f"the number {shown(token.text)} cannot be kept exactly", hint)
        return None
    return Literal(value, token.span)


def _no_value(cursor: Cursor, token: Token) -> None:
    hint = (
        'A value is text in double quotes, a number, true, false, null, a result, a $variable, [a list] or {a: "map"}.'
    )
    cursor.add(Mistake.BARE_WORD, token, f"'{shown(token.text)}' is not a value", hint)
    if token.text == "(":
        _arguments(cursor)
    else:
        cursor.next()


def _starts_value(token: Token) -> bool:
    return token.kind in _STARTS or (token.kind is Kind.SIGN and token.text in "[{")


def _skip_value(cursor: Cursor) -> None:
    """Pass over one value, reporting nothing but what is wrong between its brackets."""
    token = cursor.peek()
    if token.kind is Kind.SIGN and token.text in "([{":
        if token.text == "(":
            _arguments(cursor)
        else:
            read_value(cursor)
    elif not cursor.ends():
        cursor.next()

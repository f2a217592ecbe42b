"""The reader of one statement with balanced brackets; a mistake costs its own argument, not the statement."""

from __future__ import annotations

from perdure.verbs.sexpr.bracket_outline import Statement
from perdure.verbs.sexpr.forms import (
    Argument,
    CallForm,
    ListForm,
    Literal,
    MapForm,
    Span,
    Symbol,
    Value,
    Variable,
    snake,
)
from perdure.verbs.sexpr.literals import is_exact, looks_like_number, number, number_advice, string
from perdure.verbs.sexpr.mistakes import Mistake, Report, shown
from perdure.verbs.sexpr.name_syntax import ALWAYS, FIELD, NAME, ON_FAILURE, VERB, WORDS
from perdure.verbs.sexpr.tokens import Kind, Token

_NO_VALUE = frozenset({Kind.CLOSE, Kind.KEYWORD, Kind.COMMA})
_OTHER_WORDS = {
    "null": "nil",
    "none": "nil",
    "yes": "true",
    "no": "false",
    "true": "true",
    "false": "false",
    "nil": "nil",
}


class _Parts:
    """What a call has gathered while it is read."""

    def __init__(self) -> None:
        self.args: list[Argument] = []
        self.bind: Symbol | None = None
        self.after: tuple[Symbol, ...] = ()
        self.seen: set[str] = set()
        self.on_failure = ""
        self.alternative = ""
        self.gate = ""
        self.reevaluate = ""

    def form(self, verb: str, span: Span, comments: tuple[str, ...], has_gap: bool) -> CallForm:
        said = (self.on_failure, self.alternative, self.gate, has_gap, self.reevaluate)
        return CallForm(verb, tuple(self.args), self.bind, self.after, span, comments, *said)


class StatementReader:
    """A reader over the tokens of one statement; recursion is bounded by the nesting the outline allows."""

    def __init__(self, statement: Statement, report: Report) -> None:
        self._tokens = statement.tokens
        self._comments = statement.comments
        self._has_gap = statement.has_gap
        self._report = report
        self._at = 0

    def call(self) -> CallForm | None:
        """The call at hand, or None when it has no verb to speak of."""
        is_outermost = self._at == 0
        comments = self._comments if is_outermost else ()
        opened = self._next()
        verb = self._verb(opened)
        parts = _Parts()
        while self._peek().kind is not Kind.CLOSE:
            self._argument(parts)
        span = _from(opened, self._next())
        return parts.form(verb, span, comments, is_outermost and self._has_gap) if verb else None

    def _verb(self, opened: Token) -> str | None:
        token = self._peek()
        if token.kind is Kind.BAD:
            self._next()
            return None
        if token.kind is not Kind.WORD or token.text in WORDS or looks_like_number(token.text):
            hint = "A call begins with the name of a verb, as in (domain.verb :name value)."
            self._add(Mistake.MISSING_VERB, opened, "the call names no verb", hint)
            if token.kind not in _NO_VALUE:
                self._skip()
            return None
        self._next()
        if not VERB.match(token.text):
            hint = "Verbs are named domain.verb: words of letters, digits and '-', joined by single dots."
            self._add(Mistake.MALFORMED_VERB, token, f"'{shown(token.text)}' is not the name of a verb", hint)
            return None
        return token.text

    def _argument(self, parts: _Parts) -> None:
        token = self._peek()
        if token.kind is Kind.COMMA:
            hint = "Arguments are separated by spaces; remove the comma."
            self._add(Mistake.UNKNOWN_CHARACTER, self._next(), "a comma stands between arguments", hint)
        elif token.kind is not Kind.KEYWORD:
            self._without_keyword(token)
        elif token.text == ":as":
            self._as(self._next(), parts)
        elif token.text == ":after":
            self._after(self._next(), parts)
        elif token.text in (":on-failure", ":on_failure"):
            self._on_failure(self._next(), parts)
        elif token.text == ":gate":
            self._gate(self._next(), parts)
        elif token.text == ":reevaluate":
            self._reevaluate(self._next(), parts)
        else:
            argument = self._pair(parts.seen, Mistake.DUPLICATE_ARGUMENT, "argument")
            if argument:
                parts.args.append(argument)

    def _without_keyword(self, token: Token) -> None:
        """Report a run of values that no keyword introduces, once."""
        is_name = token.kind is Kind.WORD and NAME.match(token.text) and token.text not in WORDS
        if is_name and self._tokens[self._at + 1].kind not in _NO_VALUE:
            reason = f"'{shown(token.text)}' lacks the colon of a keyword"
            self._add(Mistake.KEYWORD_WITHOUT_COLON, token, reason, f"Write ':{shown(token.text)}'.")
            self._next()
            self._value()
            return
        if token.kind not in (Kind.BAD, Kind.BROKEN_STRING):
            reason = f"the value '{shown(token.text)}' has no keyword"
            self._add(Mistake.VALUE_WITHOUT_KEYWORD, token, reason, "Every argument is named: write ':name value'.")
        while self._peek().kind not in _NO_VALUE:
            self._skip()

    def _pair(self, seen: set[str], mistake: Mistake, thing: str) -> Argument | None:
        keyword = self._next()
        name = keyword.text[1:]
        well_named = self._is_keyword(keyword, name)
        if not self._has_value(keyword):
            return None
        value = self._value()
        if well_named and snake(name) in seen:
            hint = "Keep one of them; '-' and '_' are the same in names."
            self._add(mistake, keyword, f"the {thing} :{shown(name)} is given twice", hint, name)
            return None
        seen.add(snake(name))
        if value is None or not well_named:
            return None
        return Argument(name, value, Span(keyword.start, value.span.end, keyword.line, keyword.column))

    def _is_keyword(self, token: Token, name: str) -> bool:
        if NAME.match(name):
            return True
        hint = "A keyword is a colon and a name, as in :case-type."
        self._add(Mistake.MALFORMED_KEYWORD, token, f"'{shown(token.text)}' is not a keyword", hint)
        return False

    def _has_value(self, keyword: Token) -> bool:
        if self._peek().kind not in _NO_VALUE:
            return True
        name = shown(keyword.text)
        self._add(
            Mistake.KEYWORD_WITHOUT_VALUE, keyword, f"{name} has no value", f"Write '{name} value', or remove it."
        )
        return False

    def _as(self, keyword: Token, parts: _Parts) -> None:
        found = self._peek()
        symbol = self._symbol(self._next()) if found.kind is Kind.SYMBOL else None
        if found.kind is not Kind.SYMBOL or (symbol and symbol.path):
            self._add(Mistake.AS_WITHOUT_SYMBOL, keyword, ":as binds no symbol", self._as_advice(found))
            if found.kind not in _NO_VALUE | {Kind.SYMBOL}:
                self._skip()
        elif parts.bind:
            hint = "A call is bound to one name; keep one of them."
            self._add(Mistake.DUPLICATE_ARGUMENT, keyword, "the argument :as is given twice", hint, "as")
        else:
            parts.bind = symbol

    def _as_advice(self, found: Token) -> str:
        name = found.text.strip('"@').split(".")[0]
        return f"Write ':as @{name if NAME.match(name) else 'name'}'."

    def _after(self, keyword: Token, parts: _Parts) -> None:
        found = self._peek()
        value = self._value() if found.kind not in _NO_VALUE else None
        names = value.items if isinstance(value, ListForm) else ()
        plain = tuple(name for name in names if isinstance(name, Symbol) and not name.path)
        if found.text != "[" or len(plain) != len(names):
            hint = "Write ':after [@a @b]', the names of the calls to wait for."
            self._add(Mistake.AFTER_WITHOUT_LIST, keyword, ":after names no list of symbols", hint)
        elif "after" in parts.seen:
            hint = "Put all names into one list."
            self._add(Mistake.DUPLICATE_ARGUMENT, keyword, "the argument :after is given twice", hint, "after")
        else:
            parts.after = plain
        parts.seen.add("after")

    def _on_failure(self, keyword: Token, parts: _Parts) -> None:
        found = self._peek()
        if found.kind is Kind.WORD and found.text in ON_FAILURE[:-1]:
            self._next()
            said = (found.text, "")
        else:
            value = self._value() if found.kind is Kind.OPEN else self._plain_text()
            said = _decided_by(value)
        if not said[0]:
            hint = "Write ':on-failure continue', fail, stop or ask, or {:decide \"a.verb\"} for a verb that decides."
            self._add(Mistake.ON_FAILURE, keyword, ":on-failure does not say what follows", hint)
        elif self._is_first("on-failure", keyword, parts):
            parts.on_failure, parts.alternative = said

    def _gate(self, keyword: Token, parts: _Parts) -> None:
        value = self._plain_text()
        if not (isinstance(value, Literal) and isinstance(value.value, str) and value.value):
            hint = "Write ':gate \"compliance\"', the group of which someone must agree."
            self._add(Mistake.GATE, keyword, ":gate names no group", hint)
        elif self._is_first("gate", keyword, parts):
            parts.gate = value.value

    def _reevaluate(self, keyword: Token, parts: _Parts) -> None:
        found = self._peek()
        if found.kind is Kind.WORD and found.text == ALWAYS:
            self._next()
            if self._is_first("reevaluate", keyword, parts):
                parts.reevaluate = ALWAYS
            return
        self._plain_text()
        hint = "Write ':reevaluate always' on a decision that is asked again at every resume, or leave it out."
        self._add(Mistake.REEVALUATE, keyword, ":reevaluate does not say always", hint)

    def _plain_text(self) -> Value | None:
        """The text at hand; whatever else stands there is passed over."""
        token = self._peek()
        if token.kind is Kind.STRING:
            return self._value()
        if token.kind not in _NO_VALUE:
            self._skip()
        return None

    def _is_first(self, name: str, keyword: Token, parts: _Parts) -> bool:
        if name in parts.seen:
            hint = "Keep one of them."
            self._add(Mistake.DUPLICATE_ARGUMENT, keyword, f"the argument :{name} is given twice", hint, name)
            return False
        parts.seen.add(name)
        return True

    def _value(self) -> Value | None:
        """The value at hand, or None when it is none; then that has been reported."""
        token = self._peek()
        if token.kind is Kind.OPEN:
            return self._bracketed(token)
        self._next()
        match token.kind:
            case Kind.STRING:
                return Literal(string(token.text, lambda at, escape: self._bad_escape(token, at, escape)), token.span)
            case Kind.SYMBOL:
                return self._symbol(token)
            case Kind.VARIABLE:
                name, *path = token.text[1:].split(".")
                return Variable(name, tuple(path), token.span)
            case Kind.WORD:
                return self._word(token)
            case _:
                return None

    def _bracketed(self, token: Token) -> Value | None:
        if token.text == "(":
            return self.call()
        return self._list() if token.text == "[" else self._map()

    def _list(self) -> ListForm:
        opened = self._next()
        items: list[Value] = []
        while self._peek().kind is not Kind.CLOSE:
            token = self._peek()
            if token.kind is Kind.KEYWORD:
                hint = 'A list holds values; put text in double quotes, or pairs in braces: {:name "value"}.'
                self._add(Mistake.BARE_WORD, token, f"the keyword {shown(token.text)} is not a value", hint)
            value = self._value()
            if value is not None:
                items.append(value)
        return ListForm(tuple(items), _from(opened, self._next()))

    def _map(self) -> MapForm:
        opened = self._next()
        entries: list[Argument] = []
        seen: set[str] = set()
        while self._peek().kind is not Kind.CLOSE:
            token = self._peek()
            if token.kind is Kind.KEYWORD:
                entry = self._pair(seen, Mistake.DUPLICATE_KEY, "key")
                entries.extend([entry] if entry else [])
            elif token.kind is Kind.COMMA:
                self._next()
            else:
                self._bad_key(token)
        return MapForm(tuple(entries), _from(opened, self._next()))

    def _bad_key(self, token: Token) -> None:
        """Report what stands where a key should, with the value it was meant for."""
        if token.kind not in (Kind.BAD, Kind.BROKEN_STRING):
            name = token.text.strip('":')
            hint = f"Write ':{shown(name)}'." if NAME.match(name) else "Keys are keywords, as in {:name value}."
            self._add(Mistake.MAP_KEY, token, f"'{shown(token.text)}' is not a key", hint)
        while self._peek().kind not in _NO_VALUE:
            self._skip()

    def _word(self, token: Token) -> Literal | None:
        if token.text in WORDS:
            return Literal(WORDS[token.text], token.span)
        if looks_like_number(token.text):
            return self._number(token)
        meant = _OTHER_WORDS.get(token.text.lower())
        hint = f"Write {meant}." if meant else f'Put text in double quotes: "{shown(token.text)}".'
        self._add(Mistake.BARE_WORD, token, f"'{shown(token.text)}' is not a value", hint)
        return None

    def _number(self, token: Token) -> Literal | None:
        value = number(token.text)
        if value is None:
            reason = f"'{shown(token.text)}' is not a number"
            self._add(Mistake.MALFORMED_NUMBER, token, reason, number_advice(token.text))
            return None
        if not is_exact(token.text, value):
            hint = f'Write it as text, "{shown(token.text)}", or with fewer digits.'
            reason = f"the number {shown(token.text)} cannot be kept exactly"
            self._add(Mistake.INEXACT_NUMBER, token, reason, hint)
            return None
        return Literal(value, token.span)

    def _symbol(self, token: Token) -> Symbol | None:
        name, *path = token.text[1:].split(".")
        if NAME.match(name) and all(FIELD.match(field) for field in path):
            return Symbol(name, tuple(path), token.span)
        hint = "A symbol is an at sign and a name, with fields after dots: @case or @case.owner."
        self._add(Mistake.MALFORMED_SYMBOL, token, f"'{shown(token.text)}' is not a symbol", hint)
        return None

    def _bad_escape(self, token: Token, at: int, escape: str) -> None:
        hint = 'Known escapes are \\n \\r \\t \\\\ \\" and \\uXXXX; for a backslash itself write \\\\.'
        reason = f"'{shown(escape)}' is not an escape"
        self._add(Mistake.BAD_ESCAPE, token._replace(column=token.column + at), reason, hint)

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _skip(self) -> None:
        """Pass over one value, reporting nothing but what is wrong between its brackets."""
        if self._peek().kind is Kind.OPEN:
            self._value()
        else:
            self._next()

    def _add(self, mistake: Mistake, token: Token, reason: str, hint: str, field: str = "") -> None:
        self._report.add(mistake, token, reason, hint, field)


def _decided_by(value: Value | None) -> tuple[str, str]:
    """What a text, or a map that names the verb which decides, says about failure; empty when it says nothing."""
    match value:
        case Literal(value=str() as word) if word in ON_FAILURE[:-1]:
            return word, ""
        case MapForm(entries=(Argument(name="decide", value=Literal(value=str() as verb)),)) if VERB.match(verb):
            return "decide", verb
        case _:
            return "", ""


def _from(opened: Token, closed: Token) -> Span:
    return Span(opened.start, closed.end, opened.line, opened.column)

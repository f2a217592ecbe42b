"""Reads the statements of the LET form, finding its way again after each mistake."""

from __future__ import annotations

import msgspec

from perdure.runbooks.language.faults import DEEPEST, Fault
from perdure.runbooks.language.let.conditions import read_condition
from perdure.runbooks.language.let.token_cursor import RESERVED, STATEMENTS, Cursor
from perdure.runbooks.language.let.tokens import Kind, Token, tokens
from perdure.runbooks.language.let.values import read_call, read_value
from perdure.runbooks.language.program import CallForm, IfForm, Program, Statement, Symbol
from perdure.verbs.sexpr.forms import Literal, Span
from perdure.verbs.sexpr.mistakes import Mistake, Report, shown
from perdure.verbs.sexpr.name_syntax import ALWAYS, NAME, ON_FAILURE, VERB

_FORMS = "A statement begins with LET, EXEC or IF."


def read_let(text: str, report: Report) -> Program:
    """The statements of `text` that could be read; what is wrong is in the report, names are not looked at."""
    cursor = Cursor(*tokens(text, report), report)
    found: list[Statement] = []
    while True:
        found += _block(cursor, frozenset())
        if cursor.peek().kind is Kind.OVER:
            return Program(tuple(found), cursor.comments_so_far())


def _block(cursor: Cursor, ends: frozenset[str]) -> list[Statement]:
    """Statements up to one of `ends`, or to the end of the text."""
    found: list[Statement] = []
    while (token := cursor.peek()).kind is not Kind.OVER:
        if token.text in ends and token.kind is Kind.WORD:
            break
        has_gap = bool(found) and cursor.has_gap()
        statement = _statement(cursor, token)
        cursor.open.clear()
        cursor.torn = False
        if statement is not None:
            found.append(msgspec.structs.replace(statement, has_gap=True) if has_gap else statement)
    return found


def _statement(cursor: Cursor, token: Token) -> Statement | None:
    if token.kind is not Kind.WORD:
        return _no_statement(cursor, token)
    word = token.text if token.text in STATEMENTS else token.text.upper()
    if word != token.text and word in STATEMENTS and cursor.peek(1).kind is Kind.WORD:
        cursor.add(Fault.NO_STATEMENT, token, f"'{shown(token.text)}' begins no statement", f"Write {word}.")
    elif word != token.text:
        word = ""
    match word:
        case "LET":
            return _let(cursor)
        case "EXEC":
            cursor.next()
            return _step(cursor, None)
        case "IF":
            return _if(cursor)
        case _:
            return _no_statement(cursor, token)


def _let(cursor: Cursor) -> CallForm | None:
    let, token = cursor.next(), cursor.peek()
    bind = None
    if token.kind is Kind.WORD and token.text not in RESERVED and NAME.match(token.text):
        bind = Symbol(cursor.next().text, (), token.span)
    else:
        _no_name(cursor, let, token)
    equals = cursor.takes("=")
    called = cursor.takes("EXEC") or cursor.takes("exec")
    if equals is not None and called is not None and called.text == "exec":
        cursor.add(Fault.LET_WITHOUT_EXEC, called, "'exec' calls nothing", "Write EXEC.")
    elif equals is None or called is None:
        name = bind.name if bind else "name"
        reason = "LET is not followed by '= EXEC'"
        cursor.add(Fault.LET_WITHOUT_EXEC, let, reason, f"Write 'LET {shown(name)} = EXEC verb(name: value)'.")
        if cursor.peek().kind is not Kind.WORD or cursor.is_statement():
            cursor.skip_statement()
            return None
    return _step(cursor, bind)


def _no_name(cursor: Cursor, let: Token, token: Token) -> None:
    if token.kind is Kind.WORD and token.text in RESERVED and cursor.peek(1).text == "=":
        hint = "Choose another name."
        cursor.add(Fault.RESERVED_WORD, token, f"'{shown(token.text)}' is a word of the language", hint)
        cursor.next()
    else:
        hint = "Write 'LET name = EXEC verb(…)'; a name is a letter followed by letters, digits, '-' or '_'."
        cursor.add(Fault.LET_WITHOUT_NAME, let, "LET gives no name", hint)
    while cursor.peek().text != "=" and not cursor.is_statement():
        cursor.next()


def _step(cursor: Cursor, bind: Symbol | None) -> CallForm | None:
    call = read_call(cursor)
    options = _Options()
    while options.takes(cursor):
        pass
    if not cursor.is_statement():
        _leftover(cursor)
    comments = cursor.comments_of_statement()
    if call is None:
        return None
    said = (options.on_failure, options.alternative, options.gate, False, options.reevaluate)
    return CallForm(call.verb, call.args, bind, options.after, call.span, comments, *said)


def _leftover(cursor: Cursor) -> None:
    token = cursor.peek()
    if token.kind is Kind.SIGN and token.text in ")]}":
        hint = "Remove it, or add the bracket it should close."
        cursor.add(Mistake.STRAY_CLOSE, token, f"'{token.text}' closes nothing", hint)
        cursor.next()
    elif token.kind not in (Kind.BAD, Kind.BROKEN_STRING) and not cursor.torn and not token.leads:
        hint = f"{_FORMS} After a call may stand AFTER, ON FAILURE, GATE and REEVALUATE."
        cursor.add(Fault.NO_STATEMENT, token, f"'{shown(token.text)}' begins no statement", hint)
        cursor.skip_statement()
    elif cursor.torn or token.kind in (Kind.BAD, Kind.BROKEN_STRING):
        cursor.skip_statement()


class _Options:
    """What may stand after a call, in any order, each once."""

    def __init__(self) -> None:
        self.after: tuple[Symbol, ...] = ()
        self.on_failure = ""
        self.alternative = ""
        self.gate = ""
        self.reevaluate = ""
        self._seen: set[str] = set()

    def takes(self, cursor: Cursor) -> bool:
        token = cursor.peek()
        if token.kind is not Kind.WORD or token.text not in ("AFTER", "ON", "GATE", "REEVALUATE"):
            return False
        cursor.next()
        is_second = token.text in self._seen
        if is_second:
            said = "ON FAILURE" if token.text == "ON" else token.text
            cursor.add(Fault.OPTION_TWICE, token, f"{said} is given twice", "Keep one of them.")
        self._seen.add(token.text)
        match token.text:
            case "AFTER":
                found = _names(cursor, token)
                self.after = self.after if is_second else found
            case "ON":
                said_first = _on_failure(cursor, token)
                if not is_second:
                    self.on_failure, self.alternative = said_first
            case "REEVALUATE":
                self.reevaluate = _reevaluate(cursor, token) or self.reevaluate
            case _:
                gate = _gate(cursor, token)
                self.gate = self.gate if is_second else gate
        return True


def _names(cursor: Cursor, keyword: Token) -> tuple[Symbol, ...]:
    found: list[Symbol] = []
    while (token := cursor.peek()).kind is Kind.WORD and NAME.match(token.text) and token.text not in RESERVED:
        cursor.next()
        found.append(Symbol(token.text, (), token.span))
        if cursor.takes(",") is None:
            return tuple(found)
        while cursor.takes(","):
            pass
    hint = "Write the names of the steps to wait for, with commas between them: AFTER shares, officers."
    cursor.add(Fault.AFTER_NOTHING, keyword, "AFTER does not name a step", hint)
    if token.kind is not Kind.OVER and not cursor.is_statement():
        cursor.next()
    return tuple(found)


def _on_failure(cursor: Cursor, keyword: Token) -> tuple[str, str]:
    cursor.takes("FAILURE")
    token = cursor.peek()
    word = token.text if token.kind is Kind.WORD else ""
    if word in ON_FAILURE:
        cursor.next()
        verb = cursor.peek()
        if word != "decide":
            return word, ""
        if verb.kind is Kind.WORD and VERB.match(verb.text) and verb.text not in RESERVED:
            return word, cursor.next().text
    elif not cursor.is_statement():
        cursor.next()
    hint = "Write ON FAILURE fail, stop, continue or ask, or ON FAILURE decide a.verb for a verb that decides."
    cursor.add(Mistake.ON_FAILURE, keyword, "ON FAILURE does not say what follows", hint)
    return "", ""


def _reevaluate(cursor: Cursor, keyword: Token) -> str:
    if cursor.takes(ALWAYS):
        return ALWAYS
    hint = "Write REEVALUATE always on a decision that is asked again at every resume, or leave it out."
    cursor.add(Mistake.REEVALUATE, keyword, "REEVALUATE does not say always", hint)
    if not cursor.is_statement() and not cursor.peek().leads:
        cursor.next()
    return ""


def _gate(cursor: Cursor, keyword: Token) -> str:
    token = cursor.peek()
    value = read_value(cursor) if token.kind is Kind.STRING else None
    if isinstance(value, Literal) and isinstance(value.value, str) and value.value:
        return value.value
    hint = 'Write GATE "compliance", the group of which someone must agree.'
    cursor.add(Mistake.GATE, keyword, "GATE names no group", hint)
    if token.kind is not Kind.STRING and not cursor.is_statement() and not token.leads:
        cursor.next()
    return ""


def _if(cursor: Cursor) -> IfForm | None:
    comments = cursor.comments_so_far()
    first = cursor.next()
    cursor.depth += 1
    if cursor.depth > DEEPEST:
        cursor.add(Mistake.TOO_DEEP, first, f"choices are nested deeper than {DEEPEST}", "Split the program.")
        cursor.give_up()
        return None
    condition = read_condition(cursor)
    cursor.open.clear()
    _then(cursor, first)
    comments += cursor.comments_of_statement()
    then = _block(cursor, frozenset({"ELSE", "END"}))
    then_comments = cursor.comments_so_far()
    otherwise: list[Statement] = []
    otherwise_comments: tuple[str, ...] = ()
    if cursor.takes("ELSE"):
        otherwise = _block(cursor, frozenset({"END"}))
        otherwise_comments = cursor.comments_so_far()
    if cursor.takes("END") is None:
        cursor.add(Fault.IF_WITHOUT_END, first, "the IF is never ended", "Write END after its last statement.")
    cursor.depth -= 1
    if condition is None:
        return None
    span = Span(first.start, cursor.previous().end, first.line, first.column)
    return IfForm(condition, tuple(then), tuple(otherwise), span, comments, then_comments, otherwise_comments)


def _then(cursor: Cursor, first: Token) -> None:
    if cursor.takes("THEN"):
        return
    found = shown(cursor.peek().text) or "the end of the text"
    hint = "Write 'IF condition THEN', and the statements below."
    if cursor.takes("then") is None:
        while not cursor.is_statement() and cursor.peek().text != "THEN":
            cursor.next()
        cursor.takes("THEN")
    cursor.add(Fault.IF_WITHOUT_THEN, first, f"'{found}' stands where THEN should", hint)


def _no_statement(cursor: Cursor, token: Token) -> CallForm | None:
    """Report what begins no statement, once, and read a call that only lacks its EXEC."""
    if token.text in ("ELSE", "END", "THEN"):
        cursor.next()
        hint = "Remove it, or begin the choice with 'IF condition THEN'; a choice has one ELSE and one END."
        cursor.add(Fault.WITHOUT_IF, token, f"{token.text} belongs to no IF", hint)
        return None
    if token.kind is Kind.WORD and VERB.match(token.text) and cursor.peek(1).text == "(":
        hint = f"Write 'EXEC {shown(token.text)}(…)'."
        cursor.add(Fault.NO_STATEMENT, token, f"'{shown(token.text)}' begins no statement", hint)
        return _step(cursor, None)
    if token.kind not in (Kind.BAD, Kind.BROKEN_STRING):
        hint = _advice(cursor, token)
        cursor.add(Fault.NO_STATEMENT, token, f"'{shown(token.text)}' begins no statement", hint)
    cursor.next()
    cursor.skip_statement()
    return None


def _advice(cursor: Cursor, token: Token) -> str:
    if token.text == "(":
        return f"{_FORMS} S-expressions cannot be mixed with them."
    if token.kind is Kind.WORD and cursor.peek(1).text == "=":
        return f"Write 'LET {shown(token.text)} = EXEC verb(…)'."
    return _FORMS

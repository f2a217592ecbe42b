"""A place in the tokens of a LET program, with the brackets that are open and the comments not yet given away."""

from __future__ import annotations

import enum
from collections.abc import Callable

from perdure.runbooks.language.faults import DEEPEST
from perdure.runbooks.language.let.tokens import Comment, Kind, Token
from perdure.verbs.sexpr.mistakes import Mistake, Report

STATEMENTS = frozenset({"LET", "EXEC", "IF"})
KEYWORDS = STATEMENTS | {"THEN", "ELSE", "END", "AFTER", "ON", "FAILURE", "GATE", "REEVALUATE"}
_LITERALS = {"true", "false", "null", "nil", "True", "False", "None", "TRUE", "FALSE", "NULL"}
RESERVED = KEYWORDS | _LITERALS | {"and", "or", "not", "in", "AND", "OR", "NOT", "IN"}
"""Words that cannot name a result."""

_BEGIN = STATEMENTS | {"ELSE", "END"}
_CLOSER = {"(": ")", "[": "]", "{": "}"}


class Cursor:
    """Moves forward only; a mistake costs its own argument or statement, never the program."""

    def __init__(self, tokens: list[Token], comments: list[Comment], report: Report) -> None:
        self._tokens = [*tokens, tokens[-1], tokens[-1]]  # so that looking ahead never looks beyond
        self._last = len(tokens) - 1
        self._comments = comments
        self._given = 0
        self.at = 0
        self.report = report
        self.open: list[Token] = []
        self.torn = False
        self.depth = 0

    def peek(self, ahead: int = 0) -> Token:
        return self._tokens[self.at + ahead]

    def next(self) -> Token:
        token = self._tokens[self.at]
        if token.kind is not Kind.OVER:
            self.at += 1
        if token.kind is Kind.BROKEN_STRING:
            self.torn = True  # it may have swallowed brackets
        return token

    def takes(self, text: str) -> Token | None:
        """The token at hand if it reads so."""
        token = self._tokens[self.at]
        if token.text != text or token.kind is Kind.STRING:
            return None
        return self.next()

    def previous(self) -> Token:
        return self._tokens[max(self.at - 1, 0)]

    def add(self, fault: enum.StrEnum, place: Token, reason: str, hint: str, field: str = "") -> None:
        self.report.add(fault, place, reason, hint, field)

    def is_statement(self) -> bool:
        """Whether the token at hand can only be the next statement, or the end of a branch."""
        token = self._tokens[self.at]
        if token.kind is Kind.WORD:
            return token.text in _BEGIN and self._tokens[self.at + 1].text != ":"
        return token.kind is Kind.OVER

    def is_left_open(self) -> bool:
        """Whether a statement shows that brackets were left open; EXEC inside a line may be a value."""
        return self.is_statement() and (self.peek().text != "EXEC" or self.peek().leads)

    def skip_statement(self) -> None:
        while not self.is_statement():
            self.next()

    def enter(self) -> bool:
        """Take an opening bracket; False when there are too many inside one another, and the rest is given up."""
        opener = self.next()
        self.open.append(opener)
        if len(self.open) <= DEEPEST:
            return True
        hint = "Give inner values names of their own with LET and refer to them."
        self.add(Mistake.TOO_DEEP, opener, f"brackets are nested deeper than {DEEPEST}", hint)
        self.give_up()
        return False

    def give_up(self) -> None:
        self.at = self._last
        self.torn = True

    def leave(self) -> Token:
        """Take the closing bracket, or report what stands in its place; gives the last token taken."""
        opener = self.open.pop()
        closer = _CLOSER[opener.text]
        token = self.peek()
        if token.kind is Kind.SIGN and token.text == closer:
            return self.next()
        if token.kind is Kind.SIGN and token.text in ")]}":
            self._mismatched(opener, closer, token)
        elif not self.torn:
            last = self.previous()
            place = f"line {last.line}, column {last.column + len(last.text)}"
            missing = closer + "".join(_CLOSER[outer.text] for outer in reversed(self.open))
            self.add(Mistake.UNCLOSED, opener, f"'{opener.text}' is never closed", f"Add '{missing}' at {place}.")
            self.torn = True
        return self.previous()

    def _mismatched(self, opener: Token, closer: str, token: Token) -> None:
        if not self.torn:
            reason = f"'{token.text}' does not close the '{opener.text}' of line {opener.line}, column {opener.column}"
            hint = f"Write '{closer}' here, or add the missing '{closer}' before it."
            self.add(Mistake.MISMATCHED, token, reason, hint)
        matching = sum(_CLOSER[outer.text] == token.text for outer in self.open)
        if not matching or (matching == 1 and self.peek(1).text in (",", ")", "]", "}")):
            self.next()  # a slip for the bracket that would fit

    def ends(self) -> bool:
        """Whether what the innermost bracket holds is over, rightly or not."""
        token = self._tokens[self.at]
        if token.kind is Kind.SIGN:
            return token.text in ")]}"
        return self.is_left_open() if token.kind is Kind.WORD or token.kind is Kind.OVER else False

    def has_gap(self) -> bool:
        """Whether a blank line stands between what was read last and what comes now, its comments included."""
        if self.at == 0:
            return False
        line = self.peek().line
        if self._given < len(self._comments) and self._comments[self._given].before <= self.at:
            line = self._comments[self._given].line
        return line > self.previous().line + 1

    def comments_so_far(self) -> tuple[str, ...]:
        """Comments up to the token at hand that nobody took yet."""
        return self._take(lambda comment: comment.before <= self.at)

    def comments_of_statement(self) -> tuple[str, ...]:
        """Comments inside the statement just read, and one that follows it on its last line."""
        last_line = self.previous().line

        def belongs(comment: Comment) -> bool:
            trails = comment.before == self.at and not comment.leads and comment.line == last_line
            return comment.before < self.at or trails

        return self._take(belongs)

    def _take(self, belongs: Callable[[Comment], bool]) -> tuple[str, ...]:
        taken: list[str] = []
        while self._given < len(self._comments) and belongs(self._comments[self._given]):
            taken.append(self._comments[self._given].text)
            self._given += 1
        return tuple(taken)

"""Tokens to statements with balanced brackets; unbalanced ones are reported once and mended."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from perdure.verbs.sexpr.mistakes import Mistake, Report, shown
from perdure.verbs.sexpr.tokens import Kind, Token

DEEPEST = 64
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_OPENER = {closer: opener for opener, closer in _CLOSER.items()}


class Statement(NamedTuple):
    """The tokens of one call, brackets balanced, the comments that belong to it, and whether a blank line precedes."""

    tokens: list[Token]
    comments: tuple[str, ...]
    has_gap: bool = False


class Outline:
    """Splits tokens into `statements`; `comments` are those after the last of them."""

    def __init__(self, tokens: list[Token], report: Report) -> None:
        self.statements: list[Statement] = []
        self.comments: list[str] = []
        self._tokens = tokens
        self._report = report
        self._unclosed = _never_closed(tokens)
        self._last_stray = -2
        self._ended = 0  # the line on which the last statement ended
        self._line = 0  # the line on which the next one began, its comments included
        self._begin()
        for index, token in enumerate(tokens):
            self._take(index, token)
        self._abandon()

    def _begin(self) -> None:
        self._current: list[Token] = []
        self._stack: list[Token] = []
        self._open_kinds: Counter[str] = Counter()
        self._first_index = 0
        self._discarded = False  # nothing of it is read any further
        self._outside = False  # text that stood outside any call
        self._torn = False  # an unclosed string may have swallowed brackets
        self._previous: Token | None = None

    def _take(self, index: int, token: Token) -> None:
        match token.kind:
            case Kind.COMMENT:
                self._line = self._line or token.line
                self.comments.append(token.text.lstrip("; \t").rstrip())
                return
            case Kind.OPEN:
                self._open(index, token)
            case Kind.CLOSE:
                self._close(index, token)
            case _:
                self._item(index, token)
        self._previous = token

    def _item(self, index: int, token: Token) -> None:
        if not self._stack and token.kind is Kind.COMMA:
            hint = "Statements follow one another without a separator; remove the comma."
            self._add(Mistake.UNKNOWN_CHARACTER, token, "a comma stands between statements", hint)
            return
        if not self._stack:
            self._begin_outside(index, token)
        self._torn = self._torn or token.kind is Kind.BROKEN_STRING
        self._current.append(token)

    def _begin_outside(self, index: int, token: Token) -> None:
        if token.kind not in (Kind.BAD, Kind.BROKEN_STRING):
            hint = f"Begin the call with '(' before '{shown(token.text)}'."
            self._add(Mistake.OUTSIDE_CALL, token, f"'{shown(token.text)}' stands outside of any call", hint)
        self._push(index, token._replace(kind=Kind.OPEN, text="("))
        self._outside = self._discarded = True

    def _open(self, index: int, token: Token) -> None:
        if self._stack and self._begins_statement(token):
            self._abandon()
        if not self._stack and token.text != "(":
            self._begin_outside(index, token)
        self._push(index, token)
        if len(self._stack) > DEEPEST and not self._discarded:
            hint = "Bind inner calls with ':as @name' and refer to them by name."
            self._add(Mistake.TOO_DEEP, token, f"brackets are nested deeper than {DEEPEST}", hint)
            self._discarded = True

    def _push(self, index: int, token: Token) -> None:
        if not self._stack:
            self._first_index = index
            self._line = self._line or token.line
        self._stack.append(token)
        self._open_kinds[token.text] += 1
        self._current.append(token)

    def _begins_statement(self, token: Token) -> bool:
        """Whether a parenthesis met inside a call is the next statement, the call having been left open.

        Layout never decides about a program that can be read without it.
        """
        if token.text != "(" or not token.leads:
            return False
        if self._outside:
            return True
        expected = self._stack[-1].text != "(" or (self._previous is not None and self._previous.kind is Kind.KEYWORD)
        left_open = self._torn or self._first_index in self._unclosed or not expected
        return left_open and token.column <= self._stack[0].column

    def _close(self, index: int, token: Token) -> None:
        if not self._stack:
            self._stray(index, token)
            return
        if _CLOSER[self._stack[-1].text] != token.text:
            self._mend(index, token)
        self._pop(token)
        if not self._stack:
            self._finish()

    def _stray(self, index: int, token: Token) -> None:
        if self._last_stray != index - 1:
            hint = "Remove it, or add the bracket it should close."
            self._add(Mistake.STRAY_CLOSE, token, f"'{token.text}' closes nothing", hint)
        self._last_stray = index

    def _mend(self, index: int, token: Token) -> None:
        """Close what is open so that `token` fits, or take it as a slip for the bracket that would fit."""
        opener = self._stack[-1]
        if not (self._discarded or self._torn):
            wanted = _CLOSER[opener.text]
            reason = f"'{token.text}' does not close the '{opener.text}' of line {opener.line}, column {opener.column}"
            self._add(
                Mistake.MISMATCHED, token, reason, f"Write '{wanted}' here, or add the missing '{wanted}' before it."
            )
        if self._open_kinds[_OPENER[token.text]] and not self._would_end_early(index, token):
            while _CLOSER[self._stack[-1].text] != token.text:
                self._pop(token)

    def _would_end_early(self, index: int, token: Token) -> bool:
        """Whether taking `token` at its word ends the statement while more of it plainly follows."""
        if self._open_kinds[_OPENER[token.text]] > 1 or self._stack[0].text != _OPENER[token.text]:
            return False
        following = self._tokens[index + 1] if index + 1 < len(self._tokens) else None
        return following is not None and following.kind not in (Kind.OPEN, Kind.COMMENT)

    def _pop(self, place: Token) -> None:
        opener = self._stack.pop()
        self._open_kinds[opener.text] -= 1
        self._current.append(Token(Kind.CLOSE, _CLOSER[opener.text], place.start, place.line, place.column))

    def _abandon(self) -> None:
        """End a statement whose closing brackets never came."""
        if not self._stack:
            return
        if not (self._discarded or self._torn):
            self._add_unclosed()
        last = self._current[-1]
        while self._stack:
            self._pop(last)
        self._finish()

    def _add_unclosed(self) -> None:
        opener, last = self._stack[-1], self._current[-1]
        missing = "".join(_CLOSER[token.text] for token in reversed(self._stack))
        column = last.column + len(last.text)
        hint = f"Add '{missing}' at line {last.line}, column {column}."
        self._add(Mistake.UNCLOSED, opener, f"'{opener.text}' is never closed", hint)

    def _finish(self) -> None:
        if not self._discarded:
            has_gap = bool(self.statements) and self._line > self._ended + 1
            self.statements.append(Statement(self._current, tuple(self.comments), has_gap))
            self.comments = []
        self._ended, self._line = self._current[-1].line, 0
        self._begin()

    def _add(self, mistake: Mistake, token: Token, reason: str, hint: str) -> None:
        self._report.add(mistake, token, reason, hint)


def _never_closed(tokens: list[Token]) -> frozenset[int]:
    """The indexes of brackets that stay open when layout is ignored."""
    stack: list[int] = []
    kinds: Counter[str] = Counter()
    for index, token in enumerate(tokens):
        if token.kind is Kind.OPEN:
            stack.append(index)
            kinds[token.text] += 1
        elif token.kind is Kind.CLOSE and stack:
            wanted = _OPENER[token.text]
            while kinds[wanted] and tokens[stack[-1]].text != wanted:
                kinds[tokens[stack.pop()].text] -= 1
            kinds[tokens[stack.pop()].text] -= 1
    return frozenset(stack)

"""Bodies that several routes take."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from perdure.app.composing import Composition, Form


class Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is not known is refused: a misspelt option must not be taken for one that was left out."""


class Reason(Body, frozen=True):
    """Why; it is kept in the journal."""

    reason: str = ""


NO_REASON = Reason()


class Why(Body, frozen=True):
    """Why; it is kept in the journal, and this act needs one."""

    reason: str


class Composed(Body, frozen=True):
    """What to do: a `program`, or `calls` as JSON."""

    program: str = ""
    calls: list[dict[str, Any]] | None = None
    variables: dict[str, Any] = {}
    form: Form = "auto"

    def composition(self) -> Composition:
        return Composition(self.program, self.calls, self.variables, self.form)


class Draft(Composed, frozen=True):
    """A draft of that; `change` says in words what is different now."""

    case: str = ""
    change: str = ""


class Start(Composed, frozen=True):
    """Run it. `confirm` is the hash of the plan a person agreed to; `sealed: false` lets steps be added for ever."""

    case: str = ""
    confirm: str = ""
    phrase: str = ""
    wait: bool = False
    timeout_seconds: float | None = None
    sealed: bool = True


class StartDraft(Body, frozen=True):
    """Run a draft as it reads now."""

    confirm: str = ""
    phrase: str = ""
    wait: bool = False
    timeout_seconds: float | None = None


class Extend(Composed, frozen=True):
    """Add steps. `edges` are pairs: the first comes after the second."""

    edges: list[tuple[str, str]] = []
    confirm: str = ""
    phrase: str = ""


class CancelRunbook(Body, frozen=True):
    """Stop it, and take back what was done where `compensate` says so."""

    reason: str = ""
    compensate: bool = False


class AnswerGate(Body, frozen=True):
    """Agree that a step runs, or refuse."""

    agree: bool
    reason: str = ""


class Resolve(Body, frozen=True):
    """How what is stuck ends: with a `result`, or with the code of an `error`."""

    result: Any = None
    error: str | None = None
    reason: str = ""


class Amend(Body, frozen=True):
    """A correction of data that somebody else has to approve."""

    data: Any
    reason: str
    target: Literal["input", "result"] = "input"


class Approve(Body, frozen=True):
    """The correction that is agreed to, by its number."""

    amendment: int

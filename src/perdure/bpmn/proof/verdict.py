"""The verdict of a proof: its findings, each with a counterexample step by step."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.bpmn.conditions.tree import Scalar

Severity = Literal["error", "warning"]
Word = Literal["proved", "refuted", "undecided"]
Bound = Literal["", "states", "seconds", "bytes"]
StepKind = Literal[
    "start", "job", "error", "failure", "task", "message", "signal", "timer", "call", "call_failed", "call_escalated",
]  # fmt: skip

CODES: dict[str, tuple[str, Severity]] = {
    "SND001": ("deadlock", "error"),
    "SND002": ("two tokens where one is meant", "error"),
    "SND003": ("dead element", "error"),
    "SND004": ("gateway without a way out", "error"),
    "SND005": ("cycle without a wait", "error"),
    "SND006": ("no end, or ever more tokens", "error"),
    "SND007": ("unhandled business error", "error"),
    "SND008": ("event that never occurs", "warning"),
    "SND009": ("element that fails on entry", "error"),
    "SND010": ("undecided", "warning"),
    "SND011": ("way out that needs a flag nobody declares", "warning"),
}
"""Per code what it is about and how grave it is."""


class Bounds(msgspec.Struct, frozen=True):
    """How far a proof goes before it gives up. Seconds are those of the processor; see `effort_clock`."""

    states: int = 200_000
    seconds: float = 10.0
    bytes: int = 512 * 1024 * 1024


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that happens from outside. `flags` are those it must write for the rest to follow."""

    kind: StepKind
    element: str
    name: str = ""
    """The task type, the message, the signal or the called process."""
    code: str = ""
    flags: dict[str, Scalar] = {}
    occurrence: int = 0
    """Which of several tokens on the element it happens to, oldest first."""
    is_undo: bool = False

    def sentence(self) -> str:
        told = _SENTENCES[self.kind].replace("{element}", self.element)
        told = told.replace("{name}", self.name).replace("{code}", self.code)
        flags = ", ".join(f"{name} = {_literal(value)}" for name, value in sorted(self.flags.items()))
        return f"{told}, with {flags}" if flags else told


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong, and the shortest way to it that was found (empty for what never happens)."""

    code: str
    severity: Severity
    element: str
    fact: str
    hint: str = ""
    steps: tuple[Step, ...] = ()
    elements: tuple[str, ...] = ()
    """Every element concerned, the first among them."""

    def message(self) -> str:
        return f"'{self.element}': {self.fact}." if self.element else f"{self.fact}."


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """How much was looked at. `reductions` says how often each of them saved something."""

    states: int = 0
    transitions: int = 0
    bytes: int = 0
    seconds: float = 0.0
    reductions: dict[str, int] = {}


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Proved, refuted by its findings, or undecided because of a bound. Warnings alone refute nothing."""

    process: str
    word: Word
    bound: Bound = ""
    findings: tuple[Finding, ...] = ()
    statistics: Statistics = Statistics()

    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "error")


def _literal(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


_SENTENCES: dict[StepKind, str] = {
    "start": "the process starts at '{element}'",
    "job": "'{element}' ({name}) succeeds",
    "error": "'{element}' ({name}) raises {code}",
    "failure": "'{element}' ({name}) fails and needs a person",
    "task": "the person completes '{element}'",
    "message": "the message '{name}' arrives at '{element}'",
    "signal": "the signal '{name}' arrives at '{element}'",
    "timer": "the timer '{element}' fires",
    "call": "the process '{name}' called by '{element}' ends",
    "call_escalated": "the process '{name}' called by '{element}' escalates {code} and goes on",
    "call_failed": "the process '{name}' called by '{element}' fails with {code}",
}

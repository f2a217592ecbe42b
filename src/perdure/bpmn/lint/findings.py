"""Findings: code, severity, fact, hint and place."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from perdure.bpmn.model import Place

Severity = Literal["error", "warning", "info"]
Profile = Literal["hollow", "contract", "open"]
Target = Literal["embedded", "camunda", "temporal"]

PROFILES: tuple[Profile, ...] = get_args(Profile)
TARGETS: tuple[Target, ...] = get_args(Target)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One finding. `line` and `column` count from 1, 0 when the place is not known."""

    code: str
    severity: Severity
    fact: str
    hint: str = ""
    element: str = ""
    line: int = 0
    column: int = 0
    file: str = ""

    def message(self) -> str:
        """The fact as a sentence about the element."""
        return f"'{self.element}': {self.fact}." if self.element else f"{self.fact}."


class Note(msgspec.Struct, frozen=True):
    """What a rule says about an element; lint adds code, severity and, where it is that of the element, the place."""

    element: str
    fact: str
    hint: str = ""
    place: Place | None = None


class Severities(msgspec.Struct, frozen=True):
    """How grave a rule is: `default`, unless a profile says otherwise; `targets` limits it to some engines."""

    default: Severity = "error"
    hollow: Severity | Literal["off"] | None = None
    contract: Severity | Literal["off"] | None = None
    open: Severity | Literal["off"] | None = None
    targets: tuple[Target, ...] = TARGETS

    def of(self, profile: Profile, target: Target) -> Severity | None:
        """The severity under a profile and a target; None when the rule does not apply."""
        chosen = {"hollow": self.hollow, "contract": self.contract, "open": self.open}[profile] or self.default
        return None if chosen == "off" or target not in self.targets else chosen

"""Findings: code, severity, fact, hint and place."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

from perdure.bpmn.model import Place

Severity = Literal["error", "warning", "info"]
Profile = Literal["hollow", "contract", "open"]
Target = Literal["embedded", "camunda", "temporal"]
Release = Literal["8.6", "8.7", "8.8", "8.9"]
"""Of Camunda 8, oldest first."""

PROFILES: tuple[Profile, ...] = get_args(Profile)
TARGETS: tuple[Target, ...] = get_args(Target)
RELEASES: tuple[Release, ...] = get_args(Release)
OLDEST_RELEASE: Release = RELEASES[0]


class Aim(msgspec.Struct, frozen=True):
    """An engine that a model is checked or exported for; the release counts for Camunda 8 only."""

    target: Target = "embedded"
    release: Release = OLDEST_RELEASE

    @classmethod
    def from_text(cls, text: str) -> Aim | None:
        """`camunda:8.8`, or an engine alone; None for an engine or release that nobody knows."""
        engine, colon, wanted = text.partition(":")
        target = next((each for each in TARGETS if each == engine), None)
        release = next((each for each in RELEASES if each == wanted), None)
        if target is None or (colon and (target != "camunda" or release is None)):
            return None
        return cls(target, release or OLDEST_RELEASE)

    def __str__(self) -> str:
        return f"{self.target}:{self.release}" if self.target == "camunda" else self.target


AIMS = (*TARGETS, *(f"camunda:{release}" for release in RELEASES))
"""Every engine as `--target` names it; `camunda` alone is its oldest release."""


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

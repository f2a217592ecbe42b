"""Verb reach: whether the patterns of a key reach every verb that something comes from."""

from __future__ import annotations

from collections.abc import Iterable

from perdure.access.principal import EVERY_VERB
from perdure.verbs.verb_patterns import reaches

Patterns = tuple[str, ...]


def may_read(patterns: Patterns, names: Iterable[str]) -> bool:
    """Whether the patterns reach every verb that is named; a choice of a runbook has the empty name, of no verb."""
    return EVERY_VERB[0] in patterns or all(not name or reaches(patterns, name) for name in names)

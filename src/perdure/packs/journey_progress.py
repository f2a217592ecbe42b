"""How far a journey has come: milestones reached and whether it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from perdure.packs.conditions import is_met
from perdure.packs.definition import Pack
from perdure.packs.questions import names_of
from perdure.runbooks.drafts.draft import Draft


class Journey(NamedTuple):
    """Milestones with whether they are reached, and what is still missing until it is done."""

    signals: tuple[tuple[str, bool], ...]
    missing: tuple[str, ...]

    @property
    def is_done(self) -> bool:
        return not self.missing


def journey(pack: Pack, draft: Draft, steps: Sequence[Mapping[str, Any]]) -> Journey:
    """`steps` are mappings with verb, status, section and name."""
    names = names_of(draft)
    reached = tuple((each.label, is_met(each.condition.condition, names, steps)) for each in pack.progress_signals)
    missing = tuple(rule.text for rule in pack.definition_of_done if not is_met(rule.condition, names, steps))
    return Journey(reached, missing)

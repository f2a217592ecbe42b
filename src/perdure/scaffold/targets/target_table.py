"""The table of targets: add a line here for a new folder."""

from __future__ import annotations

from perdure.errors import RejectedError, Rejection
from perdure.scaffold.project import Target
from perdure.scaffold.targets.temporal.target import TemporalTarget

TARGETS: dict[str, Target] = {each.name: each for each in (TemporalTarget(),)}


def target_named(name: str) -> Target:
    found = TARGETS.get(name)
    if found is None:
        fact, hint = "there is no such target", f"Targets: {', '.join(TARGETS)}."
        raise RejectedError(Rejection("not_found", "scaffold for", "target", name, fact, hint))
    return found

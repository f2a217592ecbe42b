"""The outside world of a scenario: what each verb does, execution by execution. It survives every crash."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.sources import SECOND, Micros
from perdure.testing.scenarios.scenario import SUCCEEDS, Behaviour


class Stubs:
    """Gives out behaviours in order; an execution that is delivered again meets the same one again."""

    def __init__(self, verbs: Mapping[str, tuple[Behaviour, ...]]) -> None:
        self._verbs = verbs
        self._given: dict[tuple[str, str, int], Behaviour] = {}
        self._ends: dict[tuple[str, str, int], Micros] = {}
        self._counts: dict[str, int] = {}

    def take(self, type: str, key: str, execution: int) -> Behaviour:
        """What the verb does in this execution of the job; `execution` counts retries, not redeliveries."""
        about = (type, key, execution)
        known = self._given.get(about)
        if known is None:
            known = self._given[about] = self._next(type)
        return known

    def ends_at(self, type: str, key: str, execution: int, now: Micros) -> Micros:
        """When this execution ends: what was begun out there goes on while the platform is down."""
        takes = int(self.take(type, key, execution).takes_seconds * SECOND)
        return max(now, self._ends.setdefault((type, key, execution), now + takes))

    def _next(self, type: str) -> Behaviour:
        listed = self._verbs.get(type)
        count = self._counts[type] = self._counts.get(type, 0) + 1
        return listed[min(count, len(listed)) - 1] if listed else SUCCEEDS

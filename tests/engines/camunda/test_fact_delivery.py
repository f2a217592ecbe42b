"""Facts from Camunda's log are appended in their order, and none waits for what does not come any more."""

from __future__ import annotations

import asyncio
from typing import Any

from perdure.engines.camunda.exported_records import Fact, FactKind
from perdure.engines.camunda.fact_delivery import FactDelivery
from perdure.engines.camunda.key_rows import KeyRows
from perdure.sources import SystemSources

INSTANCE = "2251799813685250"


class Rows:
    """A store that keeps what it is given."""

    async def commit(self, unit: Any) -> None:
        return None


class Told(FactDelivery):
    """A delivery whose journal explains some kinds of facts and not others."""

    def __init__(self, *unexplained: FactKind) -> None:
        nothing: Any = None
        rows: Any = Rows()
        keys, clock = KeyRows(rows, SystemSources(), "camunda"), SystemSources()
        super().__init__(nothing, keys, nothing, rows, "default", clock, clock)
        self.unexplained = set(unexplained)
        self.appended: list[str] = []

    async def _tried(self, fact: Fact) -> bool:
        if fact.kind not in self.unexplained:
            self.appended.append(f"{fact.kind} {fact.element}")
        return fact.kind not in self.unexplained


def fact(kind: FactKind, position: int, element: str, key: str = "") -> Fact:
    return Fact(kind, 1, position, 0, INSTANCE, element, key)


async def heard(told: Told, *facts: Fact) -> None:
    for each in facts:
        told._enqueue(each)


async def test_a_timer_does_not_wait_for_the_key_of_a_task_that_was_left() -> None:
    told = Told("task")
    await heard(told, fact("task", 1, "review", "7"), fact("timer", 2, "late"))
    while told.appended != ["timer late"]:
        await asyncio.sleep(0)
    await heard(told, fact("task_gone", 3, "review", "7"))
    await told.drain()
    assert told.appended == ["timer late", "task_gone review"], "and nobody waits for that key any longer"


async def test_what_follows_a_timer_waits_for_it() -> None:
    told = Told("timer")
    await heard(told, fact("timer", 1, "late"), fact("incident", 2, "send"))
    await asyncio.sleep(0.2)
    assert told.appended == []
    told.unexplained.clear()
    await told.drain()
    assert told.appended == ["timer late", "incident send"]

"""Commands whose asker is called back, and units that are made with less ado: nothing else is different about them."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec.structs import replace

from perdure.bpmn.machine.commands import Cancel
from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.kernel.decider import Aggregate, Answer, Committing, Decided, Decider
from perdure.kernel.kernel import Prepared
from perdure.sources import Id, parse_id
from tests.engines.embedded.engine_world import World, opened
from tests.engines.embedded.process_models import line, service, user


class Told:
    """Keeps what it was told, and tells when that was the first time."""

    def __init__(self) -> None:
        self.answers: list[Answer | BaseException] = []
        self.first = asyncio.Event()

    def __call__(self, answer: Answer | BaseException) -> None:
        self.answers.append(answer)
        self.first.set()


async def _waiting(world: World) -> Id:
    await world.deploy(line("p", user("review")))
    return parse_id((await world.sandbox.instances.start("p", until="rest")).id)


async def test_who_asks_to_be_called_is_told_once_and_after_all_who_listen() -> None:
    async with opened() as world:
        id, kernel, told, seen = await _waiting(world), world.sandbox.runtime.kernel, Told(), []
        kernel.listen(lambda *_: seen.append(len(told.answers)), "instance")
        kernel.put("instance", id, Origin(), Prepared(Cancel(reason="no longer")), told)
        await told.first.wait()
        await kernel.drain()
        assert seen == [0] and [each.answer for each in told.answers if isinstance(each, Answer)] == ["cancelled"]


async def test_who_asks_to_be_called_is_told_also_when_a_listener_fails() -> None:
    async with opened() as world:
        id, kernel, told = await _waiting(world), world.sandbox.runtime.kernel, Told()

        def fails(*_: Any) -> None:
            raise ValueError("cannot bear it")

        reported: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
        kernel.listen(fails, "instance")
        kernel.put("instance", id, Origin(), Prepared(Cancel(reason="no longer")), told)
        await told.first.wait()
        await kernel.drain()
        assert len(told.answers) == 1 and isinstance(told.answers[0], Answer)
        assert [type(each) for each in reported] == [ValueError]


async def test_who_asks_to_be_called_is_told_of_what_changes_nothing_and_of_what_is_refused() -> None:
    async with opened() as world:
        id, kernel = await _waiting(world), world.sandbox.runtime.kernel
        await kernel.ask("instance", id, Origin(), Prepared(Cancel()))
        for tenant, expected in (("default", "replayed"), ("another", "not_found")):
            told = Told()
            kernel.put("instance", id, Origin(tenant), Prepared(Cancel()), told)
            await told.first.wait()
            await kernel.drain()
            (found,) = told.answers
            assert (found.rejection.code if isinstance(found, RejectedError) else found.answer) == expected  # type: ignore[union-attr]


async def test_one_who_cannot_bear_its_answer_leaves_the_others_theirs() -> None:
    async with opened() as world:
        id, kernel, told = await _waiting(world), world.sandbox.runtime.kernel, Told()
        reported: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))

        def fails(_: Any) -> None:
            raise ValueError("cannot bear it")

        for tell in (fails, told):
            kernel.put("instance", id, Origin(), Prepared(Cancel()), tell)
        await told.first.wait()
        await kernel.drain()
        assert len(told.answers) == 1 and [type(each) for each in reported] == [ValueError]


async def test_the_unit_of_a_known_move_is_the_one_that_is_derived_otherwise(monkeypatch: Any) -> None:
    made, compared = Decider.unit, []

    def both(self: Decider, machine: Any, current: Aggregate, decided: list[Decided]) -> Committing:
        found = made(self, machine, current, decided)
        written = decided[0].decision.written
        if len(decided) == 1 and written is not None:
            derived = replace(decided[0].decision, written=replace(written, rows=None))
            other = made(self, machine, current, [replace(decided[0], decision=derived)])
            assert (found.unit, found.after) == (other.unit, other.after)
            compared.append(written.rows is not None)
        return found

    monkeypatch.setattr(Decider, "unit", both)
    async with opened() as world:
        await world.deploy(line("p", service("a", "t.one"), user("review"), service("b", "t.one")))
        for _ in range(5):
            view = await world.sandbox.instances.start("p", {}, until="rest")
            await world.sandbox.tasks.complete(f"{view.id}:{view.tokens[0].number}", {}, until="end")
    assert compared.count(True) > 3 and compared.count(False) > 0

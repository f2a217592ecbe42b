"""Large runbooks: what a step costs does not depend on how many there are, and a join shares commits."""

from __future__ import annotations

import pytest

from perdure.kernel.ports import Told, Unit
from perdure.store.sqlite.driver import SqliteDriver
from perdure.testing.sandbox import Sandbox
from perdure.verbs import load_text
from tests.runbooks.onboarding_verbs import settled, started

DEFINITIONS = """
- name: big.work
  input_schema: {properties: {n: {type: integer}}}
  output_schema: {required: [n], properties: {n: {type: integer}}}
  execution: {kind: sync, effects: none}
- name: big.wait
  execution: {kind: durable}
- name: big.join
  input_schema: {properties: {all: {type: array}}}
  execution: {kind: sync, effects: none}
"""


async def work(call):  # type: ignore[no-untyped-def]
    return {"n": call.args["n"]}


async def join(call):  # type: ignore[no-untyped-def]
    return {"count": len(call.args["all"])}


class Weighed(SqliteDriver):
    """Counts what is written of states, parts and records."""

    def __init__(self, url: str) -> None:
        super().__init__(url, url.removeprefix("sqlite:///"), is_threaded=False)
        self.units: list[Unit] = []

    def submit(self, unit: Unit, told: Told) -> None:
        self.units.append(unit)
        super().submit(unit, told)

    def weight(self) -> int:
        return sum(
            len(unit.state) + sum(len(body) for _, body in unit.parts) + sum(len(each.body) for each in unit.records)
            for unit in self.units
        )


def opened(driver: Weighed) -> object:
    handlers = {"big.work": work, "big.join": join}
    return Sandbox.open(driver.url, definitions=load_text(DEFINITIONS), handlers=handlers, driver=driver)


def chains(width: int, depth: int) -> str:
    lines = [f"LET s0_{w} = EXEC big.work(n: {w})" for w in range(width)]
    lines += [f"LET s{d}_{w} = EXEC big.work(n: s{d - 1}_{w}.n)" for d in range(1, depth) for w in range(width)]
    last = ", ".join(f"s{depth - 1}_{w}.n" for w in range(width))
    return "\n".join([*lines, f"LET j = EXEC big.join(all: [{last}])"])


async def test_a_join_of_many_branches_costs_few_commits(sqlite_url: str) -> None:
    driver = Weighed(sqlite_url)
    async with opened(driver) as sandbox:  # type: ignore[attr-defined]
        view = await started(sandbox, chains(300, 3))
        assert (view.state, view.step("j").result) == ("completed", {"count": 300})
        assert len(driver.units) < 40


async def test_bytes_written_for_a_step_do_not_grow_with_the_runbook(sqlite_url: str) -> None:
    """One step at a time, so that no two share a commit."""
    weights = []
    for size in (100, 800):
        driver = Weighed(f"{sqlite_url}.{size}")
        program = "\n".join(f"LET w{n} = EXEC big.wait()" for n in range(size))
        async with opened(driver) as sandbox:  # type: ignore[attr-defined]
            view = await started(sandbox, program)
            driver.units.clear()
            for number in range(1, 51):
                await sandbox.complete(f"{view.id}:{number}", {})
            assert len(driver.units) == 50
            weights.append(driver.weight() / 50)
    assert weights[1] < weights[0] * 1.1, weights


@pytest.mark.req("X8")
async def test_a_runbook_with_many_waits_is_read_back_whole_by_another_process(sqlite_url: str) -> None:
    program = "\n".join(f"LET w{n} = EXEC big.wait()" for n in range(100))
    async with opened(Weighed(sqlite_url)) as sandbox:  # type: ignore[attr-defined]
        view = await started(sandbox, program)
    async with opened(Weighed(sqlite_url)) as sandbox:  # type: ignore[attr-defined]
        for number in range(1, 101):
            await sandbox.complete(f"{view.id}:{number}", {})
        assert (await settled(sandbox, view.id)).state == "completed"

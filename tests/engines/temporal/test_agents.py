"""Agents of processes that Temporal carries: they ask people and wait for a budget as everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.testing.temporal_server import TemporalServer
from perdure.verbs import load_text
from tests.work.agents.asking_graph import MODEL, VERBS, graph_of
from tests.work.agents.test_budgets import BOTH, Counting
from tests.work.agents.test_budgets import VERBS as JUDGED


async def until(perdure: Any, id: str, state: str) -> Any:
    while (view := await perdure.instances.get(id)).state != state:
        await perdure.runtime.driver.changed(0.05)
    return view


@pytest.mark.req("O13")
async def test_a_graph_asks_a_person_and_goes_on_with_the_answer(server: TemporalServer, tmp_path: Path) -> None:
    ran: list[str] = []
    handlers = {"ubo.judge": graph_of(ran.append)}
    url = f"sqlite:///{tmp_path / 'p.db'}"
    async with Perdure.open(url, definitions=load_text(VERBS), handlers=handlers, engine=server.url) as perdure:
        await perdure.processes.deploy(MODEL, profile="open")
        id = (await perdure.instances.start("judged", {"entity": "Allianz"})).id
        rita = perdure.acting(principal="rita", groups=["compliance"])
        while not (tasks := await rita.tasks.list(mine=True)):
            await perdure.runtime.driver.changed(0.05)
        await rita.tasks.complete(tasks[0].key, {"answer": "Ana"})
        assert (await until(perdure, id, "completed")).data["verdict"] == "Allianz of Ana"
    assert ran == ["find", "ask", "ask", "judge"]


@pytest.mark.req("O13")
async def test_a_used_up_budget_waits_until_it_is_loosened(server: TemporalServer, tmp_path: Path) -> None:
    agent, url = Counting(tokens=100), f"sqlite:///{tmp_path / 'p.db'}"
    verbs = load_text(JUDGED.replace("AGENT", "{max_tokens: 100}"))
    async with Perdure.open(url, definitions=verbs, handlers={"ubo.judge": agent}, engine=server.url) as perdure:
        await perdure.processes.deploy(BOTH, profile="open")
        id = (await perdure.instances.start("both", {})).id
        while not (await perdure.budget(id)).waiting:
            await perdure.runtime.driver.changed(0.05)
        assert agent.asked == 1
        await perdure.loosen_budget(id, max_tokens=300, reason="worth it")
        assert (await until(perdure, id, "completed")).usage.tokens == 200

"""How engines stand, as an operator sees it: the embedded one, and one that cannot be reached."""

from __future__ import annotations

from pathlib import Path

from perdure.app.perdure import Perdure
from perdure.testing.server_process import free_ports
from perdure.verbs import load_text
from tests.engines.camunda.test_unreachable_engine import ORIGIN, VERBS, never, tried
from tests.engines.embedded.process_models import line, service


async def test_the_embedded_engine_is_always_there(tmp_path: Path) -> None:
    async with Perdure.open(f"sqlite:///{tmp_path / 'p.db'}") as perdure:
        (engine,) = await perdure.engines()
        assert (engine.name, engine.url, engine.reachable, engine.waiting_steps) == ("embedded", "", True, 0)
        assert {"suspend", "migrate"} <= set(engine.capabilities)


async def test_an_engine_that_is_away_says_why_and_how_many_steps_wait_since_when(tmp_path: Path) -> None:
    url = f"camunda://127.0.0.1:{free_ports(1)[0]}"
    store = f"sqlite:///{tmp_path / 'p.db'}"
    async with Perdure.open(store, definitions=load_text(VERBS), handlers={"t.one": never}, engine=url) as perdure:
        await perdure.runtime.engine.deploy(line("carried", service("only", "t.one")), ORIGIN, profile="open")
        wait = (await tried(perdure, (await perdure.call("t.patient", {})).id)).waiting_for
        assert wait is not None
        store, engine = await perdure.engines()
        assert (store.name, store.reachable, store.is_default) == ("embedded", True, False)
        assert (engine.name, engine.url, engine.reachable, engine.is_default) == ("camunda", url, False, True)
        assert (engine.waiting_steps, engine.unreachable_since, engine.open_dispatches) == (1, wait.since, 1)
        assert engine.reason and "migrate" in engine.capabilities and "suspend" not in engine.capabilities
        measured = (await perdure.runtime.scrape()).decode()
        assert 'perdure_engine_steps_waiting{engine="camunda"} 1.0' in measured

"""Engines as an agent sees them: which answer and what begins there, and nothing of where they are."""

from __future__ import annotations

from pathlib import Path

from mcp import Client

from perdure.app import Perdure
from perdure.engine import EngineEntry, EngineSettings, TenantEngines
from perdure.surfaces.mcp.server import Protocol
from perdure.testing.server_process import free_ports
from perdure.verbs import load_text
from tests.engines.embedded.process_models import line, user
from tests.engines.test_engine_choice import ORIGIN, VERBS, one, seen
from tests.surfaces.mcp.protocol_agent import Agent
from tests.surfaces.mcp.tool_office import principal


async def test_an_agent_sees_engines_and_where_an_instance_is(tmp_path: Path) -> None:
    ports = free_ports(2)
    engines = {
        "partners": EngineEntry(f"camunda://127.0.0.1:{ports[0]}", "https://operate.example.org"),
        "theirs": EngineEntry(f"camunda://127.0.0.1:{ports[1]}?tenant=bank-b"),
    }
    settings = EngineSettings(
        engines=engines, processes={"far": "partners"}, tenants={"bank-b": TenantEngines("theirs")}
    )
    store = f"sqlite:///{tmp_path / 'p.db'}"
    async with Perdure.open(store, definitions=load_text(VERBS), handlers={"t.one": one}, engine=settings) as perdure:
        for each in (line("far", user("review")), line("asks", user("review"))):
            await perdure.runtime.engine.deploy(each, ORIGIN, profile="open")
        await seen(perdure, (await perdure.call("t.far", {})).id)
        begun = await perdure.instances.start("asks", {})
        async with Client(Protocol(perdure, lambda context: principal()).server()) as client:
            agent = Agent(client)
            embedded, partners, theirs = (await agent("list_engines"))["engines"]
            assert (embedded["name"], embedded["is_reachable"], embedded["is_default"]) == ("embedded", True, True)
            assert (partners["name"], partners["is_reachable"], partners["processes"]) == ("partners", False, ["far"])
            assert (partners["waiting_steps"], partners["open_dispatches"]) == (1, 1)
            assert "127.0.0.1" not in str(partners) and "operate" not in str(partners)
            assert "tenants" not in theirs, "another tenant is not named"
            assert (await perdure.engines())[2].tenants == ["bank-b"], "its owner sees all of a store"
            assert (await agent("workflow_status", id=begun.id))["engine"] == "embedded"

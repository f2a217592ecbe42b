"""One project with three engines at once, the store and two real servers: one may be away, work goes between them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure.testing.temporal_server import TemporalServer, real_server
from tests.engines.temporal.conftest import Opened, OurProcess

pytestmark = [pytest.mark.deep, pytest.mark.timeout(300)]

DONE = {"given": 1, "one": 1, "ok": True, "two": 2}


@pytest.fixture
def other(server: TemporalServer) -> Iterator[TemporalServer]:
    made = real_server()
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture
def named(server: TemporalServer, other: TemporalServer) -> dict[str, dict[str, str]]:
    return {"big": {"url": server.url, "ui": "https://temporal.example.org/"}, "small": {"url": other.url}}


def settings(engines: dict[str, dict[str, str]], **said: Any) -> str:
    return json.dumps({"engines": engines, **said})


def waiting(ours: OurProcess, call: str) -> Any:
    """The call once its engine was asked in vain."""
    while ((shown := ours.ask("status", id=call))["waiting_for"] or {}).get("kind") != "engine":
        assert shown["state"] == "parked"
    return shown


@pytest.mark.req("V13")
def test_each_process_and_each_tenant_has_its_engine(
    named: dict[str, dict[str, str]], store_url: str, opened: Opened
) -> None:
    chosen = settings(
        named, processes={"journey": "big", "short": "small"}, tenants={"bank-b": {"engine": "small"}}
    )  # fmt: skip
    ours = opened(chosen, store_url)
    ours.ask("deploy")
    began = {each: ours.ask("start", process=each, key=each) for each in ("journey", "short", "carried")}
    for process, engine in (("journey", "big"), ("short", "small"), ("carried", "embedded")):
        name, link = ours.ask("engine_of", instance=began[process])
        assert name == engine
        expected = f"https://temporal.example.org/namespaces/default/workflows/perdure-{began[process]}"
        assert link == (expected if engine == "big" else "")
    for process in ("short", "carried"):
        assert ours.ask("reached", instance=began[process], element="completed") == "completed"
    theirs = ours.ask("start_as", process="journey", tenant="bank-b")
    assert ours.ask("engine_as", instance=theirs, tenant="bank-b") == "small"
    ours.ask("reached", instance=began["journey"], element="await")
    assert ours.ask("publish", id="m1") == "correlated"
    ours.ask("reached", instance=began["journey"], element="review")
    assert ours.ask("complete", instance=began["journey"], ok=True) == "completed"
    assert {name: each["reachable"] for name, each in ours.ask("engines").items()} == {
        "embedded": True, "big": True, "small": True,
    }  # fmt: skip
    assert ours.ask("audit") == []


@pytest.mark.req("V13")
def test_settings_that_change_leave_instances_where_they_are(
    named: dict[str, dict[str, str]], store_url: str, opened: Opened
) -> None:
    ours = opened(settings(named, processes={"journey": "big"}), store_url)
    ours.ask("deploy")
    id = ours.ask("start", process="journey", key="k", given=1)
    ours.ask("reached", instance=id, element="await")
    ours.end()

    ours = opened(settings(named, processes={"journey": "small"}), store_url)
    assert ours.ask("start", process="journey", key="k", given=1) == id, "one key, one instance, wherever it is"
    assert ours.ask("engine_of", instance=id)[0] == "big"
    later = ours.ask("start", process="journey", key="another")
    assert ours.ask("engine_of", instance=later)[0] == "small"
    ours.ask("reached", instance=later, element="await")
    ours.ask("cancel", instance=later)
    assert ours.ask("publish", id="m1") == "correlated"
    ours.ask("reached", instance=id, element="review")
    ours.end()

    ours = opened(settings({"small": named["small"]}), store_url)
    refused = ours.ask("suspend", instance=id)
    assert "the engine 'big' carries it, and this process was opened with no engine of that name" in refused["text"]
    assert "Name it as 'big' under 'engines' in perdure.yaml" in refused["text"]
    assert ours.ask("engine_of", instance=id) == ["big", ""]
    ours.end()

    ours = opened(settings(named), store_url)
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    assert ours.ask("show", instance=id)["data"] == DONE
    assert ours.ask("audit") == []


@pytest.mark.req("V35")
def test_a_server_that_is_away_parks_its_own_steps_and_no_others(
    server: TemporalServer, named: dict[str, dict[str, str]], store_url: str, opened: Opened, tmp_path: Path
) -> None:
    ours = opened(settings(named, processes={"carried": "big", "journey": "small"}), store_url)
    ours.ask("deploy")
    server.kill()
    call = ours.ask("call", given=1, verb="t.stubborn")
    assert waiting(ours, call)["carrier"]["engine"] == "big"
    id = ours.ask("start", process="journey", key="k", given=1)
    assert ours.ask("reached", instance=id, element="await") == "active", "another engine goes on"
    found = ours.ask("engines")
    assert {name: each["reachable"] for name, each in found.items()} == {"embedded": True, "big": False, "small": True}
    assert (found["big"]["open_dispatches"], found["big"]["waiting_steps"]) == (1, 1)
    server.start()
    while ours.ask("status", id=call)["state"] == "parked":
        pass
    assert ours.ask("called", id=call) == "completed"
    runs = [each for each in (tmp_path / "runs.log").read_text().splitlines() if not each.startswith(id)]
    assert len(runs) == 1, "it was dispatched once"
    assert ours.ask("audit") == []


@pytest.mark.req("V13")
def test_an_instance_goes_from_engine_to_engine_by_name(
    named: dict[str, dict[str, str]], store_url: str, opened: Opened, tmp_path: Path
) -> None:
    ours = opened(settings(named), store_url)
    ours.ask("deploy")
    id = ours.ask("start", process="journey", key="k", given=1)
    ours.ask("reached", instance=id, element="await")
    for before, to in (("embedded", "big"), ("big", "small"), ("small", "embedded"), ("embedded", "small")):
        moved = ours.ask("move", instance=id, to=to, shadow=True)
        assert (moved["carrier"], moved["to"], moved["shadow"]) == (before, to, "equal")
        assert ours.ask("engine_of", instance=id)[0] == to
        assert ours.ask("suspend", instance=id) == "suspended", "it decides there"
        assert ours.ask("resume", instance=id) == "active"
    assert ours.ask("publish", id="m1") == "correlated"
    ours.ask("reached", instance=id, element="review")
    assert ours.ask("move", instance=id, to="big")["carrier"] == "small"
    assert ours.ask("complete", instance=id, ok=True) == "completed"
    shown = ours.ask("show", instance=id)
    assert (shown["data"], shown["sequence"]) == (DONE, list(range(1, len(shown["sequence"]) + 1)))
    assert sorted((tmp_path / "runs.log").read_text().splitlines()) == [f"{id}/first/1", f"{id}/last/1"]
    assert ours.ask("audit") == []


@pytest.mark.req("V13")
def test_a_start_that_another_engine_has_taken_meanwhile_runs_once(
    named: dict[str, dict[str, str]], store_url: str, opened: Opened, tmp_path: Path
) -> None:
    """A server heard it and the answer was lost; then its name left the settings, and the step began in the store."""
    alone = settings({"big": named["big"]}, processes={"carried": "big"})
    ours = opened(alone, store_url)
    ours.ask("deploy")
    ours.ask("lose_answers")
    call = ours.ask("call", given=1, verb="t.stubborn")
    waiting(ours, call)
    ours.kill()
    ours = opened("embedded", store_url)
    while ours.ask("status", id=call)["state"] == "parked":
        pass
    shown = ours.ask("status", id=call)
    assert (shown["state"], shown["carrier"]["engine"]) == ("completed", "embedded")
    assert ours.ask("engines")["big"]["open_dispatches"] == 1, "what is under way to an engine is told without it"
    ours.end()
    ours = opened(alone, store_url)
    while ours.ask("engines")["big"]["open_dispatches"]:
        pass
    assert len((tmp_path / "runs.log").read_text().splitlines()) == 1
    assert ours.ask("instances") == ["completed"]
    assert ours.ask("audit") == []

"""A step whose engine cannot be reached: it waits with the reason shown, is dispatched once, or fails by its policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.testing.temporal_server import TemporalServer
from tests.engines.temporal.conftest import Opened, OurProcess

pytestmark = pytest.mark.deep


def reached(ours: OurProcess, call: str, *states: str) -> Any:
    while (shown := ours.ask("status", id=call))["state"] not in states:
        pass
    return shown


def unreachable(ours: OurProcess, call: str) -> Any:
    """The call once an attempt has failed."""
    while ((shown := ours.ask("status", id=call))["waiting_for"] or {}).get("kind") != "engine":
        assert shown["state"] == "parked"
    return shown


@pytest.mark.req("V35")
def test_a_step_says_why_it_waits_and_is_dispatched_once_when_the_engine_is_back(
    server: TemporalServer, store_url: str, opened: Opened, tmp_path: Path
) -> None:
    ours = opened(store=store_url)
    ours.ask("deploy")
    server.kill()
    call = ours.ask("call", given=1, verb="t.stubborn")
    wait = unreachable(ours, call)["waiting_for"]
    assert wait["text"].startswith(f"waits for the engine at {server.url}, unreachable since {wait['since']}, tried ")
    assert ", next at " in wait["text"]
    ours.kill()
    ours = opened(store=store_url)
    tries = unreachable(ours, call)["carrier"]["waits_for"]["tries"]
    while unreachable(ours, call)["carrier"]["waits_for"]["tries"] == tries:
        pass
    server.start()
    shown = reached(ours, call, "completed", "failed")
    assert (shown["state"], shown["carrier"]["waits_for"]) == ("completed", None)
    assert len((tmp_path / "runs.log").read_text().splitlines()) == 1
    assert ours.ask("audit") == []


@pytest.mark.req("V35")
def test_a_step_fails_by_its_policy_when_the_engine_never_comes(
    server: TemporalServer, store_url: str, opened: Opened, tmp_path: Path
) -> None:
    server.kill()
    ours = opened(store=store_url)
    ours.ask("deploy")
    call = ours.ask("call", given=1, verb="t.patient")
    shown = reached(ours, call, "failed")
    assert (shown["error"]["code"], shown["waiting_for"]) == ("engine.unreachable", None)
    assert f"The engine at {server.url} was not reached in " in shown["error"]["message"]
    server.start()
    later = ours.ask("call", given=2)
    assert reached(ours, later, "completed", "failed")["state"] == "completed"
    assert len((tmp_path / "runs.log").read_text().splitlines()) == 1, "what was given up is not dispatched any more"
    assert ours.ask("instances") == ["completed"]
    assert ours.ask("audit") == []


def test_what_began_unheard_is_cancelled_when_its_step_has_failed(
    server: TemporalServer, opened: Opened, tmp_path: Path
) -> None:
    ours = opened()
    ours.ask("deploy")
    ours.ask("lose_answers")
    call = ours.ask("call", given=1, verb="t.hasty")
    assert reached(ours, call, "failed", "completed")["error"]["code"] == "engine.unreachable"
    ours.ask("find_answers")
    while ours.ask("instances") != ["cancelled"]:
        pass
    assert not (tmp_path / "runs.log").exists(), "no job of it runs"
    assert ours.ask("audit") == []

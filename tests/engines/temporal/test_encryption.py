"""Payloads on a real server are encrypted: nothing clear in a history, keys rotate, a missing key loses nothing."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perdure.testing.temporal_server import TemporalServer
from tests.engines.temporal.conftest import Opened
from tests.house.tree import ROOT

pytestmark = pytest.mark.deep

ONE, TWO = base64.b64encode(bytes(range(32))).decode(), base64.b64encode(bytes(range(1, 33))).decode()
CLEAR = (b"orch_secret", b"violet", b"told", b"t.flag")


def history(server: TemporalServer, instance: str) -> list[dict[str, Any]]:
    """As the server gives it to anybody who may read."""
    program = Path(sys.executable).with_name("temporal")
    command = [program, "workflow", "show", "-w", f"perdure-{instance}", "--address", server.target, "-o", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    events: list[dict[str, Any]] = json.loads(done.stdout)["events"]
    return events


def bytes_of(value: Any) -> bytes:
    """Every text in it, decoded where it is Base64."""
    if isinstance(value, dict):
        return b"\n".join(bytes_of(each) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return b"\n".join(map(bytes_of, value))
    text = str(value)
    try:
        return text.encode() + b"\n" + base64.b64decode(text, validate=True)
    except ValueError:
        return text.encode()


def keys_used(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {base64.b64decode(value["perdure-key"]).decode()} if "perdure-key" in value else set()
        return own.union(*map(keys_used, value.values()))
    return set().union(*map(keys_used, value)) if isinstance(value, list) else set()


def begun(opened: Opened, url: str) -> tuple[Any, str]:
    ours = opened(url)
    assert ours.first == "ready", ours.first
    ours.ask("deploy")
    id = ours.ask("start", process="flagged", key="k")
    ours.ask("reached", instance=id, element="await")
    return ours, id


def test_without_keys_a_history_can_be_read_by_anybody(server: TemporalServer, opened: Opened) -> None:
    _, id = begun(opened, server.url)
    assert [each for each in CLEAR if each not in bytes_of(history(server, id))] == []


@pytest.mark.req("V13")
def test_with_keys_a_history_holds_nothing_clear_and_keys_rotate(
    server: TemporalServer, opened: Opened, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"k1 {ONE}\n")
    url = f"{server.url}?encryption=file:{keys}"
    ours, id = begun(opened, url)
    told = history(server, id)
    assert [each for each in CLEAR if each in bytes_of(told)] == []
    assert keys_used(told) == {"k1"}
    ours.end()

    keys.write_text(f"k2 {TWO}\n")
    without = opened(url)
    refused = without.ask("publish", id="m1", name="told")
    assert refused["error"] == "engine.key_missing"
    assert f"encrypted with the key 'k1', and file:{keys} has 'k2'" in refused["text"]
    assert without.ask("show", instance=id)["state"] == "active"
    without.end()

    keys.write_text(f"k2 {TWO}\nk1 {ONE}\n")
    both = opened(url)
    assert both.ask("reached", instance=id, element="completed") == "completed", "what was refused was sent again"
    assert both.ask("publish", id="m1", name="told") == "duplicate"
    assert both.ask("audit") == []
    told = history(server, id)
    assert keys_used(told) == {"k1", "k2"}
    assert [each for each in CLEAR if each in bytes_of(told)] == []


def test_keys_that_cannot_be_read_keep_a_process_from_opening(server: TemporalServer, opened: Opened) -> None:
    refused = opened(f"{server.url}?encryption=env:NO_SUCH_KEYS").first
    assert refused["error"] == "engine.setting"
    assert "the environment has no variable 'NO_SUCH_KEYS'" in refused["text"]

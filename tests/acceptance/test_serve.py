"""`perdure serve` as a process: it answers, it drains on SIGTERM, and what it began is there afterwards."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.acceptance.commands import Shell

pytestmark = pytest.mark.req("P2")


@contextmanager
def serving(shell: Shell, *words: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """A server of the project, and somebody who asks it; it is stopped as an operator stops it."""
    process = shell.start("serve", "--port", "0", "--json", *words)
    assert process.stdout is not None
    told: dict[str, Any] = json.loads(process.stdout.readline())
    assert told["ready"] is True
    try:
        with httpx.Client(base_url=told["url"], timeout=60) as client:
            yield client, process
    finally:
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=60)
    assert process.returncode == 0, error
    assert json.loads(out.strip().splitlines()[-1]) == {"ready": False, "stopped": True}


@pytest.mark.both_stores
def test_a_project_is_served_and_everything_is_there_after_it_stopped(project_on_store: Shell) -> None:
    with serving(project_on_store) as (client, _):
        assert client.get("/ready").json() == {"status": "ready"}
        assert client.get("/api/session").json()["principal"] == "local"
        measured = client.get("/metrics").text  # since the start, and not only since somebody looked
        assert 'perdure_http_requests_total{method="GET",route="/api/session",status="200"} 1.0' in measured
        made = client.post("/api/verbs/desk.wait/calls", json={"args": {"who": "Ana"}})
        assert made.status_code == 201 and made.json()["state"] == "parked"
        id = made.json()["id"]
    assert project_on_store.json("status", id)["state"] == "parked"
    with serving(project_on_store) as (client, _):
        assert client.get(f"/api/calls/{id}").json()["state"] == "parked"
        assert client.post(f"/api/calls/{id}/cancel").json()["state"] == "cancelled"


def test_on_sigterm_requests_end_streams_end_and_nothing_new_is_taken(project_on_store: Shell) -> None:
    with serving(project_on_store) as (client, process):
        id = client.post("/api/verbs/desk.wait/calls", json={}).json()["id"]
        answers: list[httpx.Response] = []

        def wait() -> None:
            body = {"wait": True, "timeout_seconds": 2}
            answers.append(client.post("/api/verbs/desk.wait/calls", json=body))

        waiting = threading.Thread(target=wait)
        with client.stream("GET", "/api/events", headers={"Accept": "text/event-stream"}) as stream:
            lines = stream.iter_lines()
            waiting.start()
            while "data: " not in next(lines):  # the request that waits has begun
                pass
            process.send_signal(signal.SIGTERM)
            rest = list(lines)
        waiting.join()
        assert rest is not None
        assert answers[0].status_code == 201 and answers[0].json()["state"] == "parked"
        with pytest.raises(httpx.TransportError):
            httpx.get(client.base_url.copy_with(path="/api/verbs"), timeout=5)
        assert process.wait(60) == 0
    assert project_on_store.json("status", id)["state"] == "parked"
    assert project_on_store.json("status", answers[0].json()["id"])["state"] == "parked"


def test_nobody_is_let_in_from_outside_without_a_credential(project: Shell) -> None:
    ended = project.run("serve", "--host", "0.0.0.0", "--port", "0", code=None)
    assert ended.code == 2 and "everybody who reaches that address" in ended.error

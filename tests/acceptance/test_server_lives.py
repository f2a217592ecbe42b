"""The server, a worker and Postgres are killed under load: nothing is lost, nothing doubled, streams go on."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.testing.postgres_service import PostgresService
from tests.acceptance.browser.server import Server
from tests.acceptance.serving import Callers, FeedReader, counting
from tests.on_disk import postgres_server

__all__ = ["postgres_server"]

COUNT = 300

pytestmark = pytest.mark.req("P2", "P8")


@pytest.fixture
def server(tmp_path: Path, store_url: str) -> Iterator[Server]:
    made = Server(counting(tmp_path / "project"), tmp_path / "served", store_url)
    yield made
    made.close()


def settled(server: Server, callers: Callers, reader: FeedReader) -> None:
    """Every number was answered by one call, each call is there and completed, and the reader saw each entry once."""
    callers.join()
    assert sorted(callers.answered) == list(range(COUNT))
    ids = set(callers.answered.values())
    assert len(ids) == COUNT
    reader.wait_for(lambda seen: ids <= {id for id, _, entry in seen if entry == "StepCompleted"})
    doubled = {item: times for item, times in Counter(reader.seen).items() if times > 1}
    assert not doubled
    listed, after = set(), None
    while True:
        page = server.get("/calls", verb="count.one", limit=200, **({"after": after} if after else {}))
        assert all(row["state"] == "completed" for row in page["items"])
        listed |= {row["id"] for row in page["items"]}
        if (after := page["next"]) is None:
            break
    assert listed == ids | {server_first(server)}
    server.run("audit", "verify")  # ends with an error unless everything holds


def server_first(server: Server) -> str:
    """The call that was made before the load, so that the feed had somewhere to begin."""
    answer = server.api.post(
        "/api/verbs/count.one/calls", json={"args": {"number": -1}}, headers={"Idempotency-Key": "first"}
    )
    return str(answer.json()["id"])


def test_a_server_killed_under_load_loses_and_doubles_nothing(server: Server) -> None:
    server_first(server)
    reader, callers = FeedReader(server), Callers(server, COUNT)
    for part in (1, 2):
        callers.wait_for(part * COUNT // 3)
        server.kill()
        server.start()
    settled(server, callers, reader)
    assert reader.breaks


@pytest.mark.deep
def test_a_server_that_is_stopped_under_load_drops_nothing_it_began(server: Server) -> None:
    server_first(server)
    reader, callers = FeedReader(server), Callers(server, COUNT)
    callers.wait_for(COUNT // 2)
    server.stop()
    server.start()
    settled(server, callers, reader)


@pytest.mark.deep
def test_postgres_killed_under_load_is_waited_for(
    tmp_path: Path, postgres_server: PostgresService, postgres_url: str
) -> None:
    server = Server(counting(tmp_path / "project"), tmp_path / "served", postgres_url)
    try:
        server_first(server)
        reader, callers = FeedReader(server), Callers(server, COUNT)
        callers.wait_for(COUNT // 3)
        postgres_server.kill()
        postgres_server.start()
        settled(server, callers, reader)
    finally:
        server.close()


@pytest.mark.deep
def test_a_worker_killed_beside_the_server_is_replaced(tmp_path: Path, postgres_url: str) -> None:
    server = Server(counting(tmp_path / "project"), tmp_path / "served", postgres_url)
    try:
        server_first(server)
        reader, callers = FeedReader(server), Callers(server, COUNT)
        for part in (1, 2):
            worker = subprocess.Popen(
                [sys.executable, "-m", "perdure", "worker", "--store", postgres_url], cwd=server.folder,
                stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert worker.stdout is not None and "ready" in worker.stdout.readline()
            callers.wait_for(part * COUNT // 3)
            worker.send_signal(signal.SIGKILL)
            worker.wait(60)
            worker.stdout.close()
        settled(server, callers, reader)
    finally:
        server.close()


def _take_along_key(store: str, again: str) -> None:
    """A seal key belongs to a backup: without it nobody verifies the seals there are."""
    if not store.startswith("sqlite"):
        return  # it lies in the project's folder, whatever the database
    old, new = (Path(f"{url.removeprefix('sqlite:///')}.seal.key") for url in (store, again))
    for suffix in ("", ".pub"):
        if Path(f"{old}{suffix}").exists():
            shutil.copy(f"{old}{suffix}", f"{new}{suffix}")


@pytest.mark.req("P8")
def test_a_restore_drill_brings_a_server_back_with_everything_that_was_acknowledged(
    tmp_path: Path, store_url: str, request: pytest.FixtureRequest
) -> None:
    server = Server(counting(tmp_path / "project"), tmp_path / "served", store_url)
    again = f"sqlite:///{tmp_path / 'again.db'}"
    if store_url.startswith("postgres"):
        service: PostgresService = request.getfixturevalue("postgres_server")
        again = service.create_database()
    try:
        done = server.post("/verbs/count.one/calls", {"args": {"number": 1}})
        parked = server.post("/verbs/count.wait/calls", {"args": {"number": 7}})
        server.run("db", "backup", "monday.backup")
        server.kill()
        _take_along_key(store_url, again)
        server.store = again
        subprocess.run(
            [sys.executable, "-m", "perdure", "db", "restore", "monday.backup", "--store", again], cwd=server.folder,
            check=True, capture_output=True,
        )  # fmt: skip
        server.start()
        assert server.get(f"/calls/{done['id']}")["state"] == "completed"
        assert server.get(f"/calls/{parked['id']}")["state"] == "parked"
        server.post("/completions", {"key": "wait-7", "result": {"ok": True}})
        assert server.get(f"/calls/{parked['id']}")["state"] == "completed"
        server.run("audit", "verify")  # ends with an error unless everything holds
    finally:
        server.close()
        if store_url.startswith("postgres"):
            service.drop_database(again)

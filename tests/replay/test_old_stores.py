"""A store left by any released schema opens, verifies, and what waited in it goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.app.calls.views import CallView
from perdure.journal.row_digests import row_prefix
from perdure.payload import delta_of
from perdure.sources import id_text
from perdure.store.migrations import migrations, newest, statements
from perdure.store.row_journal import IN_FORCE, SEAL_KEY
from perdure.testing.sandbox import Sandbox
from perdure.testing.virtual_clock import START, VirtualSources
from tests.conformance.stores import Raw
from tests.depth import sampled
from tests.replay.old_store import KEPT, KEY, VERBS, Handlers, load, path_of

SCHEMAS = range(1, newest("sqlite") + 1)
WRITTEN = START + 8 * 86_400_000_000
MADE_BY_THE_STORE = ("number", "position")
LEFT_BEHIND = ("meta", "worker", "serves", "seal", "sqlite_sequence")
"""Workers are gone; a seal signs places in a file's journal, which are others in a server's."""


OLD = [*(("sqlite", number) for number in SCHEMAS), *sampled([("postgres", number) for number in SCHEMAS], 4)]


@pytest.fixture(params=OLD, ids=lambda old: f"{old[0]}-{old[1]}")
def old(request: pytest.FixtureRequest) -> tuple[str, int]:
    """A kind of store, and the schema that it was left at."""
    found: tuple[str, int] = request.param
    return found


@pytest.fixture
def schema(old: tuple[str, int]) -> int:
    return old[1]


@pytest.fixture
def old_url(request: pytest.FixtureRequest, old: tuple[str, int], tmp_path: Path) -> str:
    """A store as a release with that schema left it; on Postgres the same rows in the tables of that schema."""
    file = tmp_path / "old.db"
    kind, schema = old
    load(schema, file)
    if kind == "sqlite":
        return f"sqlite:///{file}"
    url: str = request.getfixturevalue("postgres_url")
    copy(file, url, schema)
    return url


def copy(file: Path, url: str, schema: int) -> None:
    source = sqlite3.connect(file)
    with Raw(url) as target:
        for migration in migrations("postgres")[:schema]:
            for statement in statements(migration.script):
                target(statement)
        target("INSERT INTO meta (name, value) VALUES ('schema', ?)", str(schema))
        for (table,) in source.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            if table in LEFT_BEHIND or table.startswith("document_text"):
                continue
            every = [row[1] for row in source.execute(f"PRAGMA table_info({table})")]
            order = next((name for name in every if name in MADE_BY_THE_STORE), "1")
            columns = [name for name in every if name not in MADE_BY_THE_STORE]
            names = ", ".join(columns)
            marks = ", ".join("?" for _ in columns)
            for row in source.execute(f"SELECT {names} FROM {table} ORDER BY {order}").fetchall():
                target(f"INSERT INTO {table} ({names}) VALUES ({marks})", *row)
        key = row_prefix(SEAL_KEY, IN_FORCE)  # it goes with its seals
        target("DELETE FROM journal WHERE aggregate > ? AND aggregate < ?", key, key + b"\xff" * 8)
    source.close()


@asynccontextmanager
async def reopened(url: str) -> AsyncIterator[Sandbox]:
    """Today's platform on the old store, at the moment it was left."""
    clock = VirtualSources(2, WRITTEN)
    async with Sandbox.open(url, definitions=VERBS, handlers=Handlers(is_mended=True).bound(), clock=clock) as sandbox:
        yield sandbox


async def whole(sandbox: Sandbox) -> bool:
    report = await verify_store(sandbox, KEY.public_keys)
    assert report.findings == []
    return report.aggregates > 0


@pytest.mark.req("P8")
def test_every_schema_has_a_store_that_was_left_at_it() -> None:
    missing = [number for number in SCHEMAS if not path_of(number).exists()]
    assert not missing, "before the next migration: python -m tests.replay.old_store"


@pytest.mark.req("P8")
async def test_an_old_store_is_brought_up_to_date_and_verifies(old_url: str) -> None:
    async with reopened(old_url) as sandbox:
        assert await whole(sandbox)
    with Raw(old_url) as raw:
        current = "SELECT value FROM meta WHERE name = 'schema'" if raw.is_postgres else "PRAGMA user_version"
        assert int(raw(current)[0][0]) == newest("sqlite")


@pytest.mark.req("P8", "V14")
async def test_what_waited_in_an_old_store_goes_on(old_url: str) -> None:
    async with reopened(old_url) as sandbox:
        (parked,) = await sandbox.find("old.documents", entity="parked")
        assert parked.state == "parked"
        assert (await sandbox.complete(parked.id, {"case_id": "c-9"})).answer == "applied"
        assert (await sandbox.complete("case-7", {"ok": 1})).answer == "applied"
        (stuck,) = await sandbox.incidents()
        assert (await sandbox.retry(stuck.id)).state == "completed"
        senior = next(each for each in await sandbox.parked() if each["verb"] == "old.senior")
        await sandbox.complete(senior["id"], {"decided": True})
        await sandbox.advance("PT1H")  # the retry is due; the jobs nobody holds are taken over
        assert await sandbox.parked() == []
        assert {view.state for view in await calls(sandbox)} == {"completed", "failed", "cancelled"}
        assert await whole(sandbox)


@pytest.mark.req("P8")
async def test_a_message_kept_in_an_old_store_is_kept_until_its_time_is_over(old_url: str, schema: int) -> None:
    async with reopened(old_url) as sandbox:
        store, now = sandbox.runtime.store, sandbox.clock.now()
        kept = await store.buffered_messages("default", "documents", "case-9", now)
        assert [each.message_id for each in kept] == (["m-kept"] if schema > 1 else [])
        assert await store.buffered_messages("default", "documents", "case-9", now + KEPT) == []


@pytest.mark.req("P8")
async def test_an_instance_left_in_an_old_store_goes_on_where_it_stood(old_url: str, schema: int) -> None:
    async with reopened(old_url) as sandbox:
        found = await sandbox.instances.list(process="old-case", business_key="five")
        assert len(found) == (1 if schema > 1 else 0)
        for left in found:
            assert {token.element for token in left.tokens} == {"documents", "decide"}
            shown, _ = await sandbox.instances.drawing(left.id)
            assert [each.id for each in shown.definitions.processes] == ["old-case"]
            assert await sandbox.publish("documents", "case-5", {"pages": 3}, message_id="m-5") == "correlated"
            (task,) = await sandbox.tasks.list()
            await sandbox.tasks.complete(task.key, {"decided": True})
            await sandbox.run_until_idle()
            ended = await sandbox.instances.get(left.id)
            assert ended.state == "completed"
            assert ended.data == {"entity": "five", "pages": 3, "decided": True, "score": 7}
            begun = await sandbox.instances.start("old-case", {}, flags={"orch_case": "case-9"})
            await sandbox.run_until_idle()
            assert "documents" not in {token.element for token in (await sandbox.instances.get(begun.id)).tokens}
        assert await whole(sandbox)


async def calls(sandbox: Sandbox) -> list[CallView]:
    with Raw(sandbox.runtime.driver.url) as raw:
        ids = [bytes(id) for (id,) in raw("SELECT id FROM aggregate WHERE kind = 'runbook' ORDER BY id")]
    return [await sandbox.status(id_text(id)) for id in ids]


@pytest.mark.req("P8")
async def test_what_was_known_in_an_old_store_is_still_known(old_url: str) -> None:
    async with reopened(old_url) as sandbox:
        (found,) = await sandbox.find("old.documents", case_id="c-1")
        assert found.result == {"case_id": "c-1"}
        again = await sandbox.complete(found.id, {"case_id": "c-1"}, message_id="m-1")
        assert again.answer == "duplicate"
        replayed = await sandbox.call("old.score", {"entity": "completed"}, idempotency_key="score-1")
        assert replayed.started_at != (await sandbox.call("old.score", {"entity": "new"})).started_at
        assert [letter["message_id"] for letter in await sandbox.dead_letters()] == ["m-dead"]
        records = sandbox.runtime.desk.open("default", "local")
        assert await records.read("client", "7") == {"client_id": "7", "name": "Ada Lovelace", "version": 2}


@pytest.mark.req("P8", "V8")
async def test_what_an_instance_in_an_old_store_held_can_be_read(old_url: str, schema: int) -> None:
    with Raw(old_url) as raw:
        stored = [bytes(data) for (data,) in raw(f"SELECT {'stored' if schema > 6 else 'data'} FROM payload")]
    assert sum(delta_of(each) is not None for each in stored) == (3 if schema > 6 else 0)
    async with reopened(old_url) as sandbox:
        found = await sandbox.instances.list(process="old-case", business_key="six")
        assert len(found) == (1 if schema > 6 else 0)
        for left in found:
            held = (await sandbox.instances.get(left.id)).data
            assert held == {"entity": "six", "pages": 6, "decided": True, "score": 7}

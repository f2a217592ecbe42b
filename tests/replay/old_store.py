"""Makes the text of a small store with one call of each kind: `python -m tests.replay.old_store`, once per schema."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from perdure.app.instances.views import InstanceView
from perdure.errors import BusinessError, Transient
from perdure.journal import Origin
from perdure.kernel.kernel import Prepared
from perdure.kernel.ports import Attachments
from perdure.payload import canonical, digest
from perdure.runbooks.executor.call_executor import KIND
from perdure.runbooks.machine import commands as c
from perdure.store.migrations import newest
from perdure.store.sealer import Sealer
from perdure.store.signing_keys import SigningKey
from perdure.testing.sandbox import Sandbox
from perdure.testing.virtual_clock import VirtualSources

FOLDER = Path(__file__).parent / "fixtures"
VERBS = FOLDER / "verbs.yaml"
MODEL = FOLDER / "old-case.bpmn"
KEY = SigningKey(Ed25519PrivateKey.from_private_bytes(b"a key for the fixtures and for n"))
GONE = 900_000
"""A worker that no longer exists."""
WORDS = "document_text_"
"""The beginning of the tables in which SQLite keeps an index of words."""
KEPT = 30 * 86_400 * 1_000_000


def path_of(schema: int) -> Path:
    return FOLDER / f"schema-{schema}.sqlite.sql"


class Handlers:
    """What runs behind the old verbs; `is_mended` lets the failing ones succeed."""

    def __init__(self, is_mended: bool) -> None:
        self.is_mended = is_mended

    def bound(self) -> dict[str, Any]:
        return {
            "old.score": lambda call: {"score": 7}, "old.notify": lambda call: {"sent": True}, "old.flaky": self.flaky,
            "old.broken": lambda call: {"ok": True if self.is_mended else "perhaps"}, "old.refuse": self.refuse,
        }  # fmt: skip

    def flaky(self, call: Any) -> dict[str, Any]:
        if not self.is_mended:
            raise Transient("busy")
        return {"attempt": call.attempt}

    def refuse(self, call: Any) -> dict[str, Any]:
        raise BusinessError("NO", "they said no")


async def fill(sandbox: Sandbox) -> None:
    """Calls completed, amended, erased, failed, cancelled, parked, keyed, escalated, retrying, stuck, ready, leased."""
    await sandbox.call("old.score", {"entity": "completed"}, idempotency_key="score-1")
    amended = await sandbox.call("old.score", {"entity": "amended"})
    await sandbox.amend(amended.id, {"score": 8}, reason="typo", target="result")
    await sandbox.acting(principal="second").amend(amended.id, approve=1)
    erased = await sandbox.call("old.score", {"entity": "erased"})
    await sandbox.erase(erased.id, "asked for")
    await sandbox.call("old.refuse")
    cancelled = await sandbox.call("old.documents", {"entity": "cancelled"})
    await sandbox.cancel(cancelled.id, "no longer needed")
    await sandbox.call("old.decide", {"entity": "escalated"})
    await sandbox.advance("P8D")
    parked = await sandbox.call("old.documents", {"entity": "parked"})
    await sandbox.progress(parked.id, "half way")
    done = await sandbox.call("old.documents", {"entity": "done"})
    for _ in range(2):
        await sandbox.complete(done.id, {"case_id": "c-1"}, message_id="m-1")
    await sandbox.call("old.review", {"case": "case-7"})
    await sandbox.complete("case-8", {}, message_id="m-dead")
    for name in ("Ada", "Ada Lovelace"):
        await sandbox.call("old.client", {"client_id": "7", "name": name})
    await sandbox.call("old.flaky")
    await sandbox.call("old.broken")
    await _leave(sandbox, "old.notify", 0)
    await _leave(sandbox, "old.notify", GONE)
    await _keep(sandbox, "m-kept")
    await _begin(sandbox)


async def _keep(sandbox: Sandbox, message_id: str) -> None:
    """A message that is kept until a process waits for it."""
    told = await sandbox.publish(
        "documents", "case-9", {"pages": 9}, message_id=message_id, ttl_seconds=KEPT / 1_000_000
    )  # fmt: skip
    assert told == "buffered"


async def _begin(sandbox: Sandbox) -> None:
    """A process, and an instance of it that waits for a message while a person has a task."""
    await sandbox.processes.deploy(MODEL, profile="open")
    await sandbox.instances.start("old-case", {"entity": "five"}, flags={"orch_case": "case-5"}, business_key="five")
    await sandbox.run_until_idle()
    await _end(sandbox)


async def _end(sandbox: Sandbox) -> None:
    """An instance that has ended: what it held is stored as changes."""
    await sandbox.instances.start("old-case", {"entity": "six"}, flags={"orch_case": "case-6"}, business_key="six")
    await sandbox.run_until_idle()
    six = await _six(sandbox)
    (task,) = [each for each in await sandbox.tasks.list() if each.instance == six.id]
    await sandbox.publish("documents", "case-6", {"pages": 6}, message_id="m-6")
    await sandbox.tasks.complete(task.key, {"decided": True})
    await sandbox.run_until_idle()
    assert (await _six(sandbox)).state == "completed"


async def _six(sandbox: Sandbox) -> InstanceView:
    (found,) = await sandbox.instances.list(process="old-case", business_key="six")
    return found


async def _leave(sandbox: Sandbox, name: str, worker: int) -> None:
    """A job that waits for any worker, or is held by one that is gone."""
    data, verb = canonical({}), sandbox.catalogue.get(name)
    definition = verb.definition_hash
    command = c.StartCall(name, verb.version, definition, digest(data), worker=worker)
    brought = Attachments(payloads=[(digest(data), data)])
    await sandbox.runtime.kernel.start(KIND, sandbox.clock.new_id(), Origin(), Prepared(command, brought))


async def make(path: Path) -> None:
    async with Sandbox.open(
        f"sqlite:///{path}", definitions=VERBS, handlers=Handlers(is_mended=False).bound(), clock=VirtualSources(1)
    ) as sandbox:
        await fill(sandbox)
        await Sealer(sandbox.runtime.store, KEY, sandbox.clock).seal_all()


def dump(path: Path) -> str:
    connection = sqlite3.connect(path)
    try:
        schema = connection.execute("PRAGMA user_version").fetchone()[0]
        return "\n".join([*_statements(connection), f"PRAGMA user_version = {schema};", ""])
    finally:
        connection.close()


def _statements(connection: sqlite3.Connection) -> Iterator[str]:
    """A dump that can be loaded: an index of words makes the tables it is kept in by itself."""
    for statement in connection.iterdump():
        if statement.startswith("INSERT INTO sqlite_master"):
            (made,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'document_text'").fetchone()
            yield f"{made};"
        elif WORDS not in statement[:60]:
            yield statement


def load(schema: int, path: Path) -> None:
    """The file as it was at a schema."""
    connection = sqlite3.connect(path)
    try:
        connection.executescript(path_of(schema).read_text("utf-8"))
    finally:
        connection.close()


def main() -> None:
    target = path_of(newest("sqlite"))
    if target.exists():
        raise SystemExit(f"{target.name} is history and stays as it is")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(make(Path(folder) / "store.db"))
        target.write_text(dump(Path(folder) / "store.db"), "utf-8")
    print(f"{target.name} written")


if __name__ == "__main__":
    main()

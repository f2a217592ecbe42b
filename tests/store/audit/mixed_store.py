"""A store with a mixture of calls in every state, sealed, for audits to be tried on."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from perdure.journal import Origin
from perdure.kernel.kernel import Kernel, Prepared
from perdure.kernel.ports import Attachments, EntityWrite, IndexRow
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import Failure
from perdure.sources import SECOND, Id, SystemSources
from perdure.store.audit import Report, verify
from perdure.store.driver_selection import open_driver
from perdure.store.sealer import Sealer
from perdure.store.signing_keys import SigningKey
from perdure.store.store import Store
from perdure.verb_contract import RetryPolicy

ORIGIN = Origin("default", "ada", "trace-1")
DEFINITION = sha256(b"definition").digest()
MACHINES = {"runbook": RunbookMachine()}
POLICY = RetryPolicy(max_attempts=3)
TRANSIENT = Failure("transient_external", "busy", "The other side was busy.")
BROKEN = Failure("permanent_contract", "contract", "The answer had the wrong form.")
REFUSED = Failure("permanent_business", "refused", "They said no.")


class World:
    """An open store, its kernel and its sealing key."""

    def __init__(self, store: Store, sources: SystemSources, key: SigningKey) -> None:
        self.store = store
        self.sources = sources
        self.key = key
        self.kernel = Kernel(store, MACHINES, sources)
        self.sealer = Sealer(store, key, sources)
        self.calls: dict[str, Id] = {}

    async def start(self, name: str, outcome: c.AttemptOutcome | None, worker: int = 0) -> Id:
        id, data = self.sources.new_id(), f'{{"name":"{name}"}}'.encode()
        payloads = [(sha256(data).digest(), data)]
        if isinstance(outcome, c.Done):
            outcome, result = result_of(name)
            payloads.append(result)
        command = c.StartCall("bench.step", 1, DEFINITION, payloads[0][0], worker=worker, outcome=outcome)
        brought = Attachments(payloads=payloads, index=[IndexRow("bench.step", "name", name)])
        answer = await self.kernel.start("runbook", id, ORIGIN, Prepared(command, brought))
        assert answer.answer == "applied"
        self.calls[name] = id
        return id

    async def ask(self, id: Id, command: c.Command, brought: Attachments | None = None) -> None:
        await self.kernel.ask("runbook", id, ORIGIN, Prepared(command, brought))

    async def complete(self, id: Id, name: str) -> None:
        done, payload = result_of(name)
        await self.ask(id, c.Complete(1, 1, done.result, message_id=name), Attachments(payloads=[payload]))

    async def seal(self) -> None:
        await self.sealer.seal_all()

    async def verify(self, **options: bool) -> Report:
        return await verify(self.store, MACHINES, self.key.public_keys, **options)  # type: ignore[arg-type]


def result_of(name: str) -> tuple[c.Done, tuple[bytes, bytes]]:
    data = f'{{"result":"{name}"}}'.encode()
    return c.Done(sha256(data).digest()), (sha256(data).digest(), data)


async def fill(world: World) -> None:
    """Calls completed at once, parked, completed, failed, retried, cancelled, stuck, leased, ready and erased."""
    park = c.Park("bench.wait", timeout_seconds=86400.0)
    await world.start("completed", c.Done(b""))
    await world.start("parked", park)
    await world.start("keyed", c.Park("bench.wait", key="order-7"))
    resumed = await world.start("resumed", park)
    await world.ask(resumed, c.PostProgress(1, "half way"))
    await world.complete(resumed, "resumed")
    await world.start("failed", c.Fail(REFUSED, POLICY))
    await world.start("retrying", c.Fail(TRANSIENT, POLICY))
    await world.start("stuck", c.Fail(BROKEN, POLICY))
    cancelled = await world.start("cancelled", park)
    await world.ask(cancelled, c.Cancel("no longer needed"))
    await world.start("ready", None)
    await world.start("leased", None, worker=1)
    erased = await world.start("erased", c.Done(b""))
    await world.ask(erased, c.Erase("retention"), Attachments(erases=True))
    write = EntityWrite("customer", "7", 0, b'{"name":"Ada"}', False, "ada")
    noted = await world.start("noted", park)
    await world.ask(noted, c.PostProgress(1, "looked at"), Attachments(entities=[write]))
    await world.ask(resumed, c.Complete(1, 1, b"x" * 32, message_id="late"))


@asynccontextmanager
async def open_world(url: str, key: SigningKey | None = None) -> AsyncIterator[World]:
    driver, sources = open_driver(url), SystemSources()
    await driver.open()
    try:
        store = Store(driver, sources)
        driver.fence = await store.add_worker("host", "process", 60 * SECOND)
        world = World(store, sources, key or SigningKey(Ed25519PrivateKey.generate()))
        yield world
        await world.kernel.drain()
    finally:
        await driver.close()


def path_of(url: str) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def copy_of(source: Path, target: Path) -> str:
    """A copy of a SQLite file that nobody has open; returns its url."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{target}{suffix}").unlink(missing_ok=True)
    target.write_bytes(source.read_bytes())
    return f"sqlite:///{target}"


def tamper(path: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    """Change rows behind the platform's back."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for sql, parameters in statements:
            connection.execute(sql, parameters)
    finally:
        connection.close()
    assert os.path.getsize(path)

"""A store with rows in every table, at least two where rows can be exchanged, sealed: for somebody to tamper with."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256

from perdure.documents.machine import commands as d
from perdure.documents.machine.document_machine import DocumentMachine
from perdure.documents.machine.document_state import Blob
from perdure.documents.machine.text_words import text_words
from perdure.errors import QuarantinedError
from perdure.kernel.kernel import Kernel, Prepared
from perdure.kernel.ports import DEAD, PENDING, Attachments, EntityWrite, InboxRow, IndexRow, Unit
from perdure.runbooks.machine import commands as c
from perdure.sources import SECOND, Id
from perdure.store.audit import Anchor, Report, verify
from perdure.work.ports import Answered, Claim
from tests.conformance.stores import Raw
from tests.kernel.test_parts import BoardMachine, Grown, Painted
from tests.store.audit.mixed_store import (
    BROKEN,
    DEFINITION,
    MACHINES,
    ORIGIN,
    POLICY,
    World,
    fill,
    open_world,
    result_of,
)

TENANT = ORIGIN.tenant
EVERY_MACHINE = {**MACHINES, "board": BoardMachine(), "document": DocumentMachine()}
SHADOWS = "document_text_"
"""The beginning of the tables in which SQLite keeps an index of words; `document_text` stands for them."""
DAMAGED = (b"damaged one.....", b"damaged two.....")


class Evidence:
    """An open store, and the last seal as somebody noted it elsewhere."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.noted = Anchor(0, "")

    async def verify(self) -> Report:
        return await verify(
            self.world.store, EVERY_MACHINE, self.world.key.public_keys, anchor=self.noted, dry=True
        )  # fmt: skip


@asynccontextmanager
async def evidence(url: str) -> AsyncIterator[Evidence]:
    async with open_world(url) as world:
        found = Evidence(world)
        await fill(world)
        await _fill_aggregates(world)
        await _fill_messages(world)
        await _fill_others(world)
        for name in ("first", "second"):
            await add_document(world, name)
        await world.seal()
        await world.start("later", c.Park("bench.wait", timeout_seconds=60.0))
        await world.seal()
        found.noted = Anchor(*(await verify(world.store, EVERY_MACHINE, world.key.public_keys, dry=True)).last_seal)
        yield found


async def _fill_aggregates(world: World) -> None:
    world.kernel = Kernel(world.store, EVERY_MACHINE, world.sources)
    board = world.sources.new_id()
    await world.kernel.start("board", board, ORIGIN, Prepared(Grown(20)))
    await world.kernel.ask("board", board, ORIGIN, Prepared(Painted(1, 5)))
    for name in ("keyed one", "keyed two"):
        await start_keyed(world, name)
    for name in ("stuck again", "leased again"):
        await world.start(name, c.Fail(BROKEN, POLICY) if name.startswith("stuck") else None, worker=1)
    noted = world.calls["noted"]
    for customer in ("8", "9"):
        write = EntityWrite("customer", customer, 0, f'{{"name":"{customer}"}}'.encode(), False, "ada")
        await world.ask(noted, c.PostProgress(1, customer), Attachments(entities=[write]))
    change = EntityWrite("customer", "8", 1, b'{"name":"eight"}', False, "eve")
    await world.ask(noted, c.PostProgress(1, "changed"), Attachments(entities=[change]))


async def start_keyed(world: World, name: str) -> Id:
    """A call asked for under an idempotency key."""
    id, data = world.sources.new_id(), f'{{"name":"{name}"}}'.encode()
    hash = sha256(data).digest()
    done, result = result_of(name)
    command = c.StartCall("bench.step", 1, DEFINITION, hash, outcome=done, idempotency_key=name)
    brought = Attachments(
        payloads=[(hash, data), result], index=[IndexRow("bench.step", "name", name)], idempotency=(name, hash)
    )
    await world.kernel.start("runbook", id, ORIGIN, Prepared(command, brought))
    return id


async def add_document(world: World, name: str) -> Id:
    """A document whose version has data and a blob, verified."""
    id, details, data = world.sources.new_id(), b'{"name":"a.pdf","source_ref":""}', f'{{"title":"{name}"}}'.encode()
    parts = f'["{name}"]'.encode()
    hashes = [sha256(each).digest() for each in (details, data, parts)]
    blob = Blob(sha256(name.encode()).digest(), 5, "application/pdf", hashes[2])
    now = world.sources.now()
    version = d.NewVersion(details=hashes[0], data=hashes[1], blob=blob, valid_until=now * 2, found_at=now)
    texts = [(0, text_words("form", name, ())), (1, text_words("form", name, (details, data)))]
    brought = Attachments(payloads=list(zip(hashes, (details, data, parts), strict=True)), texts=texts)
    create = d.CreateDocument(type="form", subject=name, version=version)
    await world.kernel.start("document", id, ORIGIN, Prepared(create, brought))
    await world.kernel.ask("document", id, ORIGIN, Prepared(d.VerifyVersion(number=1, rule=d.DecisionRule())))
    return id


async def _fill_messages(world: World) -> None:
    now = world.sources.now()
    for name, status in (("dead one", DEAD), ("dead two", DEAD), ("kept", PENDING), ("settled", PENDING)):
        expires_at = now + 3600 * SECOND if status == PENDING else 0
        row = InboxRow(TENANT, name, "message", "k", now, status, "", None, name.encode(), "m", expires_at)
        await world.store.commit(Unit(TENANT, None, attachments=[Attachments(inbox=row)], at=now))
    await world.store.commit(Unit(TENANT, None, attachments=[Attachments(settles=(TENANT, "settled"))], at=now))
    parked = world.calls["parked"]
    arrival = InboxRow(TENANT, "told", "completion", "", now, 1, "duplicate", parked, None)
    await world.ask(parked, c.PostProgress(1, "told"), Attachments(inbox=arrival, settles=(TENANT, "kept")))


async def _fill_others(world: World) -> None:
    store, now = world.store, world.sources.now()
    for name in ("one", "two"):
        body = f'{{"name":"{name}"}}'.encode()
        await store.add_definition(sha256(body).digest(), len(name), name, 1, body)
        await store.cursors.put(TENANT, f"hook:{name}", f"cursor {name}")
        await store.outbox.put(TENANT, f"effect {name}", "row", f"{name}@example.com", name, body.decode())
        claim = Claim(sha256(body).digest(), name.encode(), now, now - 60 * SECOND)
        assert await store.answers.claim(TENANT, "ada", name, claim) is None
        assert await store.answers.settle(TENANT, "ada", name, name.encode(), Answered(claim.request, 200, body, now))
    await store.serve(world.store.driver.fence, [3, 5])
    other = await store.add_worker("other host", "other process", 60 * SECOND)
    await store.serve(other, [7])
    for aggregate in DAMAGED:
        await store.quarantine(QuarantinedError("read", "call", "x", "damaged", aggregate=aggregate, place="aggregate"))


def columns_of(raw: Raw, table: str) -> list[str]:
    if not raw.is_postgres:
        return [str(row[1]) for row in raw(f"PRAGMA table_info({table})")]
    asked = "SELECT column_name FROM information_schema.columns WHERE table_name = ? ORDER BY ordinal_position"
    return [str(name) for (name,) in raw(asked, table)]


def tables_of(raw: Raw) -> set[str]:
    asked = (
        "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        if raw.is_postgres
        else "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return {name for (name,) in raw(asked) if not name.startswith(SHADOWS)}

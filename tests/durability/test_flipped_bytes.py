"""Flipped bytes anywhere in a SQLite file: no answer changes in silence, and none ends in an exception of Python."""

from __future__ import annotations

import random
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from perdure import Perdure
from perdure.app.runbooks.timeline import timeline_of
from perdure.errors import PerdureError
from perdure.store.audit import verify
from perdure.store.database_check import check_database
from perdure.surfaces.cli.exit_codes import INTERNAL, exit_code
from tests.durability.platform import opened, plain_driver
from tests.engines.embedded.engine_world import ORIGIN
from tests.engines.embedded.process_models import line, message, wait
from tests.on_disk import postgres_server, postgres_template, store_folder

__all__ = ["postgres_server", "postgres_template", "store_folder"]

WAITING = line("waiting", wait("asked", "m"), messages=(message("m", key="k-1"),))


class Known(NamedTuple):
    """The ids that questions are about."""

    done: str
    parked: str
    started: str
    instance: str


Question = Callable[[Perdure, Known], Awaitable[Any]]


async def made(url: str) -> Known:
    """A store with something of everything."""
    async with opened(plain_driver(url), role="caller") as perdure:
        await perdure.runtime.engine.deploy(WAITING, ORIGIN)
        done = await perdure.call("t.wait")
        await perdure.complete(done.id, {"done": "Ana Lund"}, message_id="message-1")
        parked = await perdure.call("t.timed")
        started = await perdure.call("t.wait", idempotency_key="start-1")
        await perdure.call("t.contract")
        await perdure.call("t.refused")
        await perdure.call("t.store", {"id": "one"})
        await perdure.complete("nobody", {"lost": 1}, message_id="letter-1")
        instance = await perdure.instances.start("waiting", {"given": 1}, business_key="case-1")
        await perdure.publish("m", "k-2", {"kept": 1}, message_id="kept-1", ttl_seconds=10**6)
        for number in range(12):
            await perdure.call("t.wait", idempotency_key=f"many-{number}")
        return Known(done.id, parked.id, started.id, instance.id)


async def _events(perdure: Perdure, known: Known) -> Any:
    return [event async for event in perdure.events(known.done)]


async def _timeline(perdure: Perdure, known: Known) -> Any:
    return (await timeline_of(perdure, known.done)).steps


async def _overview(perdure: Perdure, known: Known) -> Any:
    told = await perdure.overview()
    return (told.stuck, told.running, told.waits)


QUESTIONS: dict[str, Question] = {
    "status": lambda perdure, known: perdure.status(known.done),
    "status of what waits": lambda perdure, known: perdure.status(known.parked),
    "events": _events,
    "timeline": _timeline,
    "instance": lambda perdure, known: perdure.instances.get(known.instance),
    "calls": lambda perdure, known: perdure.listing.calls(limit=50),
    "parked calls": lambda perdure, known: perdure.listing.calls(state="parked", limit=50),
    "parked": lambda perdure, known: perdure.listing.parked(),
    "instances": lambda perdure, known: perdure.listing.instances(),
    "instances of a process": lambda perdure, known: perdure.listing.instances(process="waiting"),
    "incidents": lambda perdure, known: perdure.listing.incidents(),
    "dead letters": lambda perdure, known: perdure.listing.dead_letters(),
    "processes": lambda perdure, known: perdure.processes.list(),
    "records": lambda perdure, known: perdure.look_up("ledger", "one"),
    "overview": _overview,
    "an honest retry": lambda perdure, known: perdure.call("t.wait", idempotency_key="start-1"),
    "a message again": lambda perdure, known: perdure.complete(known.done, {"done": 2}, message_id="message-1"),
    "a message that fits": lambda perdure, known: perdure.correlate("m", "k-1", message_id="fits-1"),
}


class Failed(NamedTuple):
    """A question that was refused, with the exit code of its command."""

    code: int
    text: str


async def answers(url: str, known: Known) -> dict[str, Any]:
    """Every question with its answer; what is refused, and how, is an answer too."""
    try:
        async with opened(plain_driver(url), role="caller") as perdure:
            return {name: await answered(ask, perdure, known) for name, ask in QUESTIONS.items()}
    except PerdureError as error:
        return dict.fromkeys(QUESTIONS, Failed(exit_code(error), str(error)))


async def answered(ask: Question, perdure: Perdure, known: Known) -> Any:
    try:
        return msgspec.to_builtins(await ask(perdure, known))
    except PerdureError as error:
        return Failed(exit_code(error), str(error))


async def is_told(url: str) -> bool:
    """Whether the database's own check or the audit says that something is wrong."""
    if (await check_database(url)).findings:
        return True
    try:
        async with opened(plain_driver(url), role="reader") as perdure:
            return not (await verify(perdure.runtime.store, perdure.runtime.machines, {}, dry=True)).is_clean
    except PerdureError as error:
        return exit_code(error) != INTERNAL


def flipped(data: bytes, seed: int) -> bytes:
    """The file with one byte changed: every second time one that is in use."""
    chance = random.Random(seed)
    place = chance.randrange(len(data))
    while seed % 2 and not data[place]:
        place = chance.randrange(len(data))
    changed = bytearray(data)
    changed[place] ^= chance.randrange(1, 256)
    return bytes(changed)


def damage(original: Path, copy: Path, seed: int) -> None:
    """A fresh copy with one byte changed."""
    for leftover in copy.parent.glob(f"{copy.name}*"):
        leftover.unlink()
    copy.write_bytes(flipped(original.read_bytes(), seed))


@pytest.mark.req("P7")
@pytest.mark.parametrize(
    "seeds",
    [
        pytest.param(range(30), id="30 bytes"),
        *(pytest.param(range(n, n + 50), id=f"bytes from {n}", marks=pytest.mark.deep) for n in range(0, 500, 50)),
    ],
)
async def test_no_answer_changes_in_silence_when_a_byte_does(seeds: range, tmp_path: Path, store_folder: Path) -> None:
    original, copy = store_folder / "store.db", store_folder / "copy.db"
    known = await made(f"sqlite:///{original}")
    shutil.copy(original, copy)
    expected = await answers(f"sqlite:///{copy}", known)
    assert not [name for name, answer in expected.items() if isinstance(answer, Failed)]
    for seed in seeds:
        damage(original, copy, seed)
        found = await answers(f"sqlite:///{copy}", known)
        broken = [name for name, answer in found.items() if isinstance(answer, Failed) and answer.code == INTERNAL]
        assert not broken, f"seed {seed}: {broken[0]} ended with {found[broken[0]]}"
        changed = [
            name for name, answer in found.items()
            if answer != expected[name] and not isinstance(answer, Failed) and "quarantined" not in str(answer)
        ]  # fmt: skip
        if changed:
            damage(original, copy, seed)
            assert await is_told(f"sqlite:///{copy}"), f"seed {seed}: nothing tells that {changed} changed"

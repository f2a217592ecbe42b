"""The load that is killed: clients of every kind of verb, who note what was acknowledged before anything else."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from perdure import Perdure
from perdure.app.calls.views import CallView
from perdure.errors import RejectedError, StoreUnavailableError, Transient
from perdure.kernel.ports import Told, Unit, Verdict
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.verbs import Call, Catalogue, load_text

DEFINITIONS = """
entities:
  ledger: {fields: {id: {type: string}, total: {type: integer}}, key: [id]}
verbs:
- {name: k.none, input_schema: {properties: {n: {type: string}}}, execution: {kind: sync, effects: none}}
- {name: k.external, input_schema: {properties: {n: {type: string}}}, execution: {kind: sync, effects: external}}
- name: k.cautious
  input_schema: {properties: {n: {type: string}}}
  execution: {kind: sync, effects: external, redelivery: incident}
- {name: k.store, input_schema: {properties: {n: {type: string}}}, execution: {kind: sync, effects: store}}
- name: k.flaky
  input_schema: {properties: {n: {type: string}}}
  execution: {kind: sync, effects: external, retry: {max_attempts: 3, base_delay: PT0.02S, jitter: 0}}
- name: k.contract
  input_schema: {properties: {n: {type: string}}}
  output_schema: {required: [n], properties: {n: {type: string}}}
  execution: {kind: sync, effects: external}
- {name: k.wait, input_schema: {properties: {n: {type: string}}}, execution: {kind: durable}}
- {name: k.spawn, input_schema: {properties: {n: {type: string}}}, execution: {kind: durable, effects: external}}
- name: k.timed
  input_schema: {properties: {n: {type: string}}}
  execution: {kind: durable, policy: {timeout: PT0.03S}}
- name: k.escalating
  input_schema: {properties: {n: {type: string}}}
  execution: {kind: durable, policy: {timeout: PT0.03S, escalation: k.rescue}}
- {name: k.rescue, input_schema: {properties: {n: {type: string}}}, execution: {kind: sync, effects: external}}
"""
CLIENTS = 4
SWEPT = 5

KINDS = (
    "StartCall:StepCompleted", "StartCall:AttemptStarted", "StartCall:StepParked", "RecordAttempt:StepCompleted",
    "RecordAttempt:StepParked", "RecordAttempt:AttemptFailed", "RecordAttempt:IncidentRaised", "Complete:StepCompleted",
    "FireTimer:StepFailed", "FireTimer:Escalated", "FireTimer:AttemptStarted", "Cancel:CallCancelled",
    "LeaseJob:AttemptStarted", "LeaseJob:IncidentRaised", "RetryIncident:AttemptStarted",
    "ResolveIncident:StepCompleted", "PostProgress:ProgressPosted",
)  # fmt: skip
"""Every kind of commit of the load: the command, and the last thing it did."""


class Order(msgspec.Struct, frozen=True):
    """One life: which store, where to note things, and where to stop: the `nth` time `kind` is reached on `side`."""

    url: str
    folder: str
    life: int
    seed: int
    kind: str = ""
    side: str = ""
    nth: int = 1


class Note(msgspec.Struct, omit_defaults=True):
    """One line of what a client knows: that it asked, what it was told, what went wrong."""

    what: str
    verb: str = ""
    key: str = ""
    id: str = ""
    state: str = ""
    result: Any = None


def catalogue() -> Catalogue:
    return load_text(DEFINITIONS)


def notes_path(folder: str, life: int) -> Path:
    return Path(folder) / f"notes-{life:04}.jsonl"


def effects_path(folder: str) -> Path:
    return Path(folder) / "effects.txt"


def read_notes(path: Path) -> list[Note]:
    return [msgspec.json.decode(line, type=Note) for line in path.read_bytes().splitlines()] if path.exists() else []


class Effects:
    """The world outside: every run of an external handler leaves one line with its key."""

    def __init__(self, folder: str, on_run: Callable[[str], None] = lambda verb: None) -> None:
        self._on_run = on_run
        self._file = os.open(effects_path(folder), os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def bound(self) -> dict[str, Callable[..., Any]]:
        external = {f"k.{name}": self.external for name in ("external", "cautious", "spawn", "rescue")}
        return {
            **external, "k.none": self.none, "k.store": self.store, "k.flaky": self.flaky, "k.contract": self.contract,
        }  # fmt: skip

    def happen(self, call: Call) -> None:
        os.write(self._file, f"{call.verb} {call.idempotency_key}\n".encode())
        self._on_run(call.verb)

    async def none(self, call: Call) -> dict[str, Any]:
        return {"n": call.args["n"]}

    async def store(self, call: Call) -> dict[str, Any]:
        await call.entities.create("ledger", {"id": call.args["n"], "total": 1})
        return {"n": call.args["n"]}

    def external(self, call: Call) -> dict[str, Any]:
        self.happen(call)
        return {"n": call.args.get("n", "")}

    async def flaky(self, call: Call) -> dict[str, Any]:
        self.happen(call)
        if call.attempt < 3:
            raise Transient("not yet")
        return {"n": call.args["n"]}

    async def contract(self, call: Call) -> dict[str, Any]:
        self.happen(call)
        return {} if call.attempt == 1 else {"n": call.args["n"]}


class Load:
    """One life of the load: goes on until the process is killed."""

    def __init__(self, order: Order, events: int) -> None:
        self.order = order
        self._events = events
        self._file = os.open(notes_path(order.folder, order.life), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._codec = RunbookMachine().records
        self._left = order.nth
        self._count = 0
        self._owed = unanswered(read_notes(notes_path(order.folder, order.life - 1)))
        for note in self._owed:
            self.note(note)  # a client remembers what it asked, however short this life is

    def tell(self, line: str) -> None:
        os.write(self._events, f"{line}\n".encode())

    def note(self, note: Note) -> None:
        os.write(self._file, msgspec.json.encode(note) + b"\n")

    async def live(self, definitions: Catalogue) -> None:
        order = self.order
        handlers = Effects(order.folder, lambda verb: self._reached("running", [verb])).bound()
        key_file = Path(order.folder) / "seal.key"
        async with Perdure.open(
            order.url, definitions=definitions, handlers=handlers, seal_key_file=key_file
        ) as perdure:
            self._watch_commits(perdure.runtime.driver)
            self.tell("ready")
            chance = random.Random(order.seed)
            clients = [self._client(perdure, random.Random(chance.random())) for _ in range(CLIENTS)]
            await asyncio.gather(self._ask_again(perdure), self._sweep(perdure), *clients)

    # --- the moment of death -------------------------------------------------------------------------------------

    def _watch_commits(self, driver: Any) -> None:
        submit: Callable[[Unit, Told], None] = driver.submit

        def watched(unit: Unit, told: Told) -> None:
            kinds = [self._kind(record.body) for record in unit.records]

            def reached(verdict: Verdict) -> None:
                if verdict is None:
                    self._reached("after", kinds)
                told(verdict)

            self._reached("before", kinds)
            submit(unit, reached)

        driver.submit = watched

    def _kind(self, body: bytes) -> str:
        record = self._codec.decode(body)
        return f"{record.command}:{type(record.entries[-1]).__name__}"

    def _reached(self, side: str, kinds: list[str]) -> None:
        for kind in kinds:
            self.tell(f"{side} {kind}")
            if (kind, side) == (self.order.kind, self.order.side):
                self._left -= 1
                if not self._left:
                    self.tell("stopped")
                    os.kill(os.getpid(), signal.SIGSTOP)  # the parent kills what stands still exactly here

    # --- clients -------------------------------------------------------------------------------------------------

    async def _client(self, perdure: Perdure, chance: random.Random) -> None:
        for act in _decks(chance):
            await self._tried(act(self, perdure))

    async def _tried(self, action: Awaitable[None]) -> None:
        try:
            await action
        except StoreUnavailableError:
            return  # a client that was told nothing knows nothing; it asks again in the next life
        except RejectedError as error:
            self.note(Note("refused", key=error.rejection.code, state=str(error)))
        except Exception as error:
            self.note(Note("trouble", state=f"{type(error).__name__}: {error}"))

    async def _ask_again(self, perdure: Perdure) -> None:
        """What the last life asked and was not told, under the same keys."""
        for note in self._owed:
            await self._tried(self._again(perdure, note))

    async def _again(self, perdure: Perdure, note: Note) -> None:
        await self.ask(perdure, note.verb, note.key)

    async def _sweep(self, perdure: Perdure) -> None:
        """Waits that earlier lives left behind are completed by this one."""
        for row in await perdure.parked(limit=SWEPT):
            waiting = row["waiting_for"]
            if row["verb"] in ("k.wait", "k.spawn") and waiting and waiting["kind"] == "completion":
                await self._tried(self.complete(perdure, waiting["key"]))

    async def ask(self, perdure: Perdure, verb: str, key: str = "") -> CallView:
        self._count += 1
        key = key or f"{self.order.life}-{self._count}"
        self.note(Note("asked", verb, key))
        view = await perdure.call(verb, {"n": key}, idempotency_key=key)
        self.note(Note("acked", verb, key, view.id, view.state, view.result))
        self.tell("acked")
        return view

    async def complete(self, perdure: Perdure, key: str) -> None:
        receipt = await perdure.complete(key, {"done": key}, message_id=f"m-{key}")
        if receipt.call is not None and receipt.call.state == "completed":
            self.note(Note("completed", receipt.call.verb, key, receipt.call.id, "completed", receipt.call.result))


def unanswered(notes: list[Note]) -> list[Note]:
    acked = {note.key for note in notes if note.what == "acked"}
    asked = {note.key: note for note in notes if note.what == "asked"}
    return [note for key, note in asked.items() if key not in acked]


Act = Callable[[Load, Perdure], Awaitable[None]]


def just(verb: str) -> Act:
    async def act(load: Load, perdure: Perdure) -> None:
        await load.ask(perdure, verb)

    return act


async def park_and_complete(load: Load, perdure: Perdure) -> None:
    view = await load.ask(perdure, "k.wait")
    if view.waiting_for is not None:
        await load.complete(perdure, view.waiting_for.key)
        await load.complete(perdure, view.waiting_for.key)


async def spawn_and_complete(load: Load, perdure: Perdure) -> None:
    view = await load.ask(perdure, "k.spawn")
    if view.waiting_for is not None:
        await load.complete(perdure, view.waiting_for.key)


async def park_and_cancel(load: Load, perdure: Perdure) -> None:
    view = await perdure.cancel((await load.ask(perdure, "k.wait")).id, "no longer wanted")
    load.note(Note("cancelled", view.verb, "", view.id, view.state))


async def park_and_tell(load: Load, perdure: Perdure) -> None:
    view = await load.ask(perdure, "k.wait")
    if view.waiting_for is not None:
        text = f"half of {view.id}"
        await perdure.progress(view.waiting_for.key, text)
        load.note(Note("progress", view.verb, text, view.id))


async def stuck_and_retried(load: Load, perdure: Perdure) -> None:
    view = await perdure.retry((await load.ask(perdure, "k.contract")).id)
    load.note(Note("acked", view.verb, "", view.id, view.state, view.result))


async def stuck_and_resolved(load: Load, perdure: Perdure) -> None:
    view = await perdure.resolve((await load.ask(perdure, "k.contract")).id, {"n": "by hand"})
    load.note(Note("acked", view.verb, "", view.id, view.state, view.result))


ACTS: tuple[Act, ...] = (
    just("k.none"), just("k.external"), just("k.cautious"), just("k.cautious"), just("k.store"), just("k.flaky"),
    just("k.timed"), just("k.escalating"), park_and_complete, spawn_and_complete, park_and_cancel, park_and_tell,
    stuck_and_retried, stuck_and_resolved,
)  # fmt: skip


def _decks(chance: random.Random) -> Iterator[Act]:
    """Every act soon, in another order each time."""
    while True:
        yield from chance.sample(ACTS, len(ACTS))


def serve(events: int) -> None:
    """Fork one life for each order on standard input, say its pid, and say when it has ended."""
    definitions = catalogue()
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=Order)
        pid = os.fork()
        if pid == 0:
            asyncio.run(Load(order, events).live(definitions))
            os._exit(0)
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]))

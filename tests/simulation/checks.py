"""What must be true at the end, when everything has come to rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from perdure.payload import parse
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import ENDED, WAITING, Runbook
from perdure.sources import Id, id_text, parse_id
from perdure.store.audit import verify
from tests.simulation.clients import REFUSED, Clients
from tests.simulation.history import Told
from tests.simulation.program import TENANT, Program
from tests.simulation.verbs import RUNS_BEFORE_ITS_START, Run
from tests.simulation.world import World

BY_A_RUN = ("StartCall", "RecordAttempt")


class Checks:
    """Compares what clients were told, what handlers did, what was committed, and what is stored."""

    def __init__(self, world: World, clients: Clients, program: Program) -> None:
        self._world = world
        self._clients = clients
        self._program = program
        self._machine = RunbookMachine()
        self._runs: dict[str, list[Run]] = {}
        for run in world.handlers.runs:
            self._runs.setdefault(run.call, []).append(run)

    async def all(self) -> None:
        self._keys()
        for told in self._world.history.calls.values():
            await self._call(told)
        await self._answers()
        await self._leftovers()
        report = await verify(self._world.store, {RunbookMachine.kind: self._machine}, {}, dry=True)
        for finding in report.findings[:3]:
            self._wrong(f"the audit found {finding.code}: {finding.sentence} ({finding.aggregate})")

    def _wrong(self, text: str) -> None:
        self._world.violated(text)

    def _keys(self) -> None:
        """One call for each idempotency key, and every acknowledged one is there."""
        calls = self._world.history.calls
        for key, count in Counter(told.key for told in calls.values() if told.key).items():
            if count > 1:
                self._wrong(f"the key {key} stands for {count} calls")
        for asked in self._program.asked:
            if any(answer is not REFUSED for answer in asked.start.answers) and parse_id(asked.id) not in calls:
                self._wrong(f"start {asked.key} was acknowledged and is missing")
        for letters in self._program.loose:
            if parse_id(letters) not in calls:
                self._wrong(f"call {letters} was acknowledged and is missing")

    # --- one call ------------------------------------------------------------------------------------------------

    async def _call(self, told: Told) -> None:
        loaded = await self._world.store.load(Id(told.id))
        if loaded is None:
            self._wrong(f"{told.name} was committed and is missing")
            return
        state: Runbook = self._machine.decode(loaded.state)
        if loaded.version != told.version:
            self._wrong(f"{told.name} is stored at version {loaded.version} and was committed at {told.version}")
        if state.status not in ENDED:
            self._wrong(f"{told.name} is stuck: {state.status}, step {state.steps[0].status}")
            return
        ends = sum(isinstance(entry, (e.StepCompleted, e.StepFailed, e.CallCancelled)) for _, entry in told.entries)
        if ends != 1:
            self._wrong(f"{told.name} ended {ends} times")
        if any(token.status == WAITING for token in state.steps[0].tokens):
            self._wrong(f"{told.name} has ended and still waits")
        self._handler_runs(told)
        if not state.erased_at:
            await self._result(told)

    async def _result(self, told: Told) -> None:
        """The result is that of exactly one run, or of exactly one completion."""
        assert told.end is not None
        command, entry = told.end
        if not isinstance(entry, e.StepCompleted):
            return
        data = await self._world.store.payload(Id(told.id), entry.result)
        value: Any = parse(data) if data is not None else None
        if command in BY_A_RUN:
            run = self._world.handlers.runs[value["run"]]
            if run.call != id_text(told.id) or not run.is_finished:
                self._wrong(f"{told.name} has the result of run {run.number}, which is {run}")
        elif command == "Complete":
            self._completion(told, value)

    def _completion(self, told: Told, value: Any) -> None:
        received = [entry for _, entry in told.entries if isinstance(entry, e.CompletionReceived)]
        if len(received) != 1:
            self._wrong(f"{told.name} was completed {len(received)} times")
        message = received[0].message_id
        if message.startswith("m") and message not in value.values():
            self._wrong(f"{told.name} was completed by {message} and has the result {value}")

    def _handler_runs(self, told: Told) -> None:
        """Every run has its own committed intent, except where the verb has no effects."""
        runs = self._runs.get(id_text(told.id), [])
        keys = {run.key for run in runs}
        if len(keys) > 1 or keys - {f"{id_text(told.id)}:1"}:
            self._wrong(f"{told.name} ran under the keys {sorted(keys)}")
        allowed = told.count(e.AttemptStarted)
        if told.verb in RUNS_BEFORE_ITS_START:
            allowed += next((asked.start.tries for asked in self._program.asked if asked.key == told.key), 1)
        if len(runs) > allowed:
            self._wrong(f"{told.name} ran {len(runs)} times for {allowed} intents")
        if told.verb == "s.cautious":
            by_hand = sum(isinstance(entry, e.IncidentResolved) and entry.how == "retried" for _, entry in told.entries)
            if len(runs) > 1 + by_hand:
                self._wrong(f"{told.name} ran {len(runs)} times and was retried by hand {by_hand} times")

    # --- answers -------------------------------------------------------------------------------------------------

    async def _answers(self) -> None:
        for thing in self._clients.sent:
            if not thing.answers:
                if thing.is_repeatable:
                    self._wrong(f"{thing.name} was never answered")
                continue
            given = [answer for answer in thing.answers if answer is not REFUSED]
            if given and thing.name.startswith("complete"):
                await self._completed(thing.name, given)
            elif given and thing.call:
                self._done(thing.name, self._world.history.calls[parse_id(thing.call)])

    async def _completed(self, name: str, receipts: list[Any]) -> None:
        """Once for its message id; without one, once for each wait that was open under the key."""
        applied = [receipt for receipt in receipts if receipt.answer == "applied"]
        if len({receipt.message_id for receipt in applied}) < len(applied):
            self._wrong(f"{name} was applied {len(applied)} times")
        for receipt in receipts:
            if await self._world.store.message(TENANT, receipt.message_id) is None:
                self._wrong(f"{name} was acknowledged and is not in the inbox")
        for receipt in applied:
            if receipt.message_id not in self._world.history.received and "expired" not in name:
                self._wrong(f"{name} was acknowledged and never received")

    def _done(self, name: str, told: Told) -> None:
        """An acknowledged operation has left its entry."""
        what, *rest = name.split()
        left: dict[str, Callable[[Any], bool]] = {
            "cancel": lambda entry: isinstance(entry, e.CallCancelled),
            "progress": lambda entry: isinstance(entry, e.ProgressPosted) and entry.text == " ".join(rest[:-1]),
            "retry": lambda entry: isinstance(entry, e.IncidentResolved) and entry.how == "retried",
            "resolve": lambda entry: isinstance(entry, e.IncidentResolved) and entry.how == "completed",
            "fail": lambda entry: isinstance(entry, e.IncidentResolved) and entry.how == "failed",
            "amend": lambda entry: isinstance(entry, e.AmendmentProposed) and entry.reason == " ".join(rest[:-1]),
            "approve": lambda entry: isinstance(entry, e.AmendmentApproved) and entry.number == int(rest[0]),
            "erase": lambda entry: isinstance(entry, e.PayloadErased),
        }
        found = sum(left[what](entry) for _, entry in told.entries)
        if not found:
            self._wrong(f"{name} was acknowledged and left nothing in the journal")
        if found > 1 and what in ("cancel", "resolve", "fail", "approve", "erase"):
            self._wrong(f"{name} happened {found} times")

    async def _leftovers(self) -> None:
        """Nothing of an ended call is still waiting for anyone."""
        observer = self._world.observer
        if rows := await observer.fetch("due_timers", after_due=0, after_aggregate=b"", until=2**62, most=5):
            self._wrong(f"timers are left: {rows}")
        if tokens := await self._world.store.parked(TENANT, 0, 5):
            self._wrong(f"tokens still wait: {tokens}")
        if messages := await self._world.store.pending_messages(0, 5):
            self._wrong(f"messages are still pending: {messages}")
        if incidents := await self._world.store.incidents(TENANT, 5):
            self._wrong(f"incidents are left: {incidents}")
        for told in self._world.history.calls.values():
            if await observer.fetch("jobs_of", aggregate=told.id):
                self._wrong(f"{told.name} has ended and still has a job")

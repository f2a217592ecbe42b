"""The world of one seed with lifecycles in it: cases that wait for documents and records, journals that are judged."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.documents.machine.document_machine import DocumentMachine
from perdure.errors import BusinessError
from perdure.kernel.ports import Unit
from perdure.lifecycles.machine import entries as e
from perdure.lifecycles.machine.definition_machine import LifecycleDefinitionMachine
from perdure.lifecycles.machine.lifecycle_machine import LifecycleMachine
from perdure.lifecycles.machine.state import Instance
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.sources import id_text
from perdure.verbs import Call, Catalogue, load_text
from tests.simulation.history import History
from tests.simulation.verbs import Handlers, Run
from tests.simulation.world import World

DEFINITIONS = """
entities:
  client:
    key: id
    fields: {id: {type: string, required: true}, risk: string}
documents:
  form:
    data_schema: {properties: {title: {type: string}}}
    retention: forever
verbs:
- name: client.create
  input_schema: {required: [id], properties: {id: {type: string}, risk: {type: string}}}
  execution: {kind: sync, handler: "crud::execute", params: {entity: client, operation: create}}
- name: client.update
  input_schema: {required: [id], properties: {id: {type: string}, risk: {type: string}}}
  execution: {kind: sync, handler: "crud::execute", params: {entity: client, operation: update}}
- name: papers.ask
  input_schema:
    required: [client]
    properties: {client: {type: string}, correlation_id: {type: string}}
    additionalProperties: false
  metadata: {creates_pending_task: true}
  execution: {kind: sync, effects: external}
"""
LIFECYCLE = """
lifecycle: case
states:
  INTAKE:
    timeout_hours: 2000
    requirements:
      - type: document_exists
        document_type: form
        status: verified
        on_fail:
          blocker:
            type: MissingForm
            resolution: "(papers.ask :client $subject)"
            auto: true
            expires: PT5H
            max_attempts: 4
  REVIEW:
    requirements:
      - {type: field_value, record: client, field: risk, equals: low}
  REOPENED:
    requirements:
      - {type: document_exists, document_type: form, status: verified}
  DONE: {terminal: true}
  DROPPED: {terminal: true}
transitions:
  - {from: INTAKE, to: REVIEW}
  - {from: REVIEW, to: REOPENED, guard: {not: {type: document_exists, document_type: form, status: verified}}}
  - {from: REOPENED, to: REVIEW}
  - {from: REVIEW, to: DONE, manual: true, guard: requirements}
  - {from: [INTAKE, REVIEW, REOPENED], to: DROPPED, manual: true, four_eyes: true}
"""
CLIENTS = ("anna", "bert", "cleo")
MACHINES = {
    RunbookMachine.kind: RunbookMachine, DocumentMachine.kind: DocumentMachine,
    LifecycleDefinitionMachine.kind: LifecycleDefinitionMachine,
}  # fmt: skip


@functools.cache
def catalogue() -> Catalogue:
    return load_text(DEFINITIONS)


class CaseHandlers(Handlers):
    """Clients are asked for their papers, and now and then cannot be reached."""

    is_calm = False

    def bound(self, worker: str) -> dict[str, Callable[..., Any]]:
        async def ask(call: Call) -> dict[str, Any]:
            run = Run(
                len(self.runs), call.verb, call.args["correlation_id"], call.idempotency_key, call.attempt, worker
            )
            self.runs.append(run)
            self._tell(f"{worker} asks {call.args['client']} under {run.call[-20:]}")
            await self._take_time()
            if not self.is_calm and self._chance.random() < 0.15:
                raise BusinessError("NO_MAILBOX", "the mailbox is gone")
            return {}

        return {"papers.ask": ask}


class CaseHistory(History):
    """Every case's journal as it is committed, replayed and judged entry by entry."""

    def __init__(self, violated: Callable[[str], None]) -> None:
        super().__init__(violated)
        self.cases: dict[bytes, Instance] = {}
        self.documents: dict[bytes, str] = {}
        """The subject of each."""
        self.asked: Counter[str] = Counter()
        """How often each correlation id was given to a task."""
        self.results: Counter[str] = Counter()
        """How often each result was counted, by its key."""
        self._machine = LifecycleMachine()
        self._codecs = {kind: machine().records for kind, machine in MACHINES.items()}

    def committed(self, process: str, fence: int, unit: Unit) -> list[str]:
        if fence in self.fenced:
            self.violated(f"lease {fence} wrote after it was taken away")
        if unit.id is None:
            return ["message"]
        codec = self._codecs.get(unit.kind, self._machine.records)
        names = []
        for row in unit.records:
            for entry in codec.decode(row.body).entries:
                names.append(type(entry).__name__)
                if unit.kind == LifecycleMachine.kind:
                    self._judge_case(unit.id, entry)
                elif unit.kind == DocumentMachine.kind and type(entry).__name__ == "DocumentCreated":
                    self.documents[unit.id] = entry.subject
        return names

    def _judge_case(self, id: bytes, entry: Any) -> None:
        before, letters = self.cases.get(id), id_text(id)
        match entry:
            case e.LifecycleStarted():
                self._check_start(letters, before, entry)
            case _ if before is None:
                self.violated(f"case {letters} was changed before it was started")
            case e.StateEntered() if before.is_over:
                self.violated(f"case {letters} entered {entry.state} after its end")
            case e.TaskRequested():
                self.asked[entry.correlation_id] += 1
                if self.asked[entry.correlation_id] > 1:
                    self.violated(f"{entry.correlation_id} was asked for twice")
            case e.TaskResultReceived():
                self._check_result(letters, before, entry)
            case e.LifecycleEnded() if before.is_over:
                self.violated(f"case {letters} ended twice")
            case _:
                pass
        self.cases[id] = self._machine.apply(before, entry)

    def _check_start(self, letters: str, before: Instance | None, entry: e.LifecycleStarted) -> None:
        if before is not None:
            self.violated(f"case {letters} was started twice")
        open_ones = [each for each in self.cases.values() if not each.is_over and each.subject == entry.subject]
        if open_ones:
            self.violated(f"case {letters} was started while another is active for {entry.subject}")

    def _check_result(self, letters: str, before: Instance, entry: e.TaskResultReceived) -> None:
        task = before.task(entry.correlation_id)
        if task is None or not task.is_open:
            self.violated(f"case {letters} counted a result for a task that is over")


class CaseWorld(World):
    """A world that runs cases."""

    def __init__(self, seed: int, folder: Path) -> None:
        super().__init__(seed, folder)
        self.catalogue = catalogue()
        self.history: CaseHistory = CaseHistory(self.violated)
        self.handlers: CaseHandlers = CaseHandlers(self.chance, self.clock, self.tell)

    async def open(self) -> None:
        await super().open()
        worker, self.is_calm = self.hosts[0], True
        worker.spare()
        await worker.run(worker.perdure.lifecycles.deploy(LIFECYCLE))
        self.is_calm = False

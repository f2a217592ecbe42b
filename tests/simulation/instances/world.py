"""The world of one seed with processes in it: random models, handlers that remember, journals that are judged."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.bpmn import model as m
from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.deployed_process import Binding, Deployed
from perdure.bpmn.machine.execution_plan import Plan
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.bpmn.machine.state import job_key
from perdure.errors import BusinessError, Transient
from perdure.kernel.ports import Unit
from perdure.payload import canonical, digest
from perdure.sources import id_text
from perdure.verbs import Call, Catalogue, Result, load_text
from tests.bpmn.machine.generator import ERRORS, FLAGS, Maker
from tests.bpmn.machine.oracles import Oracle
from tests.bpmn.machine.wide import WideMaker
from tests.simulation.history import History
from tests.simulation.verbs import Handlers, Run
from tests.simulation.world import World

VERBS = "verbs:\n- {name: p.work, execution: {kind: sync, effects: external}}\n"
KEY = "orch_key"
CHILD_NAMES = 10_000
"""Where the names of the called process begin: nobody waits for the same message twice."""


@functools.cache
def catalogue() -> Catalogue:
    return load_text(VERBS)


def deployed(seed: int) -> Deployed:
    """A random process whose waits have a key of their instance, and whose every task is the same verb."""
    maker = WideMaker(seed, 9)
    return _bound(maker, maker.process(), tuple(maker.escalations.values()))


def called(seed: int) -> Deployed:
    maker = Maker(seed, 3)
    maker._names = CHILD_NAMES
    process = maker.process()
    return _bound(maker, m.Process(id="child", body=process.body), ())


def _bound(maker: Maker, process: m.Process, escalations: tuple[m.Escalation, ...]) -> Deployed:
    key = m.Value(KEY, "flag")
    types = {getattr(node, "type", "") for node in m.nodes(process.body)}
    types |= {node.properties.get("intake", "") for node in m.nodes(process.body)}
    undoes = getattr(maker, "compensation", {})
    types |= set(undoes.values())
    binding = Binding(verb="p.work", hash=catalogue().get("p.work").content_hash)
    return Deployed(
        process=process, profile="open", is_loose=True, escalations=escalations, compensation=dict(undoes),
        messages=tuple(m.Message(id=id, name=id, correlation=key) for id in maker.messages),
        signals=tuple(maker.signals.values()), errors=tuple(maker.errors.values()),
        bindings={type: binding for type in sorted(types) if type},
    )  # fmt: skip


class InstanceHandlers(Handlers):
    """One verb for every task: it fails, refuses and sets flags as chance says, until the world is calm."""

    is_calm = False

    def bound(self, worker: str) -> dict[str, Callable[..., Any]]:
        async def run(call: Call) -> Result:
            return await self._work(worker, call)

        return {"p.work": run}

    async def _work(self, worker: str, call: Call) -> Result:
        run = Run(len(self.runs), call.verb, call.call_id, call.idempotency_key, call.attempt, worker)
        self.runs.append(run)
        self._tell(f"{worker} runs {call.idempotency_key[-20:]} attempt {call.attempt}")
        await self._take_time()
        run.is_finished = True
        luck = 1.0 if self.is_calm else self._chance.random()
        if luck < 0.08:
            raise BusinessError(self._chance.choice(ERRORS), "no")
        if luck < 0.16:
            raise Transient("not yet")
        flags: dict[str, str | bool | int] = {"orch_a": False}
        if not self.is_calm:
            flags = {name: self._chance.random() < 0.5 for name in FLAGS if self._chance.random() < 0.4}
        place = "_".join(call.idempotency_key.split("/")[1:])
        return Result({place: call.idempotency_key}, flags)


class InstanceHistory(History):
    """Every instance's journal as it is committed, read by the oracle of the pure machine."""

    def __init__(self, violated: Callable[[str], None]) -> None:
        super().__init__(violated)
        self.plans: dict[bytes, Plan] = {}
        self.instances: dict[bytes, list[Any]] = {}
        self.started: Counter[str] = Counter()
        """Per job key: the intents that were committed."""
        self.completed: Counter[str] = Counter()
        self._oracles: dict[bytes, Oracle] = {}
        self._runs: dict[tuple[bytes, int], str] = {}
        self._holders: dict[tuple[bytes, int], int] = {}
        self._elements: dict[tuple[bytes, int], str] = {}
        self._records = InstanceMachine(self.plans).records

    def knows(self, definition: Deployed) -> None:
        hash = digest(canonical(definition.content))
        self.plans[hash] = Plan(definition, hash)

    def committed(self, process: str, fence: int, unit: Unit) -> list[str]:
        if fence in self.fenced:
            self.violated(f"lease {fence} wrote after it was taken away")
        if unit.kind != InstanceMachine.kind or unit.id is None:
            return [unit.kind or "message"]
        names = []
        for row in unit.records:
            for entry in self._records.decode(row.body).entries:
                names.append(type(entry).__name__)
                self._judge_entry(unit.id, entry)
        return names

    def _judge_entry(self, id: bytes, entry: Any) -> None:
        if isinstance(entry, e.InstanceStarted):
            if id in self.instances:
                self.violated(f"instance {id_text(id)} was started twice")
            self.instances[id] = []
            self._oracles[id] = Oracle(self.plans[entry.definition])
        self.instances[id].append(entry)
        try:
            self._oracles[id].read(entry)
        except AssertionError as error:
            self.violated(f"instance {id_text(id)}: {error}")
        self._follow(id, entry)

    def _follow(self, id: bytes, entry: Any) -> None:
        """Jobs: one intent at a time, taken over only from the dead, and one result for each key."""
        place = (id, getattr(entry, "number", 0))
        match entry:
            case e.Entered():
                self._elements[place] = entry.element
            case e.JobMade():
                self._runs[place] = job_key(id_text(id), self._elements[place], entry.run)
            case e.JobStarted():
                holder = self._holders.get(place, 0)
                if holder and holder not in self.fenced:
                    self.violated(f"{self._runs[place]} was taken from lease {holder}, which is alive")
                self._holders[place] = entry.worker
                self.started[self._runs[place]] += 1
            case e.JobCompleted():
                self._holders[place] = 0
                self.completed[self._runs[place]] += 1
                if self.completed[self._runs[place]] > 1:
                    self.violated(f"{self._runs[place]} was completed twice")
            case e.JobFailed() | e.IncidentRaised():
                self._holders[place] = 0
            case _:
                pass


class InstanceWorld(World):
    """A world that carries instances of one random process and of the one it calls."""

    def __init__(self, seed: int, folder: Path) -> None:
        super().__init__(seed, folder)
        self.catalogue = catalogue()
        self.history: InstanceHistory = InstanceHistory(self.violated)
        self.handlers: InstanceHandlers = InstanceHandlers(self.chance, self.clock, self.tell)
        self.deployed = (deployed(seed), called(seed))
        for each in self.deployed:
            self.history.knows(each)

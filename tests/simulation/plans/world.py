"""The world of one seed with runbooks in it: random programs, handlers that remember, journals that are judged."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.errors import BusinessError, Transient
from perdure.kernel.ports import Unit
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.dag_progress import hangs_on, is_over
from perdure.runbooks.machine.runbook_machine import RunbookMachine
from perdure.runbooks.machine.state import ENDED, Runbook, links_of
from perdure.sources import id_text
from perdure.verbs import Call, Catalogue, Decide, load_text
from tests.simulation.history import History
from tests.simulation.verbs import Handlers, Run
from tests.simulation.world import World

VERBS = """
verbs:
- name: r.work
  input_schema: {properties: {from: {}}}
  execution: {kind: sync, effects: external, compensate: r.undo, retry: {max_attempts: 2, base_delay: PT1S}}
- {name: r.undo, execution: {kind: sync, effects: external}}
- {name: r.plain, input_schema: {properties: {from: {}}}, execution: {kind: sync, effects: none}}
- name: r.change
  input_schema: {required: [case], properties: {case: {type: string}}}
  writes: ["case/{case}"]
  execution: {kind: sync, effects: external}
- {name: r.wait, input_schema: {properties: {from: {}}}, execution: {kind: durable, policy: {timeout: PT1H}}}
- {name: r.late, execution: {kind: durable, policy: {timeout: PT30M, escalation: r.night}}}
- {name: r.night, execution: {kind: durable}}
- {name: r.decide, execution: {kind: sync, effects: none, decision: true}}
"""
STEPS = ("r.work", "r.plain", "r.change", "r.wait", "r.late", "r.decide")


@functools.cache
def catalogue() -> Catalogue:
    return load_text(VERBS)


def program(chance: random.Random, prefix: str = "s", earlier: tuple[str, ...] = ()) -> str:
    """Some steps that refer to one another, with a choice now and then."""
    lines: list[str] = []
    names = list(earlier)
    for number in range(chance.randrange(1, 4) if earlier else chance.randrange(2, 8)):
        name = f"{prefix}{number}"
        if names and not earlier and chance.random() < 0.2:
            about = chance.choice(names)
            yes, no = _step(chance, name, []), _step(chance, f"{name}x", [])
            lines.append(f"IF {about}.yes THEN\n  {yes}\nELSE\n  {no}\nEND")
            continue
        lines.append(_step(chance, name, names))
        names.append(name)
    return "\n".join(lines)


def _step(chance: random.Random, name: str, names: list[str]) -> str:
    verb = chance.choice(STEPS)
    args = f'case: "{chance.choice("ab")}"' if verb == "r.change" else ""
    if verb in ("r.work", "r.plain", "r.wait") and names and chance.random() < 0.6:
        args = f"from: {chance.choice(names)}"
    after = f" AFTER {chance.choice(names)}" if names and chance.random() < 0.3 else ""
    failure = chance.choice(["", *(f" ON FAILURE {each}" for each in ("stop", "continue", "ask", "decide r.decide"))])
    return f"LET {name} = EXEC {verb}({args}){after}{failure}"


class PlanHandlers(Handlers):
    """They fail, refuse and decide as chance says, until the world is calm."""

    is_calm = False

    def bound(self, worker: str) -> dict[str, Callable[..., Any]]:
        async def run(call: Call) -> Any:
            return await self._work(worker, call)

        return dict.fromkeys(("r.work", "r.undo", "r.plain", "r.change", "r.decide"), run)

    async def _work(self, worker: str, call: Call) -> Any:
        run = Run(len(self.runs), call.verb, call.call_id, call.idempotency_key, call.attempt, worker)
        self.runs.append(run)
        self._tell(f"{worker} runs {call.verb} {call.step_id[-8:]} attempt {call.attempt} as run {run.number}")
        await self._take_time()
        run.is_finished = True
        luck = 1.0 if self.is_calm else self._chance.random()
        if luck < 0.08:
            raise BusinessError("NO", "no")
        if luck < 0.14:
            raise Transient("not yet")
        data = {"yes": self._chance.random() < 0.5, "run": run.number}
        if call.verb != "r.decide" or luck > 0.6:
            return data
        waiting = call.context.pending_steps + call.context.next_ready_steps
        pending = [each.name for each in waiting if "/" not in each.name]
        if luck < 0.25 and pending:
            return Decide(data, skip=[self._chance.choice(pending)], reason="chance")
        if luck < 0.4:
            return Decide(data, add=f"LET d{run.number} = EXEC r.plain()")
        return Decide(data, finish=luck > 0.58, reason="chance")


class PlanHistory(History):
    """Every runbook's journal as it is committed, replayed and judged entry by entry."""

    def __init__(self, violated: Callable[[str], None]) -> None:
        super().__init__(violated)
        self.runbooks: dict[bytes, Runbook] = {}
        self.entries: dict[bytes, list[Any]] = {}
        self.started: Counter[str] = Counter()
        """Per step: the intents that were committed."""
        self._machine = RunbookMachine()
        self._locks: dict[str, tuple[bytes, int]] = {}

    def committed(self, process: str, fence: int, unit: Unit) -> list[str]:
        if fence in self.fenced:
            self.violated(f"lease {fence} wrote after it was taken away")
        if unit.id is None:
            return ["message"]
        names = []
        for row in unit.records:
            for entry in self._machine.records.decode(row.body).entries:
                names.append(type(entry).__name__)
                self._judge_entry(unit.id, entry)
        if (state := self.runbooks.get(unit.id)) is not None and state.course is not None:
            # What one commit begins and ends holds nothing: it is never run.
            self._follow_locks(unit.id, state)
        return names

    def _judge_entry(self, id: bytes, entry: Any) -> None:
        before = self.runbooks.get(id)
        if isinstance(entry, e.RunbookStarted) and before is not None:
            self.violated(f"runbook {id_text(id)} was started twice")
        if before is not None and before.course is not None:
            self._check(id, before, entry)
        self.runbooks[id] = self._machine.apply(before, entry)
        self.entries.setdefault(id, []).append(entry)

    def _check(self, id: bytes, before: Runbook, entry: Any) -> None:
        step = before.steps[entry.step - 1] if getattr(entry, "step", 0) and len(before.steps) >= entry.step else None
        place = f"{id_text(id)}:{getattr(entry, 'step', 0)}"
        match entry:
            case e.StepBegun() | e.ChoiceMade() if step is not None:
                links = links_of(step)
                if step.status != "ready":
                    self.violated(f"{place} began while {step.status}")
                missing = [each for each in links.needs if before.steps[each - 1].status != "completed"]
                if missing or not all(is_over(before.steps[each - 1]) for each in hangs_on(links)):
                    self.violated(f"{place} began before what it hangs on")
            case e.AttemptStarted() if step is not None:
                frame = step.frame
                if frame is not None and frame.status == "started" and frame.worker not in self.fenced:
                    self.violated(f"{place} was taken from lease {frame.worker}, which is alive")
                self.started[place] += 1
            case e.StepCompleted() | e.StepFailed() if step is not None and step.status in ENDED:
                self.violated(f"{place} ended as {type(entry).__name__} after it was {step.status}")
            case _:
                pass

    def _follow_locks(self, id: bytes, state: Runbook) -> None:
        for number, step in enumerate(state.steps, 1):
            for lock in links_of(step).locks:
                holder = self._locks.setdefault(lock, (id, number))
                if holder != (id, number):
                    self.violated(f"{id_text(id)}:{number} and {id_text(holder[0])}:{holder[1]} both hold {lock}")
        held = {(lock, number) for number, step in enumerate(state.steps, 1) for lock in links_of(step).locks}
        for lock, (owner, number) in list(self._locks.items()):
            if owner == id and (lock, number) not in held:
                del self._locks[lock]


class PlanWorld(World):
    """A world that runs random programs."""

    def __init__(self, seed: int, folder: Path) -> None:
        super().__init__(seed, folder)
        self.catalogue = catalogue()
        self.history: PlanHistory = PlanHistory(self.violated)
        self.handlers: PlanHandlers = PlanHandlers(self.chance, self.clock, self.tell)

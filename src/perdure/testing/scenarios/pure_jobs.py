"""Jobs of the pure world: a stub runs when its job starts, and ends at once or when its time has passed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from perdure.bpmn.machine import commands as c
from perdure.bpmn.machine import entries as e
from perdure.bpmn.machine.jobs import CONTRACT
from perdure.bpmn.machine.places import place_of
from perdure.bpmn.machine.state import ENDED, Failure, Instance, Node
from perdure.engines.embedded.merging import nested
from perdure.errors import MergeConflictError
from perdure.sources import Micros, id_text
from perdure.testing.scenarios.heads import Heads
from perdure.testing.scenarios.stubs import Stubs
from perdure.testing.scenarios.trail import Trail
from perdure.testing.scenarios.values import UNNAMED, Behaviour
from perdure.verbs.definition import VerbContract, same_verb_name

WORKER = 1


class Board(Protocol):
    """What jobs need of their world."""

    @property
    def now(self) -> Micros: ...
    @property
    def instances(self) -> dict[bytes, Instance]: ...
    @property
    def trail(self) -> Trail: ...
    def command(self, id: bytes, command: Any, by: str = "") -> None: ...


class _Running(NamedTuple):
    ends_at: Micros
    id: bytes
    node: int
    attempt: int
    does: Behaviour


class Jobs:
    """What the one worker of this world is doing."""

    def __init__(self, board: Board, stubs: Stubs, heads: Heads) -> None:
        self._board = board
        self._stubs = stubs
        self._heads = heads
        self._running: list[_Running] = []
        self._promises: dict[str, VerbContract] = {}

    def learn(self, promises: dict[str, VerbContract]) -> None:
        """What verbs promise about the flags they write."""
        self._promises |= promises

    def ends(self) -> Iterator[Micros]:
        yield from (each.ends_at for each in self._running)

    def started(self, id: bytes, entry: e.JobStarted) -> None:
        node = self._board.instances[id].nodes.get(entry.number)
        if node is None or node.job is None or node.job.attempt != entry.attempt or node.job.status != "leased":
            return
        key = node.job_key(id_text(id))
        about = (node.job.type, key, self._board.trail.execution(key))
        does, ends_at = self._stubs.take(*about), self._stubs.ends_at(*about, self._board.now)
        self._running.append(_Running(ends_at, id, entry.number, entry.attempt, does))

    def finish_due(self, now: Micros) -> bool:
        """Reports the first job whose time has come."""
        due = [each for each in self._running if each.ends_at <= now]
        if not due:
            return False
        job = min(due, key=lambda each: each.ends_at)
        self._running.remove(job)
        node = self._board.instances[job.id].nodes.get(job.node)
        outcome = self._outcome(job, node)
        self._board.command(
            job.id,
            c.RecordJob(node=job.node, attempt=job.attempt, job_worker=WORKER, outcome=outcome, worker=WORKER),
        )
        return True

    def lost(self) -> None:
        """The worker died: what it held, and what is ready, is taken by its successor."""
        self._running.clear()
        for id, state in list(self._board.instances.items()):
            if state.status in ENDED:
                continue
            for node in list(state.nodes.values()):
                if node.job is not None and node.job.status == "leased" and node.incident is None:
                    self._board.command(id, c.LeaseJob(node=node.number, worker=WORKER, abandoned=node.job.worker))

    def _outcome(self, job: _Running, node: Node | None) -> c.JobDone | c.JobFault:
        does = job.does
        if does.business_error:
            return c.JobFault(Failure("permanent_business", does.business_error, does.text or does.business_error))
        if does.fail == "permanent_business":
            return c.JobFault(Failure(does.fail, UNNAMED, does.text or UNNAMED))
        if does.fail is not None:
            return c.JobFault(Failure(does.fail, "handler.error", does.text or f"the stub fails ({does.fail})"))
        state = self._board.instances[job.id]
        if node is None or node.job is None:
            return c.JobDone(state.head, does.flags)
        promised = self._promises.get(same_verb_name(node.job.type))
        if promised is not None and (extra := [name for name in does.flags if name not in promised.writes_flags]):
            return c.JobFault(Failure("permanent_contract", CONTRACT, f"it does not promise to write {extra[0]}"))
        patch = nested(does.data, place_of(state, node))
        try:
            head = self._heads.merged_since(node.job.base or state.head, state.head, node.job.type, patch)
        except MergeConflictError as error:
            return c.JobFault(Failure("permanent_contract", error.code, str(error)))
        return c.JobDone(head, does.flags)

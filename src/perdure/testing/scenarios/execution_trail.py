"""The execution trail of a scenario: instances, verbs and elements in the order of their commits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from perdure.bpmn.machine import journal_entries as e
from perdure.bpmn.machine.state import ROOT, job_key
from perdure.sources import id_text, parse_id
from perdure.testing.scenarios.livelock import Unrest

_AROUND = frozenset({"join", "many", "loop", "stuck", "undo"})
"""Nodes that are no visit: a token at a join that has not fired, or that found no way out of where it was already,
what stands around iterations, and what an event that compensates (which was visited itself) waits for."""


class Trail:
    """Every entry of every instance passes through here once."""

    def __init__(self, unrest: Unrest) -> None:
        self.unrest = unrest
        self.entries: dict[bytes, list[Any]] = {}
        self.started: list[bytes] = []
        self.ran: list[str] = []
        self.visited: list[str] = []
        self.roots: list[bytes] = []
        """Instances that no other one called."""
        self.reached: dict[tuple[bytes, str], None] = {}
        self._jobs: dict[tuple[bytes, int], e.JobMade] = {}
        self._keys: dict[tuple[bytes, int], str] = {}
        self._elements: dict[tuple[bytes, int], str] = {}
        self._begun: dict[tuple[bytes, int], int] = {}
        """How many iterations a repeated activity has begun."""
        self._executions: dict[str, int] = {}

    def saw(self, id: bytes, entries: Iterable[Any]) -> None:
        before = len(self.visited)
        for entry in entries:
            self.entries.setdefault(id, []).append(entry)
            self._saw(id, entry)
        # Once for a command, however long its way: a cycle without any stop ends by itself, as an incident.
        for element in set(self.visited[before:]):
            self.unrest.visited(element)

    def has_reached(self, element: str, id: bytes | None = None) -> bool:
        """Whether a token ever stood on the element."""
        return any(name == element and id in (None, each) for each, name in self.reached)

    def execution(self, key: str) -> int:
        """How often the job under this key was begun, not counting those begun again after an interruption."""
        return self._executions.get(key, 0)

    def _saw(self, id: bytes, entry: Any) -> None:
        match entry:
            case e.InstanceStarted():
                self._began(id, entry)
            case e.Entered():
                self._elements[id, entry.number] = entry.element
                if entry.number != ROOT and entry.kind not in _AROUND:
                    self._visit(id, entry.element)
            case e.Iterated():
                self._begun[id, entry.number] = entry.started
            case e.Left(how="completed"):
                if self._begun.get((id, entry.number)) == 0:  # it was carried out, though not once
                    self._visit(id, self._elements[id, entry.number])
            case e.Passed():
                self._visit(id, entry.element)
            case e.InstanceMigrated():
                self._rename(id, entry.mapping)
            case e.JobMade():
                self._made(id, entry)
            case e.JobStarted(interruptions=0):
                key = self._keys[id, entry.number]
                self._executions[key] = self._executions.get(key, 0) + 1
            case e.JobCompleted():
                self._completed(self._jobs.get((id, entry.number)))
            case _:
                pass

    def _began(self, id: bytes, entry: e.InstanceStarted) -> None:
        self.started.append(id)
        if not entry.parent.startswith("node:"):
            self.roots.append(id)
        self.unrest.began(entry.process, self._caller(entry.parent))

    def _caller(self, parent: str) -> str:
        """The element that called an instance, where one did."""
        kind, _, rest = parent.partition(":")
        letters, _, number = rest.partition(":")
        return self._elements.get((parse_id(letters), int(number)), "") if kind == "node" else ""

    def _rename(self, id: bytes, mapping: dict[str, str]) -> None:
        for (each, number), element in self._elements.items():
            if each == id:
                self._elements[id, number] = mapping.get(element, element)

    def _made(self, id: bytes, job: e.JobMade) -> None:
        """A job made again keeps its key, also when its element has another name by now."""
        before = self._jobs.get((id, job.number))
        if before is None or before.run != job.run:
            self._keys[id, job.number] = job_key(id_text(id), self._elements[id, job.number], job.run)
        self._jobs[id, job.number] = job

    def _visit(self, id: bytes, element: str) -> None:
        self.visited.append(element)
        self.reached[id, element] = None

    def _completed(self, job: e.JobMade | None) -> None:
        if job is not None and job.purpose != "intake":
            self.ran.append(job.verb)

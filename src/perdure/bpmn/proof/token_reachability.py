"""Where tokens of a scope may get to while one of them stands still, and what they read and write on the way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from perdure.bpmn.model import Event, Flow, SubProcess
from perdure.bpmn.proof.process_graph import Outline, Part

Standing = tuple[str, str]
"""An element, and the flow by which a token came when it waits at a join there (else empty)."""


class Footprint(NamedTuple):
    """Masks: flags that may be read as others left them, flags that may be written, elements that may be entered,
    joins that may be reached."""

    reads: int = 0
    writes: int = 0
    enters: int = 0
    arrives: int = 0


class Flood:
    """One walk: every way the standing tokens may take. A join that needs the one who stands still is not passed."""

    def __init__(self, outline: Outline, scope: str, still: str) -> None:
        self._outline, self._scope, self._still = outline, scope, still
        self._written: dict[str, int] = {}
        """Per element entered: flags that its own command has surely written anew."""
        self._joins: dict[str, dict[str, int]] = {}
        self._waiting: list[str] = []
        self.reads = self.writes = self.enters = self.arrives = 0

    def walk(self, standing: Iterable[Standing], listens: bool) -> Footprint:
        parts = self._outline.parts
        tokens = [(parts[id], flow) for id, flow in standing if id in parts]
        for part, flow in tokens:
            if flow:
                self._joins.setdefault(part.id, {})[flow] = -1
        for part, flow in tokens:
            if not flow:
                self._act(part)
                self._leave(part, self._outline.kill(part))
        for handler in self._outline.handlers.get(self._scope, ()) if listens else ():
            self._enter(parts[handler], 0)
        self._run()
        return Footprint(self.reads, self.writes, self.enters, self.arrives)

    def listen(self, part: Part) -> None:
        """Events of the one who stands still that let it stand."""
        for id in part.boundaries:
            event = self._outline.parts[id]
            if isinstance(event.node, Event) and not event.node.is_interrupting:
                self._enter(event, 0)

    def _run(self) -> None:
        while self._waiting:
            part = self._outline.parts[self._waiting.pop()]
            self._act(part)
            written = self._written[part.id]
            self._leave(part, self._outline.kill(part) if part.rests else written | self._outline.kill(part))

    def _act(self, part: Part) -> None:
        self.reads |= part.entry | part.inner_reads
        self.writes |= part.writes | part.inner_writes
        self.enters |= part.inner
        for id in part.boundaries:
            self._enter(self._outline.parts[id], 0)

    def _leave(self, part: Part, written: int) -> None:
        self.reads |= part.exit & ~written
        for flow in part.outs:
            self._arrive(flow, written)
        for id in part.targets[len(part.outs) :]:
            self._enter(self._outline.parts[id], written)

    def _arrive(self, flow: Flow, written: int) -> None:
        part = self._outline.parts[flow.target]
        if not part.join:
            self._enter(part, written)
            return
        self.arrives |= part.bit
        arrived = self._joins.setdefault(part.id, {})
        arrived[flow.id] = arrived.get(flow.id, -1) & written
        if part.join == "parallel":
            if all(each.id in arrived for each in part.ins):
                self._enter(part, _all(arrived.values()))
        elif self._still not in self._outline.upstream(part.id):
            self._enter(part, 0)

    def _enter(self, part: Part, written: int) -> None:
        self.enters |= part.bit
        before = self._written.get(part.id)
        now = written if before is None else before & written
        if now != before:
            self._written[part.id] = now
            self._waiting.append(part.id)


def _all(masks: Iterable[int]) -> int:
    found = -1
    for mask in masks:
        found &= mask
    return 0 if found == -1 else found


def is_event_subprocess(part: Part) -> bool:
    return isinstance(part.node, SubProcess) and part.node.kind == "event"

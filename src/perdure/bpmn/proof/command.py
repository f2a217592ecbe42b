"""What one command may do when a certain token moves: how far it gets before everything rests again."""

from __future__ import annotations

from collections.abc import Callable

from perdure.bpmn.proof.outline import Outline, Part

HasToken = Callable[[str, str], bool]
"""Whether a token waits at a join (the element and the flow it came by)."""


class Walk:
    """Masks of what is read as others left it, of joins that fire; whether it reaches an end, or
    something that stops more than its own token."""

    def __init__(self, outline: Outline, has_token: HasToken) -> None:
        self._outline, self._has_token = outline, has_token
        self._written: dict[str, int] = {}
        self.reads = self.fires = 0
        self.ends = self.kills = False

    def leave(self, part: Part, written: int) -> None:
        """A token leaves an element by all its flows."""
        self._read(part.exit, written)
        if not part.targets:
            self.ends = True
        for flow in part.outs:
            self._arrive(flow.target, flow.id, written)
        for id in part.targets[len(part.outs) :]:
            self.enter(self._outline.parts[id], written)

    def enter(self, part: Part, written: int) -> None:
        """A token arrives at an element; where it does not surely rest it may go on."""
        before = self._written.get(part.id)
        now = written if before is None else before & written
        if now == before:
            return
        self._written[part.id] = now
        self._read(part.entry, now)
        self.kills = self.kills or part.kills
        if part.rests:
            for id in part.boundaries:
                self._read(self._outline.parts[id].entry, now)
            return
        for id in part.boundaries:
            self.enter(self._outline.parts[id], now)
        if part.id in self._outline.members:
            self._inside(part, now)
        self.leave(part, now | self._outline.kill(part))

    def begin(self, part: Part) -> None:
        """In what is ad hoc, another activity may have its turn."""
        for id in self._outline.starts(part.id):
            self.enter(self._outline.parts[id], 0)

    def _inside(self, part: Part, written: int) -> None:
        ends = self.ends
        for id in self._outline.starts(part.id):
            self.enter(self._outline.parts[id], written)
        for handler in self._outline.handlers.get(part.id, ()):
            self._read(self._outline.parts[handler].inner_reads, written)
        self.ends = ends

    def _arrive(self, id: str, flow: str, written: int) -> None:
        part = self._outline.parts[id]
        if part.join == "parallel":
            if not all(each.id == flow or self._has_token(id, each.id) for each in part.ins):
                return
            self.fires |= part.bit
        elif part.join:
            self.fires |= part.bit
        self.enter(part, written)

    def _read(self, mask: int, written: int) -> None:
        self.reads |= mask & ~written

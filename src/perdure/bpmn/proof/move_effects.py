"""Effects of a move: the flags it reads and the joins it fires until all tokens rest."""

from __future__ import annotations

from collections.abc import Callable

from perdure.bpmn.proof.process_graph import Outline, Part

HasToken = Callable[[str, str], bool]
"""Whether a token waits at a join (the element and the flow it came by)."""


class Walk:
    """Masks of what is read as others left it, of joins that fire; whether it reaches an end, or
    something that stops more than its own token."""

    def __init__(self, outline: Outline, has_token: HasToken) -> None:
        self._outline, self._has_token = outline, has_token
        self._written: dict[str, int] = {}
        self._waiting: list[tuple[Part, int, bool]] = []
        """Elements to enter, what was surely written before, and whether they stand inside one that was entered."""
        self.reads = self.fires = 0
        self.ends = self.kills = False

    def leave(self, part: Part, written: int) -> None:
        """A token leaves an element by all its flows."""
        self._leave(part, written, is_inner=False)
        self._run()

    def enter(self, part: Part, written: int) -> None:
        """A token arrives at an element; where it does not surely rest it may go on."""
        self._waiting.append((part, written, False))
        self._run()

    def begin(self, part: Part) -> None:
        """In what is ad hoc, another activity may have its turn."""
        for id in self._outline.starts(part.id):
            self.enter(self._outline.parts[id], 0)

    def _run(self) -> None:
        while self._waiting:
            part, written, is_inner = self._waiting.pop()
            before = self._written.get(part.id)
            now = written if before is None else before & written
            if now != before:
                self._written[part.id] = now
                self._visit(part, now, is_inner)

    def _visit(self, part: Part, written: int, is_inner: bool) -> None:
        self._read(part.entry, written)
        self.kills = self.kills or part.kills
        if part.rests:
            for id in part.boundaries:
                self._read(self._outline.parts[id].entry, written)
            return
        self._waiting += [(self._outline.parts[id], written, is_inner) for id in part.boundaries]
        if part.id in self._outline.members:
            self._inside(part, written)
        self._leave(part, written | self._outline.kill(part), is_inner)

    def _leave(self, part: Part, written: int, is_inner: bool) -> None:
        self._read(part.exit, written)
        # What ends inside an element that was entered on the way is not the end of the walk.
        self.ends = self.ends or (not part.targets and not is_inner)
        for flow in part.outs:
            self._arrive(flow.target, flow.id, written, is_inner)
        self._waiting += [(self._outline.parts[id], written, is_inner) for id in part.targets[len(part.outs) :]]

    def _inside(self, part: Part, written: int) -> None:
        self._waiting += [(self._outline.parts[id], written, True) for id in self._outline.starts(part.id)]
        for handler in self._outline.handlers.get(part.id, ()):
            self._read(self._outline.parts[handler].inner_reads, written)

    def _arrive(self, id: str, flow: str, written: int, is_inner: bool) -> None:
        part = self._outline.parts[id]
        if part.join == "parallel":
            if not all(each.id == flow or self._has_token(id, each.id) for each in part.ins):
                return
            self.fires |= part.bit
        elif part.join:
            self.fires |= part.bit
        self._waiting.append((part, written, is_inner))

    def _read(self, mask: int, written: int) -> None:
        self.reads |= mask & ~written

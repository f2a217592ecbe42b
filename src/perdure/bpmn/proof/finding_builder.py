"""The finding builder turns violations that the search met into findings with a sentence, a hint and a path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from perdure.bpmn.machine.state import Instance
from perdure.bpmn.model import CompensationTrigger, Event, Gateway, LinkTrigger, SubProcess
from perdure.bpmn.proof.counterexample_replay import Replay, Shows
from perdure.bpmn.proof.enabled_moves import Moves
from perdure.bpmn.proof.finding_texts import FAILS, MERGE, UNDONE, texts
from perdure.bpmn.proof.process_graph import Outline, Part
from perdure.bpmn.proof.shortest_counterexample import Shortest
from perdure.bpmn.proof.state_checks import Inspector, Suspect, deadlock
from perdure.bpmn.proof.state_search import Explorer
from perdure.bpmn.proof.state_transitions import After, Stepper, Taken
from perdure.bpmn.proof.token_collisions import has_met
from perdure.bpmn.proof.verdict import CODES, Finding, Step


class Judge:
    """Turns suspects into findings, and finds what never happened."""

    def __init__(
        self, outline: Outline, moves: Moves, stepper: Stepper, inspector: Inspector, replay: Replay,
        *, is_whole: bool = True,
    ) -> None:  # fmt: skip
        """Only of a search of the whole process, from its start, can be told what is never reached."""
        self._is_whole = is_whole
        self._outline, self._moves, self._stepper = outline, moves, stepper
        self._inspector, self._replay = inspector, replay

    def findings(self, explorer: Explorer) -> tuple[Finding, ...]:
        found = self._shortened([(suspect, self._finding(suspect)) for suspect in self._worth_telling()], explorer)
        if not explorer.bound:
            found += self._endless(explorer)
            found += self._dead(explorer) if self._is_whole else []
        return tuple(sorted(found, key=lambda each: (each.severity, each.code, len(each.steps), each.element)))

    def _finding(self, suspect: Suspect) -> Finding:
        steps = self._replay.steps(suspect.path)
        code = suspect.code
        if code == "SND002" and suspect.detail != MERGE and (walked := self._replay.run(steps)) and _grows(walked):
            code = "SND006"
        else:
            steps = self._replay.shorten(steps, self._shows(suspect.code, suspect.element))
        return _made(code, suspect.element, suspect.detail, steps, suspect.elements)

    def _shortened(self, found: list[tuple[Suspect, Finding]], explorer: Explorer) -> list[Finding]:
        """The findings with the shortest ways there are, as far as can be seen nearby."""
        known = {(each.code, each.element, suspect.detail): len(each.steps) for suspect, each in found}
        ways = Shortest(explorer, self._moves, self._stepper, self._inspector).ways(known) if known else {}
        return [self._by(each, ways.get((each.code, each.element, suspect.detail), ())) for suspect, each in found]

    def _by(self, finding: Finding, way: tuple[Taken, ...]) -> Finding:
        shorter = replace(finding, steps=self._replay.steps(way)) if way else finding
        return shorter if way and self.is_shown(shorter) else finding

    def _worth_telling(self) -> list[Suspect]:
        """A merge is named when nothing before it is one too, and no element before or behind it shows two tokens."""
        suspects = list(self._inspector.suspects.values())
        shown = {each.element for each in suspects if each.code == "SND002" and each.detail != MERGE}
        merges = [each.element for each in suspects if each.detail == MERGE]
        behind = {each: self._behind({each}) for each in merges}
        after = self._behind(shown)
        first = [each for at, each in enumerate(merges) if each not in after and not shown & behind[each]
                 and not any(each in behind[other] and (other not in behind[each] or merges.index(other) < at)
                             for other in merges if other != each)]  # fmt: skip
        return [each for each in suspects if each.detail != MERGE or each.element in first]

    def is_shown(self, finding: Finding) -> bool:
        """Whether the steps of a finding really lead to it. That something never ends is not seen from its steps."""
        walked = self._replay.run(finding.steps)
        return bool(walked) and self._shows(finding.code, finding.element)(walked or [])

    def _shows(self, code: str, element: str) -> Shows:
        def shows(walked: list[After]) -> bool:
            last = walked[-1]
            if code == "SND001":
                place = deadlock(last.state)
                return place is not None and element in place and not self._moves.of(last.state)
            if code == "SND002" and has_met(self._outline.merges, element, walked):
                return True
            return any(found[:2] == (code, element) for found in self._inspector.faults(last))

        return shows

    def _endless(self, explorer: Explorer) -> Iterator[Finding]:
        endless = explorer.graph.endless()
        if not endless:
            return
        steps = self._replay.steps(explorer.graph.path(endless[0]))
        walked = self._replay.run(steps)
        elements = _leaves(walked[-1].state) if walked else ()
        yield _made("SND006", elements[0] if elements else "", "endless", steps, elements)

    def _dead(self, explorer: Explorer) -> Iterator[Finding]:
        dead = {id for id, part in self._outline.parts.items() if id not in explorer.visited and self._is_meant(part)}
        # What lies behind something that is wrong already is not worth a finding of its own.
        wrong = {each.element for each in self._inspector.suspects.values() if not each.detail.startswith(FAILS)}
        hidden = self._behind(explorer.cut | wrong)
        for id in self._outline.parts:
            if id not in dead or id in hidden or self._is_consequence(id, dead):
                continue
            behind = sorted((self._behind({id}) & dead) - {id})
            code = "SND008" if self._is_event(self._outline.parts[id]) else "SND003"
            yield _made(code, id, str(len(behind)) if behind else "", (), (id, *behind))

    def _is_meant(self, part: Part) -> bool:
        """Whether an element is meant to be reached by tokens; what undoes is reached only when something fails, and
        an instance that an event behind a gateway starts begins at the event."""
        node = part.node
        if isinstance(node, Gateway) and node.is_instantiating:
            return False
        for scope in (part.id, *self._outline.ancestors(part.id)):
            around = self._outline.parts.get(scope)
            if around is not None and getattr(around.node, "is_for_compensation", False):
                return False
            if around is not None and isinstance(around.node, SubProcess) and self._undoes(around):
                return False
        return not (isinstance(node, Event) and any(isinstance(each, CompensationTrigger) for each in node.triggers)
                    and node.position in ("boundary", "start"))  # fmt: skip

    def _undoes(self, part: Part) -> bool:
        starts = [self._outline.parts[id].node for id in self._outline.members.get(part.id, ())]
        return any(
            isinstance(node, Event) and node.position == "start"
            and any(isinstance(each, CompensationTrigger) for each in node.triggers)
            for node in starts
        )  # fmt: skip

    def _is_event(self, part: Part) -> bool:
        node = part.node
        is_handler = isinstance(node, SubProcess) and node.kind == "event"
        return is_handler or (isinstance(node, Event) and node.position == "boundary")

    def _is_consequence(self, id: str, dead: set[str]) -> bool:
        """Whether something before or around a dead element is dead as well, so that one finding is enough."""
        part = self._outline.parts[id]
        node = part.node
        if part.scope in dead:
            return True
        before = {flow.source for flow in part.ins}
        if isinstance(node, Event) and node.position == "boundary":
            before.add(node.attached_to)
        if isinstance(node, Event) and any(isinstance(each, LinkTrigger) for each in node.triggers):
            before |= {each.id for each in self._outline.parts.values() if id in each.targets}
        return bool(before) and before <= dead and not self._begins_cycle(id, before, dead)

    def _begins_cycle(self, id: str, before: set[str], dead: set[str]) -> bool:
        """Dead elements that only lead to each other: the first of them in the file stands for all."""
        around = self._behind({id})
        order = list(self._outline.parts)
        cycle = [each for each in around & dead if id in self._behind({each})]
        is_entered = any(flow.source not in cycle for each in cycle for flow in self._outline.parts[each].ins)
        return before <= set(cycle) and not is_entered and min(cycle, key=order.index) == id

    def _behind(self, ids: set[str]) -> set[str]:
        """Everything that tokens on these elements may reach."""
        found: set[str] = set()
        waiting = list(ids)
        while waiting:
            id = waiting.pop()
            part = self._outline.parts.get(id)
            if id in found or part is None:
                continue
            found.add(id)
            waiting += [*part.targets, *part.boundaries, *self._outline.members.get(id, ())]
            if id in ids or not part.targets:
                waiting += [each for each in self._after_scope(part.scope) if ids != {id} or not part.targets]
        return found

    def _after_scope(self, scope: str) -> list[str]:
        part = self._outline.parts.get(scope)
        return [] if part is None else [*part.targets, *part.boundaries]


def _made(code: str, element: str, detail: str, steps: tuple[Step, ...], elements: tuple[str, ...]) -> Finding:
    fact, hint = texts(code, element, detail)
    severity = CODES[code][1]
    if code == "SND007" and detail.startswith((FAILS, UNDONE)):
        # It is drawn to end so; whether somebody forgot to catch it, only they can tell.
        severity = "warning"
    elif code == "SND007" and steps and steps[-1].is_undo:
        # A person looks at what could not be undone, and the rest is undone: no reason to keep a saga from running.
        severity, hint = "warning", f"Let a subprocess undo it, with an event inside that catches {detail}."
    return Finding(code=code, severity=severity, element=element, fact=fact, hint=hint, steps=steps, elements=elements)


def _grows(walked: list[After]) -> bool:
    """Whether the last state holds every token of an earlier one and more: the way between can be gone for ever."""
    last = _tokens(walked[-1].state)
    return any(0 < before.total() < last.total() and before <= last for each in walked[:-1]
               for before in (_tokens(each.state),))  # fmt: skip


def _tokens(state: Instance) -> Counter[tuple[str, str, str]]:
    return Counter((node.element, node.kind, node.flow if node.kind == "join" else "") for node in state.nodes.values())


def _leaves(state: Instance) -> tuple[str, ...]:
    around = {node.parent for node in state.nodes.values()}
    return tuple(sorted(node.element for node in state.nodes.values() if node.number not in around))

"""Calls in a counterexample: the steps of called processes, found by playing them inside the caller."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from perdure.bpmn.conditions.tree import Scalar
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.journal_entries import ErrorThrown, Left
from perdure.bpmn.machine.state import Instance
from perdure.bpmn.model import CallActivity, Node, Process, Scope, SubProcess, nodes
from perdure.bpmn.proof.counterexample_replay import occurrence
from perdure.bpmn.proof.enabled_moves import Move, step_of
from perdure.bpmn.proof.prover import Proof
from perdure.bpmn.proof.state_keys import Keys
from perdure.bpmn.proof.state_transitions import After
from perdure.bpmn.proof.verb_effects import Environment
from perdure.bpmn.proof.verdict import Finding, Step
from perdure.verb_contract import FlagContract

MOST = 1_000
"""So many steps of a called process are tried."""


def has_calls(deployed: Deployed) -> bool:
    return any(isinstance(node, CallActivity) for node in nodes(deployed.process.body))


def inlined(deployed: Deployed, processes: Mapping[str, Process]) -> Deployed | None:
    """The process with those it calls as subprocesses; None when one is not at hand, or is called twice."""
    used = {deployed.process.id}
    body = _body(deployed.process.body, processes, used)
    return None if body is None else replace(deployed, process=replace(deployed.process, body=body))


def _body(body: Scope, processes: Mapping[str, Process], used: set[str]) -> Scope | None:
    found: list[Node] = []
    for node in body.nodes:
        made = _node(node, processes, used)
        if made is None:
            return None
        found.append(made)
    return replace(body, nodes=tuple(found))


def _node(node: Node, processes: Mapping[str, Process], used: set[str]) -> Node | None:
    match node:
        case SubProcess():
            inner = _body(node.body, processes, used)
            return None if inner is None else replace(node, body=inner)
        case CallActivity():
            if node.process not in processes or node.process in used:
                return None
            used.add(node.process)
            inner = _body(processes[node.process].body, processes, used)
            return None if inner is None else _embedded(node, inner)
        case _:
            return node


def _embedded(call: CallActivity, body: Scope) -> SubProcess:
    return SubProcess(
        id=call.id, name=call.name, body=body, repeat=call.repeat, is_for_compensation=call.is_for_compensation
    )


def with_calls(
    deployed: Deployed, whole: Deployed, finding: Finding, flags: tuple[FlagContract, ...]
) -> tuple[Step, ...] | None:
    """A finding's steps, with those of called processes instead of what came of them; None when none lead there."""
    proof = Proof(whole, flags or whole.flags, Environment(), is_reduced=False)
    own = {node.id for node in nodes(deployed.process.body)}
    steps: tuple[Step, ...] = ()
    for step in finding.steps:
        further = _Inside(proof, own, steps, step).steps() if step.kind.startswith("call") else (*steps, step)
        if further is None:
            return None
        steps = further
    plain = Proof(deployed, flags or deployed.flags, Environment(), is_reduced=False).replay.run(finding.steps)
    walked = proof.replay.run(steps)
    return steps if plain and walked and _ends(plain, own) == _ends(walked, own) else None


def _ends(walked: list[After], own: Iterable[str]) -> Counter[tuple[str, bool]]:
    return Counter((node.element, node.incident is not None) for node in walked[-1].state.nodes.values()
                   if node.element in own)  # fmt: skip


class _Inside:
    """A search for what a called process must do to end, fail or escalate as wanted."""

    def __init__(self, proof: Proof, own: Iterable[str], before: tuple[Step, ...], wanted: Step) -> None:
        self._proof, self._own, self._before, self._wanted = proof, own, before, wanted

    def steps(self) -> tuple[Step, ...] | None:
        keys, seen = Keys(self._proof.outline), set[bytes]()
        waiting, tries = deque([self._before]), 0
        while waiting and tries < MOST:
            steps = waiting.popleft()
            walked = self._proof.replay.run(steps)
            state = walked[-1].state if walked else None
            number = self._number(state) if state is not None else -1
            if state is None or number < 0:
                continue
            for move in self._proof.moves.of(state):
                tries += 1
                if tries > MOST or not _is_inside(state, move.owner, number):
                    continue
                further = (*steps, step_of(move, occurrence(state, move)))
                reached = self._proof.replay.run(further)
                if not reached or self._escapes(reached[-1], move):
                    continue
                if self._is_wanted(reached[-1], number):
                    return further
                if (key := keys.of(reached[-1].state)) not in seen:
                    seen.add(key)
                    waiting.append(further)
        return None

    def _number(self, state: Instance) -> int:
        found = sorted(node.number for node in state.nodes.values() if node.element == self._wanted.element
                       and node.kind == "scope")  # fmt: skip
        return found[self._wanted.occurrence] if len(found) > self._wanted.occurrence else -1

    def _escapes(self, after: After, move: Move) -> bool:
        """The error of a job does not leave the process it is in: it is an incident there."""
        caught = [entry.caught_by for entry in after.entries if type(entry) is ErrorThrown]
        return move.kind == "error" and any(not each or each in self._own for each in caught)

    def _is_wanted(self, after: After, number: int) -> bool:
        if self._wanted.kind == "call":
            has_ended = any(type(entry) is Left and (entry.number, entry.how) == (number, "completed")
                            for entry in after.entries)  # fmt: skip
            return has_ended and _holds(after.state.flags, self._wanted.flags)
        return any(type(entry) is ErrorThrown and entry.code == self._wanted.code and entry.caught_by in self._own
                   for entry in after.entries)  # fmt: skip


def _holds(flags: Mapping[str, Scalar], wanted: Mapping[str, Scalar]) -> bool:
    return all(flags.get(name) == value for name, value in wanted.items())


def _is_inside(state: Instance, number: int, around: int) -> bool:
    while number in state.nodes and number != around:
        number = state.nodes[number].parent
    return number == around

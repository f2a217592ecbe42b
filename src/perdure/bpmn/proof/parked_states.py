"""Parked states: a running instance as a proof begins from it, and the key that instances standing alike share.

| of the instance | in the proof |
|---|---|
| the value of a flag that something may still read | the class of values that conditions cannot tell apart |
| any other flag | not looked at |
| a job, whatever came of its attempts | under way: it succeeds or raises what its verb may raise |
| a human task, claimed or not | open to somebody |
| an incident of a job, a task or a call | mended: a person tries again |
| an incident where tokens cannot go on | kept |
| suspended | resumed |
| iterations of an activity | those that are left, few of them when nothing counts them |
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from perdure.bpmn.conditions.tree import Atom, Scalar, atoms
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.state import Instance, Job, Many, Node, Status, Watch
from perdure.bpmn.model import CallActivity, MultiInstance, SubProcess, Task
from perdure.bpmn.proof.enabled_moves import ARRIVED, WORKER
from perdure.bpmn.proof.flag_values import member
from perdure.bpmn.proof.process_graph import Outline
from perdure.bpmn.proof.proof_subject import FEW, abstract, conditions, domains_of
from perdure.bpmn.proof.state_keys import Key, Keys
from perdure.bpmn.proof.verb_effects import Environment
from perdure.human_tasks import HumanTask
from perdure.verb_contract import FlagContract

HEAD = b"head"
MENDED = ("job", "task", "call")
"""Kinds of tokens whose incident a person ends by trying again."""


class Parked(NamedTuple):
    """A parked state: its key, what is known of flags that conditions may read, and the instance as a proof has it."""

    key: Key
    flags: Mapping[str, Scalar]
    state: Instance


class ParkedStates:
    """Of one definition: made once, asked for every instance of it."""

    def __init__(self, deployed: Deployed, flags: Collection[FlagContract], environment: Environment) -> None:
        self.plan = abstract(deployed)
        self.domains = domains_of(deployed, tuple(flags))
        self.outline = Outline(self.plan, self.domains, environment)
        self._keys = Keys(self.outline)
        self._met = _met(deployed)

    def of(self, state: Instance) -> Parked:
        """An instance of this definition as a proof begins from it."""
        found = _abstract(state, self.plan.hash, self.plan.process)
        _lessen(found, self.outline)
        flags = {name: self._class(name, found.flags[name]) for name in self._read(found) if name in found.flags}
        found.flags = dict(flags)
        compared = {name: value for name, value in flags.items() if name in self._met}
        return Parked(self._keys.of(found), compared, found)

    def known(self, state: Instance) -> dict[str, Scalar]:
        """The class of every value that this definition may still read, of an instance of another version of it."""
        is_known = all(node.element in self.outline.parts for node in state.nodes.values() if node.parent)
        names = self._read(state) if is_known else list(self.domains)
        return {name: self._class(name, state.flags[name]) for name in names if name in state.flags}

    def _read(self, state: Instance) -> list[str]:
        """The flags that something may read before they are written again, and those the engine needs a text of."""
        live = 0
        for node in state.nodes.values():
            live |= self.outline.alive(node.element, node.kind)
        bits = self.outline.bits
        return [name for name, domain in self.domains.items() if domain.is_eager or live & bits[name]]

    def _class(self, name: str, value: Scalar) -> Scalar:
        return member(self.domains[name], value, self._met.get(name, ()))


def _met(deployed: Deployed) -> dict[str, tuple[Atom, ...]]:
    """The comparisons of every flag."""
    found: dict[str, list[Atom]] = {}
    for condition in conditions(deployed.process.body):
        for atom in atoms(condition):
            found.setdefault(atom.flag, []).append(atom)
    return {name: tuple(each) for name, each in found.items()}


def _abstract(state: Instance, definition: bytes, process: str) -> Instance:
    status: Status = state.before if state.status == "suspended" else state.status
    made = replace(
        state.copy(), status=status, definition=definition, process=process, head=HEAD, parent="", carrier="",
        carrier_run="", overrides=(), written={}, agreed="", business_key="", suspended_at=0,
    )  # fmt: skip
    made.nodes = {number: _node(node) for number, node in state.nodes.items()}
    made.watches = {number: _watch(watch) for number, watch in state.watches.items()}
    return made


def _node(node: Node) -> Node:
    return replace(
        node,
        job=_job(node.job) if node.job is not None else None,
        task=HumanTask() if node.task is not None else None,
        incident=None if node.kind in MENDED else node.incident,
    )


def _job(job: Job) -> Job:
    return Job(
        job.type, job.run, "leased", 1, WORKER, base=HEAD, purpose=job.purpose, message=ARRIVED if job.message else b""
    )


def _watch(watch: Watch) -> Watch:
    return replace(watch, left=min(watch.left, FEW)) if watch.cycle else watch


def _lessen(state: Instance, outline: Outline) -> None:
    """Count iterations from those that are left; of many that stand alike keep few, where nothing counts them."""
    for node in list(state.nodes.values()):
        repeat = _repeat(outline, node)
        if node.many is None or node.kind != "many" or repeat is None or repeat.completion is not None:
            continue
        many = node.many
        started, ahead = many.started - many.ended, many.total - many.started
        kept = _keep_few(state, [each for each in state.nodes.values() if each.parent == node.number])
        started -= max(0, started - kept) if not repeat.is_sequential else 0
        state.nodes[node.number] = replace(node, many=Many(started + min(ahead, FEW), started, 0))


def _repeat(outline: Outline, node: Node) -> MultiInstance | None:
    part = outline.parts.get(node.element)
    element = part.node if part is not None else None
    repeat = element.repeat if isinstance(element, Task | SubProcess | CallActivity) else None
    return repeat if isinstance(repeat, MultiInstance) else None


def _keep_few(state: Instance, iterations: Iterable[Node]) -> int:
    """Take away iterations that stand like others; how many stay."""
    kept: dict[Any, int] = {}
    stay = 0
    watched = {watch.node for watch in state.watches.values()}
    around = {each.parent for each in state.nodes.values()}
    for each in iterations:
        is_plain = each.number not in watched and each.number not in around
        alike = (each.kind, each.incident) if is_plain else each.number
        kept[alike] = kept.get(alike, 0) + 1
        if kept[alike] > FEW:
            del state.nodes[each.number]
        else:
            stay += 1
    return stay

"""Parked groups: running instances of a process by the state they stand in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from perdure.app.deployments.process_versions import ProcessVersion
from perdure.app.deployments.views import AwaitedEvent, StandingView
from perdure.bpmn.conditions.tree import Scalar
from perdure.bpmn.machine.state import CONTAINERS, Instance, Node
from perdure.bpmn.proof.parked_states import Parked
from perdure.kernel.kernel import Aggregate
from perdure.processes.plan_cache import Definition
from perdure.sources import id_text
from perdure.work.computations import check_effort

EXAMPLES = 5


class Group:
    """Instances in one state of one version; the first stands for all."""

    def __init__(self, version: ProcessVersion, first: Instance, parked: Parked) -> None:
        self.version, self.first, self.parked = version, first, parked
        self.instances = 0
        self.ids: list[str] = []
        """The first of them."""


def grouped(
    instances: Iterable[Aggregate], versions: Mapping[bytes, ProcessVersion], target: ProcessVersion
) -> list[Group]:
    """Instances by version and state; what conditions of the target read tells states apart as well."""
    found: dict[Any, Group] = {}
    for aggregate in instances:
        check_effort()
        state: Instance = aggregate.state
        version = versions[state.definition]
        parked = version.states.of(state)
        key = (
            state.definition, parked.key, state.status == "suspended", state.carrier, _read_there(state, target),
            _stuck(state),
        )  # fmt: skip
        if key not in found:
            found[key] = Group(version, state, parked)
        group = found[key]
        group.instances += 1
        if len(group.ids) < EXAMPLES:
            group.ids.append(id_text(aggregate.id))
    return list(found.values())


def _read_there(state: Instance, target: ProcessVersion) -> tuple[tuple[str, Scalar], ...]:
    """What is known of every flag that something in the target reads, and of those it does not accept as they are."""
    known = target.states.known(state)
    contracts = target.definition.plan.contracts
    faults = [(f"{name}!", contracts[name].fault(value) or "") for name, value in state.flags.items()
              if name in contracts]  # fmt: skip
    return (*sorted(known.items()), *((name, fault) for name, fault in faults if fault))


def _stuck(state: Instance) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((node.element, node.incident.code) for node in state.nodes.values() if node.incident))


def standing(state: Instance, definition: Definition) -> list[StandingView]:
    """Where tokens stand, in the order they came there."""
    tokens: Counter[tuple[str, str, str]] = Counter(
        (node.element, node.kind, node.incident.code if node.incident else "") for node in _leaves(state)
    )
    names = {id: node.name or id for id, node in definition.elements.items()}
    return [
        StandingView(element, names.get(element, element), kind, count, incident)
        for (element, kind, incident), count in tokens.items()
    ]


def awaited(state: Instance) -> list[AwaitedEvent]:
    """Which events may happen, boundary events among them."""
    watches: Counter[tuple[str, str, str]] = Counter(
        (watch.event, watch.kind, watch.name) for watch in state.watches.values() if not watch.has_come
    )
    return [AwaitedEvent(event, kind, name, count) for (event, kind, name), count in watches.items()]


def _leaves(state: Instance) -> Sequence[Node]:
    around = {node.parent for node in state.nodes.values()}
    return [
        node for _, node in sorted(state.nodes.items())
        if node.kind not in CONTAINERS or node.incident is not None or node.number not in around
    ]  # fmt: skip

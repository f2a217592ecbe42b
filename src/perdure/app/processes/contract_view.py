"""The contract of a deployed process, as people and programs look at it."""

from __future__ import annotations

import msgspec

from perdure.bpmn.conditions.printer import show_condition
from perdure.bpmn.contract.compilation import decompile
from perdure.bpmn.contract.contract import Work, read_bindings
from perdure.bpmn.contract.elements import Assignment
from perdure.bpmn.contract.mirrors import Mirror
from perdure.bpmn.machine.deployed_process import Deployed, Profile
from perdure.bpmn.model import scopes
from perdure.engine import ProcessVersion
from perdure.verb_contract import RetryPolicy


class MappingView(msgspec.Struct, frozen=True):
    """One assignment: where a value comes from, and where it goes."""

    source: str
    target: str


class WorkView(msgspec.Struct, frozen=True):
    """Automated work: what it is, by which policy, and the key by which the outside counts it once."""

    element: str
    name: str
    type: str
    policy: str
    attempts: int
    """How often it is tried, as the policy was resolved when the process was deployed."""
    first_delay_seconds: float
    longest_delay_seconds: float
    idempotency_key: str
    is_default_key: bool
    headers: dict[str, str] = {}
    inputs: list[MappingView] = []
    outputs: list[MappingView] = []
    documentation: str = ""
    start_to_close_seconds: float | None = None
    """How long one attempt may take; null where no policy was resolved."""
    schedule_to_close_seconds: float | None = None
    """How long all attempts may take together."""


class AwaitedView(msgspec.Struct, frozen=True):
    """A wait: the message that ends it, and the template of the key that is frozen when it begins."""

    element: str
    name: str
    message: str
    correlation_key: str
    outputs: list[MappingView] = []
    documentation: str = ""


class GateView(msgspec.Struct, frozen=True):
    """A decision of a person, and the name of the Update that brings it."""

    element: str
    name: str
    update: str
    inputs: list[MappingView] = []
    outputs: list[MappingView] = []
    documentation: str = ""


class WayView(msgspec.Struct, frozen=True):
    """A flow that is taken when a condition over the state holds."""

    flow: str
    source: str
    target: str
    condition: str


class MirrorView(msgspec.Struct, frozen=True):
    """A flag that follows the state: the comparison or the template it stands for."""

    flag: str
    stands_for: str


class ContractView(msgspec.Struct, frozen=True):
    """What a process of the contract profile agrees with those who program its steps; all empty of other profiles."""

    process: str
    version: int
    profile: Profile
    definition_id: str = ""
    workflow_type: str = ""
    workflow_id: str = ""
    work: list[WorkView] = []
    waits: list[AwaitedView] = []
    gates: list[GateView] = []
    ways: list[WayView] = []
    flags: list[MirrorView] = []


def contract_view(found: ProcessVersion, deployed: Deployed) -> ContractView:
    """The contract of a version; one of another profile agrees nothing."""
    if deployed.profile != "contract":
        return ContractView(deployed.process.id, found.version, deployed.profile)
    written = decompile(deployed.process, deployed.messages, deployed.mirrors)
    contract = read_bindings(written.process, written.messages)
    flows = [flow for scope in scopes(written.process.body) for flow in scope.flows]
    return ContractView(
        process=deployed.process.id,
        version=found.version,
        profile=deployed.profile,
        definition_id=contract.workflow.definition_id,
        workflow_type=contract.workflow.workflow_type,
        workflow_id=contract.workflow.workflow_id.text,
        work=[_work(id, each, deployed) for id, each in contract.work.items()],
        waits=[
            AwaitedView(
                id, each.node.name or id, each.name, each.subscription.correlation_key.text,
                _mappings(each.mapping.outputs), each.node.documentation,
            )
            for id, each in contract.waits.items()
        ],
        gates=[
            GateView(
                id, each.node.name or id, each.update, _mappings(each.mapping.inputs), _mappings(each.mapping.outputs),
                each.node.documentation,
            )
            for id, each in contract.gates.items()
        ],
        ways=[
            WayView(flow.id, flow.source, flow.target, show_condition(flow.condition))
            for flow in flows
            if flow.condition is not None
        ],
        flags=[MirrorView(each.flag, _stands_for(each)) for each in deployed.mirrors],
    )  # fmt: skip


def _work(id: str, work: Work, deployed: Deployed) -> WorkView:
    binding = deployed.bindings.get(work.definition.type)
    retry = binding.retry if binding is not None else RetryPolicy()
    attempts = work.node.retries if work.node.retries is not None else retry.max_attempts
    limits = deployed.limits.get(id)
    return WorkView(
        element=id, name=work.node.name or id, type=work.definition.type, policy=work.definition.policy,
        attempts=attempts, first_delay_seconds=retry.base_delay_seconds,
        longest_delay_seconds=retry.max_delay_seconds, idempotency_key=work.definition.idempotency_key.text,
        is_default_key=work.definition.is_default_key, headers=work.headers.as_dict(),
        inputs=_mappings(work.mapping.inputs), outputs=_mappings(work.mapping.outputs),
        documentation=work.node.documentation,
        start_to_close_seconds=limits.start_to_close_seconds if limits is not None else None,
        schedule_to_close_seconds=limits.schedule_to_close_seconds if limits is not None else None,
    )  # fmt: skip


def _mappings(assignments: tuple[Assignment, ...]) -> list[MappingView]:
    return [MappingView(each.source.text, each.target.text) for each in assignments]


def _stands_for(mirror: Mirror) -> str:
    return show_condition(mirror.atom) if mirror.atom is not None else mirror.template

"""The state of a process of the contract profile: what steps are asked, what they bring, and which flags follow.

| moment | what happens |
|---|---|
| an instance begins | every mirror is computed from its data |
| a job runs | its inputs make the request, in order; its key is rendered from the data it sees |
| a job, a message or a person brings a result | its outputs make the change of the data, in order; mirrors follow |
| a source is missing | its target is unset: null, which is the same to every path |
| a template finds no text | the job is stuck as `template.missing_path`, `template.not_scalar` or `template.empty` |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from perdure.bpmn.contract.contract import read_bindings
from perdure.bpmn.contract.elements import Assignment
from perdure.bpmn.contract.mirrors import Mirror, mirrored
from perdure.bpmn.contract.paths import Missing, read_path, write_path
from perdure.bpmn.contract.templates import RenderFailure, Template
from perdure.bpmn.machine.deployed_process import Deployed, WorkLimits
from perdure.errors import RejectedError, Rejection, SchemaViolationError

Data = dict[str, Any]
Flags = dict[str, str | bool | int]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One node: its assignments, and the key of its work."""

    inputs: tuple[Assignment, ...] = ()
    outputs: tuple[Assignment, ...] = ()
    key: Template | None = None
    headers: dict[str, str] = {}
    is_gate: bool = False
    limits: WorkLimits | None = None
    """How long its work may take, where its policy says so."""


class ContractState(msgspec.Struct, frozen=True, gc=False):
    """Of one definition."""

    steps: dict[str, Step]
    mirrors: tuple[Mirror, ...]
    workflow_id: Template

    def request(self, element: str, state: Mapping[str, Any]) -> Data:
        """What a step is asked."""
        return assigned({}, self.steps[element].inputs, {"state": state}) if element in self.steps else {}

    def change(self, element: str, state: Mapping[str, Any], result: Mapping[str, Any]) -> Data:
        """The patch of the data that what a step brought amounts to."""
        step = self.steps.get(element)
        if step is None:
            return {}
        if step.is_gate and not str(result.get("decision") or "").strip():
            violations = [{"path": "$.decision", "reason": "it is missing or empty"}]
            raise SchemaViolationError(
                "take", "decision of", element, "it is missing or empty", "Give a decision.", violations=violations
            )
        return patch(state, assigned(state, step.outputs, {"result": result}), step.outputs)

    def flags(self, state: Mapping[str, Any], flags: Mapping[str, str | bool | int]) -> Flags:
        """The mirrors that have to change."""
        return mirrored(self.mirrors, state, flags)

    def name(self, state: Mapping[str, Any], process: str) -> str:
        """The id of the workflow that begins with a state; refused when its template finds no text."""
        text = self.workflow_id.render(state, {})
        if isinstance(text, RenderFailure):
            fact = f"the template of its workflow id gives no text: {text.failure} ({text.path})"
            hint = "Begin it with the data that workflowIdTemplate reads."
            raise RejectedError(Rejection("invalid", "start", "process", process, fact, hint))
        return text


def contract_state(deployed: Deployed) -> ContractState | None:
    """None of a process that is not of the profile."""
    if deployed.profile != "contract":
        return None
    found = read_bindings(deployed.process, deployed.messages)
    steps = {
        id: Step(
            inputs=work.mapping.inputs, outputs=work.mapping.outputs, key=work.definition.idempotency_key,
            headers=work.headers.as_dict(), limits=deployed.limits.get(id),
        )
        for id, work in found.work.items()
    }  # fmt: skip
    steps |= {id: Step(outputs=wait.mapping.outputs) for id, wait in found.waits.items()}
    steps |= {
        id: Step(inputs=gate.mapping.inputs, outputs=gate.mapping.outputs, is_gate=True)
        for id, gate in found.gates.items()
    }
    return ContractState(steps, deployed.mirrors, found.workflow.workflow_id)


def assigned(target: Mapping[str, Any], assignments: Iterable[Assignment], sources: Mapping[str, Any]) -> Data:
    """The target after the assignments, one after the other."""
    made = dict(target)
    for each in assignments:
        made = write_path(made, each.target.inner, read_path(sources, each.source.parts))
    return made


def patch(before: Mapping[str, Any], after: Mapping[str, Any], outputs: Iterable[Assignment]) -> Data:
    """What merges into the state to make what the outputs left: null where they left nothing."""
    made: Data = {}
    for each in outputs:
        value = read_path(after, each.target.inner)
        known = read_path(before, each.target.inner)
        if isinstance(value, Missing):
            if not isinstance(known, Missing):
                made = write_path(made, each.target.inner, None)
        else:
            made = write_path(made, each.target.inner, _over(known, value))
    return made


def _over(known: Any, value: Any) -> Any:
    """Objects merge: what an object that is replaced had, and the new one has not, becomes null."""
    if not isinstance(known, dict) or not isinstance(value, dict):
        return value
    gone = {name: None for name in known if name not in value}
    return {name: _over(known.get(name), each) for name, each in value.items()} | gone

"""A counterexample as a scenario file: what anybody can run to see it happen."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import yaml

from perdure.bpmn.conditions.tree import Scalar
from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.machine.state import ENDED
from perdure.bpmn.model import Event, MessageTrigger, Process, SignalTrigger, TimerTrigger
from perdure.bpmn.proof.counterexample_called_processes import has_calls, inlined, with_calls
from perdure.bpmn.proof.counterexample_timeline import BEGIN, Ran, Timetable, timetable
from perdure.bpmn.proof.proof_subject import domains_of
from perdure.bpmn.proof.verdict import Finding, Step
from perdure.verb_contract import FlagContract

NEVER = "P3650D"
SECOND = 1_000_000
EMPTY: Mapping[str, Process] = MappingProxyType({})


def scenario_of(
    deployed: Deployed, finding: Finding, model: str, flags: tuple[FlagContract, ...] = (),
    processes: Mapping[str, Process] = EMPTY,
) -> str:  # fmt: skip
    """The scenario's text; `model` is the path of the model from where the scenario will be, `processes` those it may
    call. In the open profile, for elsewhere a process that is refuted is not deployed at all."""
    played, steps, is_whole = _played(deployed, finding, flags, processes)
    start = _start_values(played, flags)
    table = timetable(played, steps, start)
    first = finding.steps[0] if finding.steps else None
    told: dict[str, Any] = {"model": model, "profile": "open", "process": deployed.process.id}
    if given := {**start, **(first.flags if first is not None else {})}:
        told["flags"] = given
    if verbs := _verbs(table):
        told["verbs"] = verbs
    told["do"] = _do(deployed, table)
    if is_whole:
        told["expect"] = _expect(table, shows_visits=finding.code == "SND002")
    return _head(finding, table, is_whole) + yaml.safe_dump(told, sort_keys=False, allow_unicode=True, width=120)


def _played(
    deployed: Deployed, finding: Finding, flags: tuple[FlagContract, ...], processes: Mapping[str, Process]
) -> tuple[Deployed, tuple[Step, ...], bool]:
    """What is played and in which steps, called processes included; whether all of it is known."""
    if not has_calls(deployed):
        return deployed, finding.steps, True
    whole = inlined(deployed, processes)
    steps = with_calls(deployed, whole, finding, flags) if whole is not None else None
    if whole is None or steps is None:
        return deployed, finding.steps, False
    return whole, steps, True


def _start_values(deployed: Deployed, flags: tuple[FlagContract, ...]) -> dict[str, Scalar]:
    domains = domains_of(deployed, flags or deployed.flags).values()
    return {each.name: each.values[0] if each.initial is None else each.initial for each in domains}


def _head(finding: Finding, table: Timetable, is_whole: bool) -> str:
    steps = finding.steps if len(table.order) < len(finding.steps) else table.order
    lines = [f"{finding.code} {finding.message()}", *(f"- {step.sentence()}" for step in steps)]
    if not is_whole:
        lines.append("What the called process must do for it is not known here, so nothing is expected.")
    if not table.is_timely:
        lines.append("Timers are untimed in a proof: with the durations of this model another one may fire first.")
    return "".join(f"# {line}\n" for line in lines)


def _verbs(table: Timetable) -> dict[str, Any]:
    """What each verb does, execution by execution, where that is not simply to succeed."""
    found: dict[str, list[dict[str, Any]]] = {}
    for job in table.jobs:
        found.setdefault(job.verb, []).append(_behaviour(job, table.is_natural))
    return {verb: (each[0] if len(each) == 1 else each) for verb, each in found.items() if any(each)}


def _behaviour(job: Ran, is_natural: bool) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if job.code:
        told["business_error"] = job.code
    if job.flags:
        told["flags"] = dict(job.flags)
    if not is_natural:
        told["takes"] = _duration(job.ended - job.began) if job.ended else NEVER
    return told


def _do(deployed: Deployed, table: Timetable) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    now, keys = BEGIN, dict(table.keys)
    for number, (at, step) in enumerate(table.steps):
        if at > now and (step.kind == "timer" or not table.is_natural):
            found.append({"advance": _duration(at - now)})
            now = at
        if step.kind != "timer":
            found.append(_stimulus(deployed, step, keys.get(number, "")))
    ends = max([job.ended for job in table.jobs], default=0)
    if not table.is_natural and ends > now:
        found.append({"advance": _duration(ends - now)})
    return found


def _stimulus(deployed: Deployed, step: Step, key: str) -> dict[str, Any]:
    flags = {"flags": dict(step.flags)} if step.flags else {}
    match step.kind:
        case "start":
            return _start(deployed, step)
        case "message":
            return {"message": {"name": step.name, **({"key": key} if key else {}), **flags}}
        case "signal":
            return {"signal": {"name": step.name, **flags}}
        case "task":
            return {"task": {"element": step.element, **flags}}
        case _:
            return {"advance": "PT0S"}


def _start(deployed: Deployed, step: Step) -> dict[str, Any]:
    if not step.name:
        return {"start": {}}
    nodes = {node.id: node for node in deployed.process.body.nodes}
    node = nodes.get(step.name)
    triggers = node.triggers if isinstance(node, Event) else ()
    messages = {each.id: each.name or each.id for each in deployed.messages}
    signals = {each.id: each.name or each.id for each in deployed.signals}
    for trigger in triggers:
        if isinstance(trigger, MessageTrigger):
            return {"start": {"message": {"name": messages.get(trigger.message, trigger.message)}}}
        if isinstance(trigger, SignalTrigger):
            return {"start": {"signal": {"name": signals.get(trigger.signal, trigger.signal)}}}
        if isinstance(trigger, TimerTrigger):
            return {"advance": trigger.value.text if trigger.kind == "duration" else "P1D"}
    message = getattr(node, "message", "")
    return {"start": {"message": {"name": messages.get(message, message)}} if message else {}}


def _expect(table: Timetable, shows_visits: bool) -> dict[str, Any]:
    """Where nothing is left of two tokens, what they went through tells of them."""
    state = table.end
    if state is None:
        return {}
    if state.status in ENDED:
        visits = {"visited": sorted(table.visited), "any_order": True} if shows_visits else {}
        return {"state": state.status, **visits}
    waits = ("task", "wait", "gate")
    parked = sorted(node.element for node in state.nodes.values() if node.kind in waits and node.incident is None)
    stuck = sum(node.incident is not None for node in state.nodes.values())
    return {"state": state.status, "parked": parked, "incidents": stuck}


def _duration(micros: int) -> str:
    seconds = micros / SECOND
    return f"PT{seconds:.3f}".rstrip("0").rstrip(".") + "S"

"""Runbook views: steps, progress, and the effects of a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.app.calls.views import (
    AttemptView,
    CallView,
    CarrierView,
    ErrorView,
    WaitingFor,
    attempt_view,
    error_view,
    step_progress,
    waiting_view,
)
from perdure.app.override_views import OverrideView, override_views
from perdure.app.progress_text import counted
from perdure.app.runbooks.usage_views import UsageView, usage_view
from perdure.kernel.kernel import Aggregate
from perdure.runbooks.executor.agent_proposal import Proposal
from perdure.runbooks.machine.state import ENDED, Course, Runbook, Step, links_of
from perdure.runbooks.plan import Plan, StepPlan
from perdure.sources import Id, id_text, iso

MAX_WAITS_TOLD = 2


class StepView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step as it is. `needs` and `after` name what it hangs on, `branch` the choices it is a side of."""

    name: str
    number: int
    verb: str
    state: str
    sentence: str = ""
    section: str = ""
    args: Any = None
    result: Any = None
    error: ErrorView | None = None
    waiting_for: WaitingFor | None = None
    carrier: CarrierView | None = None
    attempt: AttemptView | None = None
    needs: list[str] = []
    after: list[str] = []
    branch: dict[str, bool] = {}
    progress: str = ""
    side: bool | None = None
    gate: str = ""
    on_failure: str = "fail"
    flags: dict[str, str | bool | int] = {}
    undoes: str = ""
    provenance: dict[str, str] = {}
    started_at: str | None = None
    ended_at: str | None = None
    usage: UsageView | None = None
    proposal: Proposal | None = None
    reported: str = ""
    """What somebody last posted about it, while it goes on."""
    mode: str = ""
    """How it is carried: `sync`, `durable` or `human_gate`."""
    task_link: str = ""
    """The open human task that it waits for in the external task list; empty where there is no task or no list."""


class RunbookView(msgspec.Struct, frozen=True):
    """A runbook as everyone sees it. `version` counts its plans; `sequence` its records."""

    id: str
    state: str
    case: str
    steps: list[StepView]
    progress: str
    plan_hash: str
    version: int
    sequence: int
    is_sealed: bool
    started_at: str | None
    ended_at: str | None
    tenant: str
    principal: str
    pack: dict[str, str] | None = None
    erased_at: str | None = None
    usage: UsageView | None = None
    error: ErrorView | None = None
    """Of one that failed, the step and the reason; of one that is quarantined, the damage."""
    overrides: list[OverrideView] = []
    """Acts around its tasks and gates."""

    @property
    def is_ended(self) -> bool:
        return self.state in ("completed", "failed", "cancelled")

    def step(self, name: str | int) -> StepView:
        """A step by its name or number; KeyError when there is none."""
        found = next((each for each in self.steps if name in (each.name, each.number)), None)
        if found is None:
            raise KeyError(name)
        return found


def call_of_step(view: RunbookView, verb: str, version: int) -> CallView:
    """A call that became the first step of a runbook; the runbook's own state where it has no step yet."""
    call = CallView(
        view.id, verb, version, view.state, tenant=view.tenant, principal=view.principal, sequence=view.sequence
    )
    shared = [name for name in StepView.__struct_fields__ if name in CallView.__struct_fields__]
    return next((replace(call, **{name: getattr(step, name) for name in shared}) for step in view.steps), call)


class PlannedStepView(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a plan before it runs."""

    name: str
    number: int
    verb: str
    sentence: str = ""
    section: str = ""
    args: Any = None
    needs: list[str] = []
    after: list[str] = []
    branch: dict[str, bool] = {}
    on_failure: str = "fail"
    gate: str = ""
    writes: list[str] = []
    parks: str = ""
    engine: str = ""
    """The engine on which its process would begin now; empty of a step that no process carries."""


class PlanView(msgspec.Struct, frozen=True):
    """What a program would do. `waves` run one after another, the steps of one of them together.

    `phrase` has to be typed by whoever authorises one of the gravest; it is empty for all others.
    """

    plan_hash: str
    steps: list[PlannedStepView]
    waves: list[list[str]]
    locks: list[str]
    tier: str
    tier_reason: str
    decisions: list[str]
    remarks: list[str]
    phrase: str = ""


class PlanDiff(msgspec.Struct, frozen=True):
    """What became of a plan between two records: what was added, and which steps changed their state."""

    id: str
    at: int
    to: int
    plan_hash_before: str
    plan_hash: str
    added: list[str]
    edges: list[tuple[str, str]]
    changed: dict[str, tuple[str, str]]


def step_view(
    aggregate: Aggregate,
    number: int,
    plan: StepPlan | None,
    args: Any,
    result: Any,
    carrier: CarrierView | None,
    proposal: Proposal | None = None,
) -> StepView:
    state: Runbook = aggregate.state
    step: Step = state.steps[number - 1]
    links = links_of(step)
    waiting = waiting_view(aggregate.id, step, carrier, number)
    return StepView(
        links.name, number, step.verb, step.status, plan.sentence if plan is not None else "",
        plan.section if plan is not None else "", args, result, error_view(step.error), waiting, carrier,
        attempt_view(step), [name_of(state, each) for each in _needed(step)],
        [name_of(state, each) for each in links.after],
        {name_of(state, choice): side for choice, side in links.sides},
        step_progress(step, carrier), links.side, links.gate, links.on_failure,
        step.flags, name_of(state, links.undoes) if links.undoes else "",
        dict(plan.provenance) if plan is not None else {}, iso(links.begun_at or None), iso(links.ended_at or None),
        usage_view(step.spent), proposal, reported=step.progress if step.status not in ENDED else "",
    )  # fmt: skip


def _needed(step: Step) -> tuple[int, ...]:
    links = links_of(step)
    return (*links.needs, *(each for group in links.either for each in group))


def name_of(state: Runbook, number: int) -> str:
    return links_of(state.steps[number - 1]).name


def runbook_view(aggregate: Aggregate, course: Course, steps: list[StepView], pack: Any) -> RunbookView:
    state: Runbook = aggregate.state
    return RunbookView(
        id_text(aggregate.id), state.status, course.case, steps, brief(steps, is_ended=bool(state.ended_at)),
        "sha256:" + course.plan.hex(),
        len(course.fragments), aggregate.version, course.is_sealed, iso(state.started_at),
        iso(state.ended_at or None), aggregate.tenant, state.principal,
        msgspec.to_builtins(pack) if pack is not None else None, iso(state.erased_at or None), usage_view(state.spent),
        _failure(state, steps) if state.status == "failed" else None, override_views(state.overrides),
    )  # fmt: skip


def _failure(state: Runbook, steps: list[StepView]) -> ErrorView | None:
    """Why a runbook failed: the first of its steps whose failure nobody passed, and what it said."""
    failed = [view for view in steps if view.error is not None and _is_open(state.steps[view.number - 1])]
    first = min(failed, key=lambda view: view.ended_at or "", default=None)
    if first is None or first.error is None:
        return None
    return replace(first.error, message=f"Step '{first.name}' failed: {first.error.message}")


def _is_open(step: Step) -> bool:
    return step.status == "failed" and (step.links is None or not step.links.is_passed)


def damaged_runbook(id: Id, tenant: str) -> RunbookView:
    """A runbook of which nothing can be trusted but that it is there."""
    return RunbookView(id_text(id), "", "", [], "", "", 0, 0, False, None, None, tenant, "")


def brief(steps: list[StepView], *, is_ended: bool = False) -> str:
    """How far it has come, in a line: "3 of 5 steps complete, waiting for document upload"."""
    asked = [each for each in steps if each.verb and each.state not in ("skipped", "cancelled")]
    done = sum(each.state == "completed" for each in asked)
    parts = [counted(done, len(asked), is_ended=is_ended)]
    failed = [each.name for each in asked if each.state == "failed"]
    if failed:
        parts.append(f"failed: {', '.join(failed[:MAX_WAITS_TOLD])}{_more(failed)}")
    running = sum(each.state in ("running", "ready") for each in asked)
    if running:
        parts.append(f"{running} running")
    waits = [wait for each in steps if (wait := wait_text(each))]
    if waits:
        parts.append(f"waiting for {' and '.join(waits[:MAX_WAITS_TOLD])}{_more(waits)}")
    reports = [f"{each.name}: {each.reported}" for each in asked if each.reported]
    if reports:
        parts.append(f"reported: {'; '.join(reports[:MAX_WAITS_TOLD])}{_more(reports)}")
    return ", ".join(parts)


def _more(listed: list[str]) -> str:
    return f" and {len(listed) - MAX_WAITS_TOLD} more" if len(listed) > MAX_WAITS_TOLD else ""


def detailed(steps: list[StepView]) -> str:
    """A line for each step; below one that a process carries, a line for each sub-verb and for what is awaited."""
    return "\n".join(line for each in steps for line in _lines(each))


def _lines(step: StepView) -> list[str]:
    lines = [f"{step.number}. {step.sentence or step.name}: {state_text(step)}"]
    if step.carrier is not None:
        lines += [f"   {verb}: completed" for verb in step.carrier.completed]
        _, waits, awaited = step.carrier.progress.partition("waiting for ")
        lines += [f"   waiting for {awaited}"] if waits and step.state == "parked" else []
    return lines


def state_text(step: StepView) -> str:
    """A step's state in words."""
    wait = wait_text(step)
    if wait and step.state != "failed":
        return f"waiting for {wait}"
    if step.error is not None:
        return f"{step.state}: {step.error.message}" + (f" Waiting for {wait}." if wait else "")
    return f"{step.state}, {step.progress}" if step.progress and step.state == "running" else step.state


def wait_text(step: StepView) -> str:
    """What a step waits for, in a few words; empty when it does not wait."""
    waiting = step.waiting_for
    if waiting is not None and step.state == "failed":
        return f"somebody to say what becomes of {step.name}"
    if waiting is None or step.state not in ("parked", "pending"):
        return ""
    match waiting.kind:
        case "gate":
            return f"{waiting.verb} to agree to {step.name}"
        case "task":
            return f"{waiting.verb} to decide upon {step.name}"
        case "incident":
            return f"a person ({waiting.code} in {step.name})"
        case "escalation":
            return f"the escalation {waiting.verb}"
        case "engine":
            return f"its engine, which cannot be reached ({step.name})"
        case "held":
            return waiting.text.rstrip(".")
        case "retry":
            return f"another attempt of {step.name}"
        case "process" if "waiting for " in waiting.text:
            return waiting.text.rpartition("waiting for ")[2]
        case _:
            return step.name.replace("_", " ").replace("-", " ")


def plan_view(plan: Plan, dry: Any, engine_of: Callable[[str], str]) -> PlanView:
    """The view of a plan and of its dry run, with the engine of each verb that a process carries."""
    steps = [_planned(number, step, dry, engine_of(step.verb)) for number, step in enumerate(plan.steps, 1)]
    return PlanView(
        plan.content_hash, steps, [list(wave) for wave in dry.waves], list(dry.locks), dry.tier, dry.tier_reason,
        list(dry.decisions), list(dry.remarks), phrase_of(dry.tier, len(steps)),
    )  # fmt: skip


def phrase_of(tier: str, count: int) -> str:
    """The phrase that authorises so many steps; empty of a tier that needs none."""
    if tier != "requires_authorisation":
        return ""
    return f"authorise {'1 step' if count == 1 else f'{count} steps'}"


def _planned(number: int, step: StepPlan, dry: Any, engine: str) -> PlannedStepView:
    needs = [edge.needs for edge in dry.edges if edge.step == step.name and edge.kind == "data"]
    return PlannedStepView(
        step.name, number, step.verb, step.sentence, step.section, step.args, needs, list(step.after),
        {branch.choice: branch.side for branch in step.branches}, step.on_failure, step.gate,
        list(dry.writes.get(step.name, ())), dry.parks.get(step.name, ""), engine,
    )  # fmt: skip

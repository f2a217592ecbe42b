"""The dry run: effects of a plan, computed without running it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from perdure.runbooks.language.name_scopes import needs_by_number, subjects_of
from perdure.runbooks.language.schema_types import Shape
from perdure.runbooks.language.step_order import waves
from perdure.runbooks.language.step_sentences import path_text
from perdure.runbooks.plan import Path, Plan, StepPlan
from perdure.verb_contract import CONSEQUENCE_TIERS, ConsequenceTier, tier_rank
from perdure.verbs import Catalogue, Verb
from perdure.verbs.consequence_tier import Consequence, consequence_of
from perdure.verbs.text_templates import substitute

EdgeKind = Literal["data", "sequence", "branch"]


class Edge(msgspec.Struct, frozen=True):
    """`step` waits for `needs`: for its result, for its turn, or for a choice to come out its way."""

    step: str
    needs: str
    kind: EdgeKind


class DryRun(msgspec.Struct, frozen=True, kw_only=True):
    """Steps by name. `waves` run one after another, the steps of one together; `order` is all of them in a row.

    `writes` are the entities each step changes; what only a result will tell is shown as `{step.field}`. `locks` are
    all of them in the order they are taken. `parks` says why a step may wait for somebody. `remarks` are what could not
    be checked beforehand and is checked when it runs.
    """

    waves: tuple[tuple[str, ...], ...]
    order: tuple[str, ...]
    edges: tuple[Edge, ...]
    writes: dict[str, tuple[str, ...]]
    locks: tuple[str, ...]
    tier: ConsequenceTier
    tier_reason: str
    parks: dict[str, str]
    decisions: tuple[str, ...]
    remarks: tuple[str, ...]


def dry_run(plan: Plan, catalogue: Catalogue) -> DryRun:
    """The order, edges, write set, locks, tier and waits of a plan."""
    verbs = [catalogue.find(step.verb, step.version or None) if step.verb else None for step in plan.steps]
    found = tuple(tuple(plan.steps[number].name for number in wave) for wave in waves(needs_by_number(plan.steps)))
    writes = {step.name: _writes(step) for step in plan.steps if step.writes}
    tier, reason = _tier(plan, catalogue)
    return DryRun(
        waves=found,
        order=tuple(name for wave in found for name in wave),
        edges=tuple(edge for step in plan.steps for edge in edges_of(step)),
        writes=writes,
        locks=tuple(sorted({each for held in writes.values() for each in held})),
        tier=tier,
        tier_reason=reason,
        parks={step.name: why for step, verb in zip(plan.steps, verbs, strict=True) if (why := _parks(step, verb))},
        decisions=tuple(
            step.name for step, verb in zip(plan.steps, verbs, strict=True) if verb is not None and _decides(verb)
        ),
        remarks=tuple(_remarks(plan, verbs)),
    )


def edges_of(step: StepPlan) -> list[Edge]:
    """What a step waits for, each other step once, for the strongest reason."""
    found: dict[str, EdgeKind] = {}
    for reference in step.references:
        found.setdefault(reference.step, "data")
    for name in subjects_of(step):
        found.setdefault(name, "data")
    for branch in step.branches:
        found.setdefault(branch.choice, "branch")
    for name in step.after:
        found.setdefault(name, "sequence")
    return [Edge(step.name, needs, kind) for needs, kind in found.items()]


def _writes(step: StepPlan) -> tuple[str, ...]:
    taken = {reference.at[0]: reference for reference in step.references if len(reference.at) == 1}

    def value_of(name: str) -> str:
        reference = taken.get(name)
        if reference is not None:
            return f"{{{reference.step}{path_text(reference.path)}}}"
        value = step.args.get(name)
        return f"{{{name}}}" if value is None or isinstance(value, dict | list) else str(value)

    return tuple(substitute(template, value_of) for template in step.writes)


def _tier(plan: Plan, catalogue: Catalogue) -> tuple[ConsequenceTier, str]:
    """The gravest tier of any step, also by the verb that is asked when it fails, and the first step that has it."""
    gravest, reason = CONSEQUENCE_TIERS[0], "nothing in it has consequences"
    for step in plan.steps:
        for name, version in ((step.verb, step.version or None), (step.alternative, None)):
            verb = catalogue.find(name, version) if name else None
            found = consequence_of(catalogue, verb) if verb is not None else None
            if verb is not None and found is not None and tier_rank(found.tier) > tier_rank(gravest):
                gravest, reason = found.tier, tier_reason(step.name, verb.name, found)
    return gravest, reason


def tier_reason(step: str, verb: str, found: Consequence) -> str:
    """Why a plan has its tier: the step, its verb, and the verb that it reaches."""
    return f"{step} calls {verb}" + (f", which reaches {found.due_to}" if found.due_to not in ("", verb) else "")


def _parks(step: StepPlan, verb: Verb | None) -> str:
    if step.gate:
        return f"someone of {step.gate} must agree"
    if verb is not None and verb.is_durable:
        return f"{verb.name} waits for something outside"
    return "somebody is asked when it fails" if step.on_failure == "ask" else ""


def _decides(verb: Verb) -> bool:
    return bool(getattr(verb.execution, "decision", False))


def _remarks(plan: Plan, verbs: list[Verb | None]) -> Iterator[str]:
    """Fields that are used and that no schema declares."""
    producers: dict[str, dict[str, Verb]] = {}
    for step, verb in zip(plan.steps, verbs, strict=True):
        if verb is not None:
            producers.setdefault(step.name, {})[verb.name] = verb
    for step in plan.steps:
        for reference in step.references:
            for verb in producers.get(reference.step, {}).values():
                if reference.path and verb.output is not None and _is_untold(verb.output.schema, reference.path):
                    field = f"{reference.step}{path_text(reference.path)}"
                    yield f"{step.name} takes {field}, which {verb.name} does not declare"


def _is_untold(schema: dict[str, Any], path: Path) -> bool:
    return Shape(schema, schema).at(path)[0] == "untold"

"""The reader of `execution.task`: the human task that a durable verb is while it waits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from perdure.durations import DurationError, parse_business_days, parse_span
from perdure.human_tasks import MAX_RUNGS, RungAct, RungRule, TaskContract, joint_fault, ladder_of, make_rung, names_of
from perdure.moments import is_date_time
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.schema_shorthand import argument_name
from perdure.verbs.text_templates import placeholders, substitute

NAMELESS = "(nobody)"
"""Stands for a joint group whose argument is missing: nobody answers for it."""
ACTS: tuple[RungAct, ...] = ("remind", "reassign", "escalate")


def read_task(fields: Fields) -> TaskContract:
    """The task as declared; whatever is wrong is in the report."""
    rungs = [rung for node in fields.items("ladder") for rung in _rung(fields, node)]
    if len(rungs) > MAX_RUNGS:
        fields.wrong(fields.get("ladder"), "ladder", f"a ladder has at most {MAX_RUNGS} steps")
    groups = fields.texts("groups")
    if any("+" in each for each in groups) and (fault := joint_fault(", ".join(groups))):
        fields.wrong(fields.get("groups"), "groups", fault, "Write for example [compliance + risk].")
    return TaskContract(
        title=fields.text("title"),
        assignee=fields.text("assignee"),
        groups=groups,
        users=fields.texts("users"),
        due=_due(fields),
        four_eyes=fields.boolean("four_eyes"),
        ladder=ladder_of(rungs),
        agents=True if fields.boolean("agents") else UNSET,
    )


def _due(fields: Fields) -> str:
    text = fields.text("due")
    if not text or placeholders(text) or is_date_time(text) or parse_business_days(text) is not None:
        return text
    try:
        parse_span(text)
    except DurationError as error:
        reason = f"'{text[:80]}' is neither a date and time with offset nor a duration: {error.fact}"
        fields.wrong(fields.get("due"), "due", reason, error.hint)
    return text


def _rung(owner: Fields, node: Any) -> Iterator[RungRule]:
    fields = Fields(node, "rung", owner.file, owner.report)
    acts = [act for act in ACTS if act in fields]
    if len(acts) != 1 or "after" not in fields:
        reason = "a step of a ladder has 'after' and one of remind, reassign, escalate"
        fields.wrong(None, "rung", reason, "Write for example {after: P1D, remind: true}.")
        return
    act = acts[0]
    if act == "remind" and not fields.boolean("remind"):
        return
    rung, fault = make_rung(fields.text("after"), act, "" if act == "remind" else fields.text(act))
    if rung is None:
        fields.wrong(fields.get("after"), "rung", fault)
    else:
        yield rung


def texts_of(contract: TaskContract) -> tuple[str, ...]:
    """Everything that may be a template."""
    return (contract.title, contract.assignee, *contract.groups, *contract.users, contract.due)


def filled(contract: TaskContract, args: Mapping[str, Any]) -> TaskContract:
    """The contract with the arguments of one call; what is missing or is no text, number or truth is empty."""

    def fill(template: str) -> str:
        return substitute(template, lambda name: _word(args.get(argument_name(name))))

    return replace(
        contract, title=fill(contract.title), assignee=fill(contract.assignee).strip(), due=fill(contract.due).strip(),
        groups=tuple(name for each in contract.groups for name in _groups(each, fill)),
        users=tuple(name for each in contract.users for name in names_of(fill(each))),
    )  # fmt: skip


def _groups(template: str, fill: Callable[[str], str]) -> tuple[str, ...]:
    """The groups of a template. Of those joined by `+` each stays one group, whatever the arguments are."""
    if "+" not in template:
        return names_of(fill(template))
    parts = (" ".join(fill(each).replace("+", " ").replace(",", " ").split()) for each in template.split("+"))
    return (" + ".join(part or NAMELESS for part in parts),)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(_word(each) for each in value)
    return str(value) if isinstance(value, str | int | float) else ""

"""The README of a project: the drawing, the tables of tasks, waits and user tasks, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable

from perdure.bpmn.contract.policies import values
from perdure.scaffold.project import Blueprint
from perdure.scaffold.targets.temporal.names import Names


def readme(blueprint: Blueprint, names: Names) -> str:
    contract, lock = blueprint.contract, blueprint.lock
    title = contract.process.name or contract.process.id
    lines = [f"# {_cell(title)}", "", *_paragraph(contract.process.documentation), "![The process](process.svg)", ""]
    lines += [
        f"The model is `{lock.model}`, its policies are `{lock.catalogue}`. Workflow type: `{lock.current().type}`."
    ]
    tasks = sorted(contract.work.items())
    lines += _table("Tasks", ("step", "type", "policy", "body"), [
        (id, f"`{work.definition.type}`", work.definition.policy,
         f"`src/{names.package}/activities/{names.functions[work.definition.type]}.py`")
        for id, work in tasks
    ])  # fmt: skip
    lines += _table("Waits", ("step", "message", "correlation key"), [
        (id, f"`{wait.name}`", f"`{wait.subscription.correlation_key.text}`")
        for id, wait in sorted(contract.waits.items())
    ])  # fmt: skip
    lines += _table("User tasks", ("step", "Update", "check"), [
        (id, f"`{gate.update}`", f"`check_{names.methods[id]}` in `src/{names.package}/gates.py`")
        for id, gate in sorted(contract.gates.items())
    ])  # fmt: skip
    lines += _table("Policies", ("policy", "whole", "attempt", "attempts"), [
        (policy.name, f"{values(policy)['schedule_to_close']} s", f"{values(policy)['start_to_close']} s",
         str(policy.retry.maximum_attempts))
        for policy in sorted(blueprint.policies, key=lambda each: each.name)
    ])  # fmt: skip
    lines += ["", "## Next", "", "```sh", "pytest                                   # red: names each missing body"]
    lines += [f"python -m {names.package}.worker", "perdure verify .                         # in CI", "```"]
    return "\n".join(lines) + "\n"


def _paragraph(text: str) -> list[str]:
    return [_cell(text), ""] if text.strip() else []


def _table(title: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    found = [f"| {' | '.join(_cell(each) for each in row)} |" for row in rows]
    if not found:
        return []
    return ["", f"## {title}", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *found]


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())

"""Scenario files become values; every unknown key and wrong value is a problem with file and line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import get_args

from perdure.bpmn.machine.deployed_process import Profile
from perdure.errors import DefinitionError
from perdure.testing.scenarios import scenario as v
from perdure.testing.scenarios.step_reader import KIND, Reader, read_step
from perdure.verb_contract import FAILURE_CLASSES, FailureClass, RetryPolicy
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.yaml_nodes import Node, Report
from perdure.verbs.yaml_reader import parse_text

SUFFIXES = (".yaml", ".yml")
_FAILURES: dict[str, FailureClass] = {
    "transient": "transient_external", "external": "transient_external", "infrastructure": "transient_infrastructure",
    "contract": "permanent_contract", "contract_violation": "permanent_contract", "permanent": "permanent_contract",
    "business": "permanent_business", "business_rejection": "permanent_business",
    **{each: each for each in FAILURE_CLASSES},
}  # fmt: skip
_DEPLOYS: dict[str, str] = {"ok": "accepted", "deployed": "accepted"}
_STATES = {
    "running": "active", "waiting": "active", "parked": "active", "complete": "completed", "canceled": "cancelled",
    "aborted": "cancelled",
}  # fmt: skip
"""Older words for the states of instances."""


def find_scenarios(paths: Iterable[str | Path]) -> list[Path]:
    """Files as named, and every scenario below folders, in their order.

    What is not there, or has no scenario in it, is among them: loading it says so, and the others still run.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        inside = sorted(each for each in path.rglob("*") if each.suffix in SUFFIXES and each.is_file())
        found.update(dict.fromkeys(inside or [path]))
    return list(found)


def load_scenario(path: Path) -> v.Scenario:
    """The scenario of a file; DefinitionError with every problem in it."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError as error:
        raise _unreadable(path, "missing", "there is no such file or folder") from error
    except IsADirectoryError as error:
        raise _unreadable(path, "missing", "there is no scenario in this folder") from error
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, "unreadable", f"it cannot be read ({type(error).__name__})") from error
    return read_scenario(text, str(path), path.parent)


def _unreadable(path: Path, code: str, reason: str) -> DefinitionError:
    report = Report()
    report.add((str(path), 1, 1), f"{KIND}.{code}", "", reason)
    return DefinitionError(report.problems)


def read_scenario(text: str, file: str, folder: Path) -> v.Scenario:
    """The scenario a text describes; its model is looked for from `folder`."""
    report = Report()
    documents = parse_text(text, file, report)
    if len(documents) != 1 and not report.problems:
        report.add((file, 1, 1), f"{KIND}.documents", "", f"expected one scenario, found {len(documents)}")
    reader = Reader(file, folder, report)
    scenario = _scenario(reader, documents[0]) if documents else None
    if report.problems or scenario is None:
        raise DefinitionError(report.problems)
    return scenario


def _scenario(reader: Reader, node: Node) -> v.Scenario:
    fields = reader.fields(
        node, "name", "description", "model", "profile", "process", "flags", "verbs", "retry", "do", "expect"
    )
    steps, lines = _steps(reader, fields.get("do"))
    return v.Scenario(
        file=reader.file, model=reader.model(fields), profile=fields.word("profile", get_args(Profile), "hollow"),
        process=fields.text("process"), flags=reader.flags(fields), verbs=_verbs(reader, fields.get("verbs")),
        retry=_policy(reader, fields.get("retry")), steps=steps, lines=lines,
        expect=_expectation(reader, fields.get("expect")), remarks=tuple(reader.notes),
    )  # fmt: skip


def _steps(reader: Reader, node: Node | None) -> tuple[tuple[v.Step, ...], tuple[int, ...]]:
    if node is None:
        return (), ()
    if not isinstance(node.value, list):
        reader.wrong(node, "wrong_type", f"expected a list of steps, found {node.kind()}")
        return (), ()
    read = [(step, item) for item in node.value if (step := read_step(reader, item)) is not None]
    _check_names(reader, read)
    return tuple(step for step, _ in read), tuple(item.line for _, item in read)


def _check_names(reader: Reader, read: list[tuple[v.Step, Node]]) -> None:
    named: dict[str, int] = {}
    for step, item in read:
        if not isinstance(step, v.Start) or not step.name:
            continue
        if step.name in named:
            reason = f"an instance was already started as '{step.name}' on line {named[step.name]}"
            reader.wrong(item, "name", reason, "Give every instance a name of its own.")
        named.setdefault(step.name, item.line)


def _verbs(reader: Reader, node: Node | None) -> dict[str, tuple[v.Behaviour, ...]]:
    if node is None:
        return {}
    if not isinstance(node.value, dict):
        reader.wrong(node, "wrong_type", f"expected a mapping of task types, found {node.kind()}")
        return {}
    return {name: _behaviours(reader, each) for name, each in node.value.items()}


def _behaviours(reader: Reader, node: Node) -> tuple[v.Behaviour, ...]:
    """One behaviour, or one per execution."""
    if not isinstance(node.value, list):
        return (_behaviour(reader, node),)
    if not node.value:
        reader.wrong(node, "empty", "a list of executions has at least one")
    return tuple(_behaviour(reader, each) for each in node.value)


def _behaviour(reader: Reader, node: Node) -> v.Behaviour:
    fields = reader.fields(node, "data", "flags", "fail", "business_error", "takes", "message")
    if "fail" in fields and "business_error" in fields:
        reader.wrong(node, "wrong_value", "an execution either fails or raises a business error")
    if fields.get("business_error") is not None and ("data" in fields or "flags" in fields):
        reader.notes.append(f"Line {node.line}: a business error brings no data and no flags; they are left out.")
    fail = fields.get("fail")
    kind = fields.word("fail", tuple(_FAILURES), "transient") if fail is not None else ""
    return v.Behaviour(
        data=reader.mapping(fields, "data"), flags=reader.flags(fields), fail=_FAILURES[kind] if kind else None,
        business_error=_code(fields), takes_seconds=fields.duration("takes") or 0.0, text=fields.text("message"),
    )  # fmt: skip


def _code(fields: Fields) -> str:
    node = fields.get("business_error")
    return str(node.value) if node is not None and type(node.value) is int else fields.text("business_error")


def _policy(reader: Reader, node: Node | None) -> RetryPolicy:
    if node is None:
        return v.AT_ONCE
    fields = reader.fields(node, "max_attempts", "backoff", "base_delay", "max_delay")
    base = fields.duration("base_delay") or 0.0
    return RetryPolicy(
        max_attempts=fields.integer("max_attempts", v.AT_ONCE.max_attempts, 1, 1000),
        backoff=fields.word("backoff", ("exponential", "linear", "fixed"), "fixed"),
        base_delay_seconds=base, max_delay_seconds=fields.duration("max_delay") or max(base, 3600.0), jitter=0.0,
    )  # fmt: skip


def _expectation(reader: Reader, node: Node | None) -> v.Expectation | None:
    if node is None:
        return None
    fields = reader.fields(
        node, "deploy", "code", "state", "ran", "visited", "parked", "incidents", "flags", "data", "any_order"
    )
    states = fields.get("state")
    by_name = states is not None and isinstance(states.value, dict)
    return v.Expectation(
        deploy=fields.word("deploy", ("accepted", "refused"), "accepted", _DEPLOYS) if "deploy" in fields else None,  # type: ignore[arg-type]
        codes=fields.texts("code"),
        state=fields.word("state", v.STATES, "", _STATES) or None if not by_name else None,
        states=_states(reader, states) if states is not None and by_name else {},
        ran=_groups(reader, fields, "ran"), visited=_groups(reader, fields, "visited"),
        parked=_names(reader, fields, "parked"), incidents=_count(fields), flags=reader.flags(fields),
        data=reader.mapping(fields, "data"), any_order=fields.boolean("any_order"),
    )  # fmt: skip


def _count(fields: Fields) -> int | None:
    return fields.integer("incidents", 0, 0, 1_000_000) if "incidents" in fields else None


def _states(reader: Reader, node: Node) -> dict[str, str]:
    fields = reader.fields(node, *node.value)
    return {name: fields.word(name, v.STATES, "", _STATES) for name in node.value}


def _groups(reader: Reader, fields: Fields, key: str) -> tuple[v.Group, ...] | None:
    """What comes one after the other; `{any: […]}` stands for several in any order. Nothing written is nothing."""
    if key not in fields:
        return None
    node = fields.get(key)
    items = [] if node is None else node.value if isinstance(node.value, list) else [node]
    return tuple(_group(reader, item) for item in items)


def _group(reader: Reader, node: Node) -> v.Group:
    if isinstance(node.value, dict):
        return reader.fields(node, "any").texts("any")
    return (_name(reader, node),)


def _names(reader: Reader, fields: Fields, key: str) -> tuple[str, ...] | None:
    groups = _groups(reader, fields, key)
    return None if groups is None else tuple(name for group in groups for name in group)


def _name(reader: Reader, node: Node) -> str:
    if isinstance(node.value, str):
        return node.value
    reader.wrong(node, "wrong_type", f"expected a name, found {node.kind()}", "Put it in quotes.")
    return ""

"""Turns models and cases of the public conformance corpus into scenarios: scripts and conditions only."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.conditions.tree import Compare, Condition, Foreign
from perdure.bpmn.xml import read_model, write_model
from perdure.testing.scenarios import scenario as v

MAX_INCREMENTS = 8
NUMBER = "orch_integer_variable"
TRUE = "orch_true"
SILENT = frozenset(
    {"CREATE_LOG_FILE", "INCREMENT_INTEGER_VARIABLE", "SET_STRING_DATA", "THROW_ERROR", "WAIT_TEN_SECONDS"}
)
LOGGED = {
    "CREATE_MARKER_FILE": "MARKER_exists",
    "INCREMENT_INTEGER_VARIABLE_AND_LOG": "INCREMENT",
    "LOG_DATA": "DATA_correct",
}
_CONTAINS = re.compile(r'(!?)test\.contains\("(\w)"\)')
_NUMBER = re.compile(r"integerVariable\s*(<=|>=|<|>)\s*(\d+)")
_COUNT = re.compile(r"activationCount\s*(<=|>=|<|>)\s*(\d+)")


class Case(msgspec.Struct, frozen=True):
    """One case of the corpus."""

    model: str
    feature: str
    input: str | None
    integer: int
    delay_ms: int
    parallel: bool
    expect: tuple[str, ...]
    number: int

    @property
    def name(self) -> str:
        return f"{self.feature}-{self.number}-{self.input or self.integer}"


def cases(corpus: Path) -> list[Case]:
    """Every case, in the order of the file."""
    return [
        Case(
            model["model"], model["feature"], case["input"], case["integerVariable"], case["delay_ms"],
            case["parallelProcess"], tuple(case["expect"]), number,
        )
        for model in msgspec.json.decode((corpus / "cases.json").read_bytes())
        for number, case in enumerate(model["cases"], 1)
    ]  # fmt: skip


def scenario_of(case: Case, corpus: Path, folder: Path) -> v.Scenario:
    """The case as a scenario; its translated model is written into the folder."""
    path = corpus / "models" / case.model
    model = translated(read_model(path.read_bytes(), str(path)))
    adapted = folder / f"{case.feature}.bpmn"
    adapted.write_text(write_model(model))
    steps: list[v.Step] = [v.Start(process="ParallelProcess")] if case.parallel else []
    steps.append(v.Start(process=case.feature))
    if case.delay_ms:
        steps.append(v.Advance(seconds=case.delay_ms / 1000))
    return v.Scenario(
        file=case.name, model=adapted, profile="open", flags=_flags(case), verbs=_verbs(case, model.definitions),
        steps=tuple(steps),
    )  # fmt: skip


def log_of(case: Case, actual: v.Actual) -> Counter[str]:
    """The tokens a conforming engine would have left. The marker is a file, looked for only where a case asks."""
    log: Counter[str] = Counter()
    for type in actual.ran:
        token = type.removeprefix("betsy.")
        if token not in SILENT:
            log[LOGGED.get(token, token)] += 1
    log["MARKER_exists"] = int(log["MARKER_exists"] > 0 and "MARKER_exists" in case.expect)
    if actual.incidents:
        log["ERROR_runtime"] += 1
    if "failed" in (actual.state, *actual.states.values()):
        log["ERROR_thrownErrorEvent"] += 1
    if actual.deploy == "refused":
        log["ERROR_deployment"] += 1
    return log


def _flags(case: Case) -> v.Flags:
    letters = {f"orch_test_has_{letter}": letter in (case.input or "") for letter in "abcdef"}
    return {**letters, NUMBER: case.integer, TRUE: True}


def _verbs(case: Case, definitions: m.Definitions) -> dict[str, tuple[v.Behaviour, ...]]:
    counts = tuple(v.Behaviour(flags={NUMBER: case.integer + step}) for step in range(1, MAX_INCREMENTS))
    code = definitions.errors[0].code if definitions.errors else "ERROR"
    return {
        "betsy.INCREMENT_INTEGER_VARIABLE": counts,
        "betsy.INCREMENT_INTEGER_VARIABLE_AND_LOG": counts,
        "betsy.THROW_ERROR": (v.Behaviour(business_error=code),),
        "betsy.WAIT_TEN_SECONDS": (v.Behaviour(takes_seconds=10),),
    }


def translated(model: m.Model) -> m.Model:
    """The model with its script tokens as task types and its conditions in our grammar."""
    processes = tuple(replace(process, body=_scope(process.body)) for process in model.definitions.processes)
    return replace(model, definitions=replace(model.definitions, processes=processes))


def _scope(body: m.Scope) -> m.Scope:
    flows = tuple(replace(flow, condition=_condition(flow.condition)) for flow in body.flows)
    return replace(body, nodes=tuple(map(_node, body.nodes)), flows=flows)


def _node(node: m.Node) -> m.Node:
    changes: dict[str, Any] = {}
    if isinstance(node, m.Task) and node.kind == "script" and (node.script or node.type):
        changes |= {"type": f"betsy.{node.script.strip() or node.type}", "script": "", "script_language": ""}
    if isinstance(node, m.Task | m.SubProcess | m.CallActivity):
        changes |= {"repeat": _repeat(node.repeat)}
    if isinstance(node, m.SubProcess):
        changes |= {"body": _scope(node.body)}
    if isinstance(node, m.Gateway):
        changes |= {"activation": _condition(node.activation)}
    if isinstance(node, m.Event):
        changes |= {"triggers": tuple(map(_trigger, node.triggers))}
    return replace(node, **changes)


def _trigger(trigger: m.Trigger) -> m.Trigger:
    if isinstance(trigger, m.ConditionalTrigger):
        condition = _condition(trigger.condition)
        assert condition is not None
        return replace(trigger, condition=condition)
    return trigger


def _repeat(repeat: m.StandardLoop | m.MultiInstance | None) -> m.StandardLoop | m.MultiInstance | None:
    if isinstance(repeat, m.StandardLoop):
        return replace(repeat, condition=_condition(repeat.condition))
    if isinstance(repeat, m.MultiInstance):
        is_variable = "integerVariable" in repeat.cardinality.text
        cardinality = m.Value(NUMBER, "flag") if is_variable else repeat.cardinality
        return replace(repeat, cardinality=cardinality, completion=_condition(repeat.completion))
    return repeat


def _condition(condition: Condition | None) -> Condition | None:
    if not isinstance(condition, Foreign):
        return condition
    text = condition.text.strip().removesuffix(">")  # one model has a stray one
    if found := _CONTAINS.fullmatch(text):
        return Compare(f"orch_test_has_{found[2]}", "=", not found[1])
    if found := _NUMBER.fullmatch(text):
        return Compare(NUMBER, found[1], int(found[2]))  # type: ignore[arg-type]
    if found := _COUNT.fullmatch(text):
        return Compare(m.ACTIVATION_COUNT, found[1], int(found[2]))  # type: ignore[arg-type]
    if text in ("true", "false"):
        return Compare(TRUE, "=", text == "true")
    raise ValueError(f"the corpus has a condition nobody told of: {text}")

"""The reader of a verb's `execution`: kind, handler, policy, process, payload mapping and flags."""

from __future__ import annotations

import re
from typing import Any, get_args

import msgspec

from perdure.durations import parse_business_days
from perdure.payload import pointer
from perdure.verb_contract import (
    FAILURE_CLASSES,
    FLAG_NAME,
    Backoff,
    FailureClass,
    FlagContract,
    FlagFormat,
    FlagMerge,
    FlagType,
    RetryPolicy,
    UnreachablePolicy,
    nature_of,
)
from perdure.verbs.agent_handlers import read_agent
from perdure.verbs.definition import (
    CRUD,
    DEFAULT_CORRELATION_KEY,
    DEFAULT_MAX_BYTES,
    START_PROCESS,
    Effects,
    Execution,
    ExecutionKind,
    Reevaluate,
)
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.schema_shorthand import argument_name
from perdure.verbs.task_section_reader import read_task
from perdure.verbs.yaml_keys import RETRY_KEYS
from perdure.verbs.yaml_nodes import Node

KIND_ALIASES: dict[str, ExecutionKind] = {"direct": "sync", "workflow": "durable"}
CRUD_OPERATIONS = {
    "create": "create",
    "insert": "create",
    "entity_create": "create",
    "read": "read",
    "get": "read",
    "select": "read",
    "update": "update",
    "delete": "delete",
    "list": "list",
    "list_by_fk": "list",
    "upsert": "upsert",
    "entity_upsert": "upsert",
    "history": "history",
}
_BACKOFFS: tuple[Backoff, ...] = ("exponential", "linear", "fixed")
_FLAG_TYPES: tuple[FlagType, ...] = ("string", "boolean", "integer", "enum")
_DURABLE_ONLY = ("process", "correlation", "sub_verbs", "flags", "compensation", "wait", "task")
_ALL_MERGES: tuple[FlagMerge, ...] = ("any", "all", "sum", "max")
_FORMATS: tuple[FlagFormat, ...] = ("duration", "date-time")
_MERGES = {"boolean": ("any", "all"), "integer": ("sum", "max")}
MAX_ATTEMPTS = 1000
MAX_PAYLOAD_BYTES = 16_777_216


def read_execution(fields: Fields) -> Execution:
    """The execution as declared; whatever is wrong is in the report."""
    kind = fields.word("kind", ("sync", "durable"), "sync", KIND_ALIASES)
    if kind == "sync":
        _refuse_durable_keys(fields)
    else:
        _refuse_sync_keys(fields)
    handler = fields.optional_text("handler")
    base = _carried_by_process(fields) if handler == START_PROCESS else _own(fields, handler)
    return msgspec.structs.replace(base, kind=kind, **_common(fields, base))


def _own(fields: Fields, handler: str | None) -> Execution:
    payload = fields.child("payload", "payload")
    policy = fields.child("policy", "policy")
    seconds, text = _timeout(policy) if policy else (None, "")
    return Execution(
        handler=handler,
        params=_crud_params(fields) if handler == CRUD else fields.data("params"),
        process=fields.optional_text("process"),
        correlation_key=read_correlation(fields),
        payload_in=_payload_in(payload) if payload else {},
        payload_out=tuple(argument_name(name) for name in payload.texts("out")) if payload else (),
        payload_merge=_payload_merge(payload) if payload else {},
        max_bytes=payload.integer("max_bytes", DEFAULT_MAX_BYTES, 2, MAX_PAYLOAD_BYTES)
        if payload
        else DEFAULT_MAX_BYTES,
        timeout_seconds=seconds,
        timeout_text=text,
        escalation=policy.optional_text("escalation") if policy else None,
        unreachable=_unreachable(policy) if policy else None,
    )


def _carried_by_process(fields: Fields) -> Execution:
    """`bpmn::start_process` with its params is another way to write process, correlation and policy."""
    own = _own(fields, None)
    params = fields.child("params", "start_process")
    if params is None:
        fields.wrong(fields.get("handler"), "params", f"'{START_PROCESS}' needs params with a process_ref")
        return own
    field = params.optional_text("correlation_field")
    key = f"${argument_name(field)}" if field else own.correlation_key
    seconds, text = (own.timeout_seconds, own.timeout_text) if own.has_timeout else _timeout(params)
    return msgspec.structs.replace(
        own,
        params={},
        process=params.text("process_ref", required=True) or own.process,
        correlation_key=key,
        timeout_seconds=seconds,
        timeout_text=text,
        escalation=own.escalation or params.optional_text("escalation"),
    )


def _timeout(fields: Fields) -> tuple[float | None, str]:
    """How long a wait lasts: seconds, or the text of business days, whose length is known once it opens."""
    node = fields.get("timeout")
    if node is not None and isinstance(node.value, str) and parse_business_days(node.value) is not None:
        return None, node.value.strip()
    return fields.duration("timeout"), ""


def _unreachable(policy: Fields) -> UnreachablePolicy | None:
    """How long a step waits for an engine that cannot be reached."""
    fields = policy.child("unreachable", "unreachable")
    if fields is None:
        return None
    timeout = fields.duration("timeout")
    if timeout is None:
        fields.wrong(fields.node, "missing", "'unreachable' needs a 'timeout'", "Write timeout: PT1H.")
    base, most = fields.duration("base_delay"), fields.duration("max_delay")
    base = 1.0 if base is None else base
    most = max(base, 60.0) if most is None else most
    if base > most:
        fields.wrong(fields.get("max_delay"), "wrong_value", "'max_delay' is shorter than 'base_delay'")
    return UnreachablePolicy(timeout or 0.0, base, most)


def _common(fields: Fields, base: Execution) -> dict[str, Any]:
    natural: Effects = "store" if base.handler == CRUD else "external"
    compensation = fields.text_mapping("compensation")
    task = fields.child("task", "task")
    agent = fields.child("agent", "agent")
    return {
        "effects": fields.word("effects", ("none", "store", "external"), natural),
        "redelivery": fields.word("redelivery", ("rerun", "incident"), "rerun"),
        "retry": _read_retry(fields),
        "states_retry": _states_retry(fields),
        "sub_verbs": fields.texts("sub_verbs"),
        "flags": tuple(read_flag(name, node, fields) for name, node in fields.mapping("flags").items()),
        "compensation": compensation,
        "compensate": fields.optional_text("compensate"),
        "alternatives": fields.texts("alternatives"),
        "decision": fields.boolean("decision"),
        "reevaluate": _read_reevaluate(fields),
        "is_shared": _is_shared(fields),
        "task": read_task(task) if task is not None else None,
        "agent": read_agent(agent) if agent is not None else None,
        "wait": fields.word("wait", ("track", "block"), "track", {"fire-and-track": "track", "blocking": "block"}),
    }


def _read_reevaluate(fields: Fields) -> Reevaluate:
    is_always = fields.word("reevaluate", get_args(Reevaluate), "decisions") == "always"
    if is_always and not fields.boolean("decision"):
        hint = "Write decision: true, or remove the key."
        fields.wrong(fields.get("reevaluate"), "wrong_kind", "only a decision is asked at every resume", hint)
    return "always" if is_always else "decisions"


def _refuse_durable_keys(fields: Fields) -> None:
    for key in _DURABLE_ONLY:
        if key in fields:
            hint = "Write kind: durable, or remove the key."
            fields.wrong(fields.get(key), "wrong_kind", f"'{key}' belongs to a durable verb and this one is sync", hint)


def _refuse_sync_keys(fields: Fields) -> None:
    if "compensate" in fields:
        reason = "'compensate' belongs to a sync verb"
        fields.wrong(fields.get("compensate"), "wrong_kind", reason, "A durable verb lists 'compensation'.")
    if "agent" in fields:
        reason = "'agent' belongs to a sync verb: what a durable one results in is what ends its wait"
        fields.wrong(fields.get("agent"), "wrong_kind", reason, "Write kind: sync, or remove the key.")


def read_correlation(fields: Fields) -> str:
    node = fields.get("correlation")
    if node is None:
        return DEFAULT_CORRELATION_KEY
    if isinstance(node.value, str):
        return node.value
    correlation = Fields(node, "correlation", fields.file, fields.report)
    field = correlation.optional_text("field")
    key = correlation.optional_text("key") or correlation.optional_text("business_key")
    return key or (f"${argument_name(field)}" if field else DEFAULT_CORRELATION_KEY)


def _is_shared(fields: Fields) -> bool:
    node = fields.get("correlation")
    if node is None or isinstance(node.value, str):
        return False
    return Fields(node, "correlation", fields.file, fields.report).boolean("fanout")


def _crud_params(fields: Fields) -> dict[str, Any]:
    params = fields.data("params")
    operation = params.get("operation")
    if not isinstance(operation, str) or operation not in CRUD_OPERATIONS:
        at = fields.mapping("params").get("operation") or fields.get("handler")
        names = ", ".join(dict.fromkeys(CRUD_OPERATIONS.values()))
        fields.wrong(at, "operation", f"'{operation}' is not a CRUD operation", f"Known operations: {names}.")
        return params
    return {**params, "operation": CRUD_OPERATIONS[operation]}


def _payload_in(payload: Fields) -> dict[str, str]:
    return {argument_name(name): source for name, source in payload.text_mapping("in").items()}


def _payload_merge(payload: Fields) -> dict[str, FlagMerge]:
    """The rule of each path; `case.total` and `/case/total` are one path."""
    rules: dict[str, FlagMerge] = {}
    for written, node in payload.mapping("merge").items():
        path = written if written.startswith("/") else pointer(tuple(map(argument_name, written.split("."))))
        if "" in path.split("/")[1:]:
            payload.wrong(node, "name", f"the path '{written[:80]}' names no field", "Write e.g. case.total: sum.")
        elif path in rules:
            payload.wrong(node, "clash", f"the path '{written}' is given twice", "Keep one.")
        elif node.value in _ALL_MERGES:
            rules[path] = node.value
        else:
            reason = f"'{node.value}' is not one of {', '.join(_ALL_MERGES)}"
            payload.wrong(node, "unknown_value", reason)
    return rules


def _read_retry(fields: Fields) -> RetryPolicy:
    policy, retry = _policies(fields)
    if policy is not None and retry is not None:
        for key in sorted(set(policy.keys()) & set(retry.keys())):
            fields.wrong(retry.get(key), "clash", f"'{key}' is given in both 'retry' and 'policy'", "Keep one.")
    found = [read_retry(part) for part in (policy, retry) if part is not None]
    changes = {name: value for part in found for name, value in part.items()}
    return RetryPolicy(**changes)


def _states_retry(fields: Fields) -> bool:
    return any(part is not None and RETRY_KEYS.intersection(part.keys()) for part in _policies(fields))


def _policies(fields: Fields) -> tuple[Fields | None, Fields | None]:
    return fields.child("policy", "policy"), fields.child("retry", "retry")


def read_retry(fields: Fields) -> dict[str, Any]:
    """Only what is written, so that two places can be combined."""
    changes: dict[str, Any] = {}
    if "max_attempts" in fields:
        changes["max_attempts"] = fields.integer("max_attempts", 1, 1, MAX_ATTEMPTS)
    if "max_retries" in fields:
        # Retries do not count the first attempt; attempts do.
        changes["max_attempts"] = fields.integer("max_retries", 0, 0, MAX_ATTEMPTS - 1) + 1
        if "max_attempts" in fields:
            fields.wrong(fields.get("max_retries"), "clash", "'max_attempts' and 'max_retries' are both given")
    if "backoff" in fields:
        changes["backoff"] = fields.word("backoff", _BACKOFFS, "exponential")
    for key in ("base_delay", "max_delay"):
        if (seconds := fields.duration(key)) is not None:
            changes[f"{key}_seconds"] = seconds
    if "jitter" in fields:
        changes["jitter"] = fields.fraction("jitter", 0.1)
    if "retry_on" in fields:
        changes["retry_on"] = _failure_classes(fields)
    _check_delays(fields, changes)
    return changes


def _check_delays(fields: Fields, changes: dict[str, Any]) -> None:
    policy = RetryPolicy()
    base = changes.get("base_delay_seconds", policy.base_delay_seconds)
    if "max_delay_seconds" not in changes:
        changes["max_delay_seconds"] = max(base, policy.max_delay_seconds)
    elif base > changes["max_delay_seconds"]:
        fields.wrong(fields.get("max_delay"), "wrong_value", "'max_delay' is shorter than 'base_delay'")


def _failure_classes(fields: Fields) -> tuple[FailureClass, ...]:
    known: dict[str, FailureClass] = {name: name for name in FAILURE_CLASSES if nature_of(name) != "contract"}
    found: list[FailureClass] = []
    for name in fields.texts("retry_on"):
        if name not in known and name in FAILURE_CLASSES:
            reason = "a broken contract is never tried again: it becomes an incident at once"
            fields.wrong(fields.get("retry_on"), "unknown_value", reason, "Leave it out.")
        elif name in known:
            found.append(known[name])
        else:
            reason = f"'{name}' is not one of {', '.join(FAILURE_CLASSES)}"
            fields.wrong(fields.get("retry_on"), "unknown_value", reason)
    return tuple(dict.fromkeys(found))


def read_flag(written: str, node: Node, owner: Fields) -> FlagContract:
    """One flag contract; `orch.x` is another spelling of `orch_x`."""
    fields = Fields(node, "flag", owner.file, owner.report)
    argument = _argument(fields)
    flag = FlagContract(
        name=flag_name(written, node, fields),
        type=fields.word("type", _FLAG_TYPES, "string"),
        values=fields.texts("values"),
        initial=None if argument else _initial(fields),
        argument=argument,
        once=fields.boolean("once"),
        writers=fields.texts("writers"),
        merge=fields.word("merge", _ALL_MERGES, "any") if "merge" in fields else None,
        format=fields.word("format", _FORMATS, "duration") if "format" in fields else None,
    )
    _check_flag(fields, flag)
    return flag


def flag_name(written: str, node: Node, fields: Fields) -> str:
    """The name of a flag as it is kept, whichever way it was written."""
    name = re.sub(r"^orch\.", "orch_", written).replace("-", "_")
    if not FLAG_NAME.fullmatch(name):
        fields.wrong(node, "name", f"the flag '{written[:80]}' is not named orch_<words>", "Write e.g. orch_approved.")
    return name


def _argument(fields: Fields) -> str:
    """The argument that `initial: $name` stands for; empty when the first value is written out."""
    node = fields.get("initial")
    is_taken = node is not None and isinstance(node.value, str) and node.value.startswith("$")
    return argument_name(node.value[1:]) if node is not None and is_taken else ""


def _initial(fields: Fields) -> str | bool | int | None:
    node = fields.get("initial")
    if node is None:
        return None
    if isinstance(node.value, str | bool | int):
        return node.value
    fields.wrong(node, "wrong_type", f"a flag holds text, true/false or an integer, not {node.kind()}")
    return None


def _check_flag(fields: Fields, flag: FlagContract) -> None:
    if "type" not in fields:
        fields.missing("type")
    if flag.type == "enum":
        if not flag.values:
            fields.wrong(None, "values", f"the enum flag '{flag.name}' lists no values", "Add values: [pending, done].")
        elif not flag.begins_set:
            hint = f"Add e.g. initial: {flag.values[0]}."
            fields.wrong(None, "initial", f"the enum flag '{flag.name}' has no initial value", hint)
    elif flag.values:
        fields.wrong(fields.get("values"), "values", f"only an enum flag lists values and '{flag.name}' is {flag.type}")
    if flag.format is not None and flag.type != "string":
        fields.wrong(fields.get("format"), "format", f"only text has a format and '{flag.name}' is {flag.type}")
    if flag.merge is not None and flag.merge not in _MERGES.get(flag.type, ()):
        fields.wrong(fields.get("merge"), "merge", f"a flag of type {flag.type} cannot merge by '{flag.merge}'")
    if flag.initial is not None and (reason := flag.fault(flag.initial)) is not None:
        fields.wrong(fields.get("initial"), "initial", f"the initial value does not fit: {reason}")

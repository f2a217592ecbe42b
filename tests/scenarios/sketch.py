"""Short texts that become BPMN models, so that a folder of scenarios shows its models at a glance.

    == name of the model, which is also the id of its first process
    start s
    service a verb.a retries=2
    boundary b on a non timer duration PT1H
    xor g
    sub p {
      ...
    }
    s > a > g          flows
    g > e if orch_x = 1
    g > f default
    b ~ undo           an association
    process other      another process of the file

Events take triggers: message NAME [key=VALUE], timer KIND TEXT, signal NAME, error [CODE], escalation [CODE],
compensation [ACTIVITY], link NAME, condition TEXT, terminate, cancel; several are joined by `+`, `all` wants them all.
`~NAME` is an error or escalation that has a name and no code.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from perdure.bpmn import model as m
from perdure.bpmn.conditions.parser import parse_condition
from perdure.bpmn.conditions.tree import Foreign

TASKS = {
    "task": "none", "service": "service", "send": "send", "receive": "receive", "user": "user", "manual": "manual",
    "script": "script", "rule": "business_rule",
}  # fmt: skip
GATEWAYS = {"xor": "exclusive", "and": "parallel", "or": "inclusive", "race": "event", "complex": "complex"}
SUBS = {"sub": "embedded", "eventsub": "event", "transaction": "transaction", "adhoc": "ad_hoc"}
EVENTS = ("start", "end", "catch", "throw", "boundary")


def sketches(text: str) -> dict[str, m.Model]:
    """Every model of a text, by name."""
    return {name: _Sketch(name).model(lines) for name, lines in _parts(text)}


def _parts(text: str) -> Iterator[tuple[str, list[str]]]:
    name, lines = "", []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("== "):
            if name:
                yield name, lines
            name, lines = line[3:].strip(), []
        elif line and not line.startswith("#"):
            lines.append(line)
    if name:
        yield name, lines


def condition(text: str) -> Any:
    found = parse_condition(text.removeprefix("=").strip())
    assert not isinstance(found, Foreign), found
    return found


def value(text: str) -> m.Value:
    return m.Value(text.removeprefix("="), "flag") if text.startswith(("orch_", "=orch_")) else m.Value(text)


class _Sketch:
    def __init__(self, name: str) -> None:
        self._name = name
        self._messages: dict[str, m.Message] = {}
        self._signals: dict[str, m.Signal] = {}
        self._errors: dict[str, m.Error] = {}
        self._escalations: dict[str, m.Escalation] = {}

    def model(self, lines: list[str]) -> m.Model:
        processes = []
        for name, own in self._processes(lines):
            processes.append(m.Process(id=name, body=self._scope(iter(own), name)))
        return m.Model(
            definitions=m.Definitions(
                id=f"{self._name}-file", processes=tuple(processes), messages=tuple(self._messages.values()),
                signals=tuple(self._signals.values()), errors=tuple(self._errors.values()),
                escalations=tuple(self._escalations.values()),
            )
        )  # fmt: skip

    def _processes(self, lines: list[str]) -> Iterator[tuple[str, list[str]]]:
        name, own = self._name, []
        for line in lines:
            if line.startswith("process "):
                yield name, own
                name, own = line.split()[1], []
            else:
                own.append(line)
        yield name, own

    def _scope(self, lines: Iterator[str], name: str) -> m.Scope:
        nodes: dict[str, m.Node] = {}
        flows: list[m.Flow] = []
        associations: list[m.Association] = []
        defaults: dict[str, str] = {}
        for line in lines:
            if line == "}":
                break
            words = shlex.split(line)
            if len(words) > 2 and words[1] == ">":
                self._flows(line, flows, defaults)
            elif len(words) > 2 and words[1] == "~":
                associations.append(
                    m.Association(id=f"{words[0]}_undo", source=words[0], target=words[2], direction="One")
                )
            else:
                node = self._node(words, lines)
                assert node.id not in nodes, f"{name}: {node.id} twice"
                nodes[node.id] = node
        made = tuple(_with_default(node, defaults.get(node.id, "")) for node in nodes.values())
        return m.Scope(nodes=made, flows=tuple(flows), associations=tuple(associations))

    def _flows(self, line: str, flows: list[m.Flow], defaults: dict[str, str]) -> None:
        chained, _, text = line.partition(" if ")
        test, words = condition(text) if text else None, chained.split()
        is_default = words[-1] == "default"
        chain = [word for word in (words[:-1] if is_default else words) if word != ">"]
        for source, target in pairwise(chain):
            id = f"{source}_{target}"
            id += f"_{sum(flow.id.startswith(id) for flow in flows)}" if any(flow.id == id for flow in flows) else ""
            flows.append(m.Flow(id=id, source=source, target=target, condition=test))
            if is_default:
                defaults[source] = id

    def _node(self, words: list[str], lines: Iterator[str]) -> m.Node:
        kind, id, rest = words[0], words[1], words[2:]
        if kind in EVENTS:
            return self._event(kind, id, rest)
        named = dict(word.split("=", 1) for word in rest if "=" in word and not word.startswith("="))
        plain = [word for word in rest if "=" not in word]
        if kind in GATEWAYS:
            activation = condition(named["activation"]) if "activation" in named else None
            return m.Gateway(id=id, kind=GATEWAYS[kind], activation=activation)  # type: ignore[arg-type]
        shared: dict[str, Any] = {"id": id, "repeat": _repeat(named, plain), "is_for_compensation": "undoes" in plain}
        if "intake" in named:
            shared["properties"] = {"intake": named["intake"]}
        if kind in SUBS:
            completion = condition(named["completion"]) if "completion" in named else None
            return m.SubProcess(
                **shared, kind=SUBS[kind], body=self._scope(lines, id), completion=completion,
                ordering="sequential" if "inorder" in plain else "parallel", cancels_remaining="keep" not in plain,
            )  # fmt: skip
        if kind == "call":
            return m.CallActivity(**shared, **_handing(named), process=plain[0])
        return self._task(kind, shared, named, plain)

    def _task(self, kind: str, shared: dict[str, Any], named: dict[str, str], plain: list[str]) -> m.Task:
        if kind == "receive":
            message = self._message(plain[plain.index("message") + 1], named.get("key", ""))
            return m.Task(**shared, kind="receive", message=message, is_instantiating="starts" in plain)
        if kind == "send" and "message" in plain:
            message = self._message(plain[plain.index("message") + 1], named.get("key", ""))
            return m.Task(**shared, kind="send", message=message)
        has_type = kind in ("service", "send", "script", "rule")
        retries = int(named["retries"]) if "retries" in named else None
        return m.Task(
            **shared, kind=TASKS[kind], type=plain[0] if has_type else "", retries=retries, is_native=kind == "user",
            assignee=value(named["assignee"]) if "assignee" in named else None,
        )  # fmt: skip

    def _event(self, position: str, id: str, words: list[str]) -> m.Event:
        given: dict[str, Any] = {"id": id, "position": position}
        if position == "boundary":
            given["attached_to"], words = words[1], words[2:]
        for word, field, mark in (("non", "is_interrupting", False), ("all", "is_parallel", True)):
            if words and words[0] == word:
                given[field], words = mark, words[1:]
        types = [word.removeprefix("type=") for word in words if word.startswith("type=")]
        words = [word for word in words if not word.startswith("type=")]
        triggers = tuple(self._trigger(part) for part in _split(words))
        return m.Event(**given, triggers=triggers, type=types[0] if types else "")

    def _trigger(self, words: list[str]) -> m.Trigger:  # noqa: PLR0912
        kind, rest = words[0], words[1:]
        first = rest[0] if rest else ""
        match kind:
            case "message":
                return m.MessageTrigger(self._message(first, rest[1].removeprefix("key=") if len(rest) > 1 else ""))
            case "timer":
                return m.TimerTrigger(first, value(rest[1]))  # type: ignore[arg-type]
            case "signal":
                self._signals[first] = m.Signal(id=f"signal-{first}", name=first)
                return m.SignalTrigger(f"signal-{first}")
            case "error":
                name, code = first.removeprefix("~"), "" if first.startswith("~") else first
                if first:
                    self._errors[name] = m.Error(id=f"error-{name}", name=name, code=code)
                return m.ErrorTrigger(f"error-{name}" if first else "")
            case "escalation":
                name, code = first.removeprefix("~"), "" if first.startswith("~") else first
                if first:
                    self._escalations[name] = m.Escalation(id=f"escalation-{name}", name=name, code=code)
                return m.EscalationTrigger(f"escalation-{name}" if first else "")
            case "compensation":
                return m.CompensationTrigger(first)
            case "link":
                return m.LinkTrigger(first)
            case "condition":
                return m.ConditionalTrigger(condition(" ".join(rest)))
            case "terminate":
                return m.TerminateTrigger()
            case "cancel":
                return m.CancelTrigger()
            case _:
                raise ValueError(f"{self._name}: no trigger is called {kind}")

    def _message(self, name: str, key: str) -> str:
        correlation = value(key) if key else None
        if name not in self._messages or correlation is not None:
            self._messages[name] = m.Message(id=f"message-{name}", name=name, correlation=correlation)
        return f"message-{name}"


def _with_default(node: m.Node, flow: str) -> m.Node:
    return replace(node, default=flow) if flow else node


def _split(words: list[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word == "+":
            yield part
            part = []
        else:
            part.append(word)
    if part:
        yield part


def _handing(named: dict[str, str]) -> dict[str, Any]:
    """`hands=orch_a,orch_b` and `returns=orch_c`: only these flags go with a call, and only these come back."""
    ways = (("hands", "input"), ("returns", "output"))
    mappings = [
        m.Mapping(direction, value(flag), flag)  # type: ignore[arg-type]
        for word, direction in ways
        for flag in named.get(word, "").split(",")
        if flag
    ]
    return {"mappings": tuple(mappings), "hands_all": "hands" not in named, "returns_all": "returns" not in named}


def _repeat(named: dict[str, str], plain: list[str]) -> m.StandardLoop | m.MultiInstance | None:
    if "many" in named:
        until = condition(named["until"]) if "until" in named else None
        return m.MultiInstance(value(named["many"]), "inorder" in plain, until)
    if "loop" in named or "most" in named:
        test = condition(named["loop"]) if "loop" in named else None
        return m.StandardLoop(test, "before" in plain, int(named["most"]) if "most" in named else None)
    return None

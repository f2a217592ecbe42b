"""Draws one small picture of every element for `docs/reference/elements`; run it as a module to write them."""

from __future__ import annotations

from typing import get_args

from perdure.bpmn.conditions.tree import Compare
from perdure.bpmn.model import (
    Annotation,
    Association,
    CallActivity,
    CancelTrigger,
    Collaboration,
    CompensationTrigger,
    ConditionalTrigger,
    Definitions,
    ErrorTrigger,
    EscalationTrigger,
    Event,
    Flow,
    Gateway,
    GatewayKind,
    LinkTrigger,
    MessageFlow,
    MessageTrigger,
    Model,
    MultiInstance,
    Node,
    Participant,
    Position,
    Process,
    Scope,
    SignalTrigger,
    StandardLoop,
    SubProcess,
    SubProcessKind,
    Task,
    TaskKind,
    TerminateTrigger,
    TimerTrigger,
    Trigger,
    Value,
)  # fmt: skip
from perdure.bpmn.svg import draw
from tests.house.tree import ROOT

FOLDER = ROOT / "docs" / "reference" / "elements"
TRIGGERS: dict[str, Trigger] = {
    "message": MessageTrigger("m"), "timer": TimerTrigger("duration", Value("PT1H")), "signal": SignalTrigger("s"),
    "error": ErrorTrigger(), "escalation": EscalationTrigger(), "compensation": CompensationTrigger(),
    "link": LinkTrigger("go"), "conditional": ConditionalTrigger(Compare("orch_ready", "=", True)),
    "terminate": TerminateTrigger(), "cancel": CancelTrigger(),
}  # fmt: skip
EVENTS: dict[Position, tuple[str, ...]] = {
    "start": ("none", "message", "timer", "signal", "error", "escalation", "compensation", "conditional"),
    "catch": ("message", "timer", "signal", "conditional", "link"),
    "throw": ("none", "message", "signal", "escalation", "compensation", "link"),
    "end": ("none", "message", "signal", "error", "escalation", "compensation", "terminate", "cancel"),
}
BOUNDARY = ("message", "timer", "signal", "error", "escalation", "conditional", "compensation", "cancel")


def pictures() -> dict[str, str]:
    """Every picture by the name of its file."""
    made = {**_tasks(), **_gateways(), **_events(), **_activities(), **_artifacts()}
    return {f"{name}.svg": draw(Model(definitions=each), margin=8.0) for name, each in made.items()}


def _tasks() -> dict[str, Definitions]:
    names = {kind: f"{kind.replace('_', '-')}-task" for kind in get_args(TaskKind)}
    return {name: _file(Task(id="task", name=_said(kind), kind=kind)) for kind, name in names.items()}


def _said(kind: str) -> str:
    return "Task" if kind == "none" else f"{kind.replace('_', ' ').capitalize()} task"


def _gateways() -> dict[str, Definitions]:
    names: dict[GatewayKind, str] = {kind: f"{kind}-gateway" for kind in get_args(GatewayKind)}
    names["event"] = "event-based-gateway"
    return {name: _file(Gateway(id="gateway", kind=kind)) for kind, name in names.items()}


def _events() -> dict[str, Definitions]:
    made = {
        f"{position}-{kind}": _file(Event(id="event", position=position, triggers=_triggers(kind)))
        for position, kinds in EVENTS.items()
        for kind in kinds
    }
    both = (TRIGGERS["message"], TRIGGERS["timer"])
    made["multiple"] = _file(
        Event(id="start", position="start", triggers=both),
        Event(id="catch", position="catch", triggers=both, is_parallel=True),
        Event(id="throw", position="throw", triggers=both),
    )
    return made | {f"boundary-{kind}": _boundary(kind) for kind in BOUNDARY}


def _triggers(kind: str) -> tuple[Trigger, ...]:
    return (TRIGGERS[kind],) if kind != "none" else ()


def _boundary(kind: str) -> Definitions:
    event = Event(id="event", position="boundary", attached_to="host", triggers=_triggers(kind))
    if kind == "cancel":
        return _file(SubProcess(id="host", name="Transaction", kind="transaction", body=Scope()), event)
    if kind == "compensation":
        undo = Task(id="undo", name="Undo", is_for_compensation=True)
        tie = Association(id="tie", source="event", target="undo", direction="One")
        return _file(Task(id="host", name="Do"), event, undo, associations=(tie,))
    return _file(Task(id="host", name="Task"), event)


def _activities() -> dict[str, Definitions]:
    names: dict[SubProcessKind, str] = {
        "embedded": "subprocess", "event": "event-subprocess", "transaction": "transaction", "ad_hoc": "ad-hoc",
    }  # fmt: skip
    made = {
        name: _file(SubProcess(id="sub", name=_title(name), kind=kind, body=_body(kind)))
        for kind, name in names.items()
    }
    three = Value("3")
    made["call-activity"] = _file(CallActivity(id="call", name="Call activity", process="other"))
    made["multi-instance-parallel"] = _file(Task(id="task", name="All at once", repeat=MultiInstance(three)))
    made["multi-instance-sequential"] = _file(
        Task(id="task", name="One after the other", repeat=MultiInstance(three, is_sequential=True))
    )
    made["loop"] = _file(Task(id="task", name="Again and again", repeat=StandardLoop()))
    return made


def _title(name: str) -> str:
    return name.replace("-", " ").capitalize()


def _body(kind: SubProcessKind) -> Scope:
    if kind == "ad_hoc":
        return Scope(nodes=(Task(id="a", name="In any"), Task(id="b", name="order")))
    triggers = _triggers("message") if kind == "event" else ()
    start = Event(id="a", position="start", triggers=triggers, is_interrupting=kind != "event")
    nodes = (start, Task(id="b", name="Task"), Event(id="c", position="end"))
    return Scope(nodes=nodes, flows=(Flow(id="ab", source="a", target="b"), Flow(id="bc", source="b", target="c")))


def _artifacts() -> dict[str, Definitions]:
    pools = (Participant(id="us", name="Pool", process="process"), Participant(id="them", name="Another pool"))
    task = _file(Task(id="task", name="Task")).processes
    messages = (MessageFlow(id="message", source="task", target="them", name="message"),)
    note = Annotation(id="note", text="A note that explains")
    return {
        "pool": Definitions(id="f", processes=task, collaboration=Collaboration(id="c", participants=pools[:1])),
        "message-flow": Definitions(
            id="f", processes=task, collaboration=Collaboration(id="c", participants=pools, message_flows=messages)
        ),
        "text-annotation": _file(
            Task(id="task", name="Task"), annotations=(note,),
            associations=(Association(id="tie", source="note", target="task"),),
        ),
    }  # fmt: skip


def _file(
    *nodes: Node, associations: tuple[Association, ...] = (), annotations: tuple[Annotation, ...] = ()
) -> Definitions:
    body = Scope(nodes=nodes, associations=associations, annotations=annotations)
    return Definitions(id="file", processes=(Process(id="process", body=body),))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, encoding="utf-8")

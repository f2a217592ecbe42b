"""Processes written as values: a handful of words for the shapes the engine's tests need."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from perdure.bpmn.conditions.tree import Compare
from perdure.bpmn.model import (
    CallActivity,
    Definitions,
    Error,
    ErrorTrigger,
    Event,
    Flow,
    Gateway,
    Message,
    MessageTrigger,
    Model,
    MultiInstance,
    Node,
    Process,
    Scope,
    Signal,
    SignalTrigger,
    Task,
    TimerTrigger,
    Value,
)

START, END = Event(id="start", position="start"), Event(id="end", position="end")


def service(id: str, type: str, **more: Any) -> Task:
    return Task(id=id, kind="service", type=type, **more)


def user(id: str, **more: Any) -> Task:
    return Task(id=id, kind="user", is_native=True, **more)


def wait(id: str, message: str, **more: Any) -> Event:
    return Event(id=id, position="catch", triggers=(MessageTrigger(message),), **more)


def pause(id: str, duration: str) -> Event:
    return Event(id=id, position="catch", triggers=(TimerTrigger("duration", Value(duration)),))


def timer_start(id: str, kind: Any, text: str) -> Event:
    return Event(id=id, position="start", triggers=(TimerTrigger(kind, Value(text)),))


def boundary(id: str, on: str, trigger: Any, *, interrupts: bool = True) -> Event:
    return Event(id=id, position="boundary", attached_to=on, triggers=(trigger,), is_interrupting=interrupts)


def after(duration: str) -> TimerTrigger:
    return TimerTrigger("duration", Value(duration))


def error(code: str) -> ErrorTrigger:
    return ErrorTrigger(code)


def fork(id: str) -> Gateway:
    return Gateway(id=id, kind="parallel")


def call(id: str, process: str, **more: Any) -> CallActivity:
    return CallActivity(id=id, process=process, **more)


def throw(id: str, message: str, *, position: Any = "throw", **more: Any) -> Event:
    return Event(id=id, position=position, triggers=(MessageTrigger(message),), **more)


def throw_signal(id: str, signal: str) -> Event:
    return Event(id=id, position="throw", triggers=(SignalTrigger(signal),))


def times(count: int) -> MultiInstance:
    return MultiInstance(Value(str(count)))


def when(flag: str, literal: Any) -> Compare:
    return Compare(flag, "=", literal)


def flow(source: str, target: str, condition: Any = None) -> Flow:
    return Flow(id=f"{source}-{target}", source=source, target=target, condition=condition)


def line(process: str, *nodes: Node, more: tuple[Node, ...] = (), flows: tuple[Flow, ...] = (), **file: Any) -> Model:
    """Start, the nodes one after the other, end; `more` nodes and `flows` besides. Own starts and ends are kept."""
    has_start = bool(nodes) and isinstance(nodes[0], Event) and nodes[0].position == "start"
    has_end = bool(nodes) and isinstance(nodes[-1], Event) and nodes[-1].position == "end"
    chain = (*(() if has_start else (START,)), *nodes, *(() if has_end else (END,)))
    joined = tuple(flow(one.id, other.id) for one, other in pairwise(chain))
    return model(process, (*chain, *more), (*joined, *flows), **file)


def model(process: str, nodes: tuple[Node, ...], flows: tuple[Flow, ...], **file: Any) -> Model:
    found = Process(id=process, body=Scope(nodes=nodes, flows=flows))
    return Model(definitions=Definitions(id=f"{process}-file", processes=(found,), **file), file=f"{process}.bpmn")


def message(id: str, *, flag: str = "", key: str = "") -> Message:
    return Message(id=id, name=id, correlation=Value(flag, "flag") if flag else Value(key))


def failure(code: str) -> Error:
    return Error(id=code, name=code, code=code)


def signal(id: str) -> Signal:
    return Signal(id=id, name=id)

"""Elements of the model: what each node of a workflow becomes, with the verbs it needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from perdure.bpmn.conditions.tree import holds
from perdure.bpmn.model import (
    Association,
    CompensationTrigger,
    Error,
    ErrorTrigger,
    Event,
    Gateway,
    GatewayKind,
    Message,
    MessageTrigger,
    Position,
    Signal,
    SignalTrigger,
    Task,
    TerminateTrigger,
    TimerTrigger,
    Trigger,
    Value,
)
from perdure.bpmn.model import (
    CallActivity as Called,
)
from perdure.verb_contract import FlagContract
from perdure.workflows.code import agent_of, code_name, short_name
from perdure.workflows.handlers import (
    TASK_FAILED,
    answer_handler,
    context_handler,
    decide_handler,
    failed_handler,
    gateway_flag,
    message_handler,
    returned_handler,
    route_flag,
    service_handler,
)
from perdure.workflows.mirrors import key_flag
from perdure.workflows.nodes import (
    CallActivity,
    CatchEvent,
    EndEvent,
    ErrorEvent,
    EventBasedGateway,
    ExclusiveGateway,
    InclusiveGateway,
    MessageEvent,
    Node,
    ParallelGateway,
    RetryPolicy,
    ScriptTask,
    ServiceTask,
    SignalEvent,
    StartEvent,
    TimerEvent,
    UserTask,
    duration_text,
)
from perdure.workflows.parts import Parts, properties
from perdure.workflows.variables import TYPES, mirrored

DEFAULT_FORM: dict[str, Any] = {"approved": {"type": "boolean"}, "comment": {"type": "string", "required": False}}


def add_tasks(parts: Parts) -> None:
    for node in list(parts.graph.nodes.values()):
        match node:
            case ServiceTask():
                _service(parts, node)
            case ScriptTask():
                _script(parts, node)
            case UserTask():
                _user(parts, node)
            case CallActivity():
                _call(parts, node)
            case _:
                pass


def add_gateways(parts: Parts) -> None:
    for node in list(parts.graph.nodes.values()):
        match node:
            case ExclusiveGateway():
                _choice(parts, node)
            case ParallelGateway():
                parts.put(Gateway(id=node.id, name=node.name, kind="parallel"), node)
            case EventBasedGateway():
                parts.put(Gateway(id=node.id, name=node.name, kind="event"), node)
                for event in node.events.values():
                    add_event(parts, event, "catch")
            case _:
                pass


def add_events(parts: Parts) -> None:
    for node in list(parts.graph.nodes.values()):
        match node:
            case StartEvent(event=None):
                parts.put(Event(id=node.id, name=node.name, position="start"), node)
            case StartEvent(event=CatchEvent() as event):
                add_event(parts, event, "start")
            case EndEvent():
                triggers: tuple[Trigger, ...] = (TerminateTrigger(),) if node.terminate else ()
                parts.put(Event(id=node.id, name=node.name, position="end", triggers=triggers), node)
            case CatchEvent():
                add_event(parts, node, "catch")
            case _:
                pass


# --- tasks ---------------------------------------------------------------------------------------------------------


def _service(parts: Parts, task: ServiceTask) -> None:
    _, code = agent_of(task) if not _is_library_agent(task.agent) else (None, task.agent)
    retry = task.retry_policy
    verb = parts.add_verb(
        task, task.id, "service_task", service_handler(task, parts.whose), code=code,
        outputs=task.output_variables, errors=parts.task_errors(task),
        retry=retry.to_verb() if retry is not None else None,
    )  # fmt: skip
    own = properties(
        agent=code, method="" if task.method == "execute" else task.method, inputs=task.input_variables,
        outputs=task.output_variables, timeout=duration_text(task.timeout) if task.timeout else "",
        retry=retry_text(retry) if retry is not None else "", errors=task.errors,
        compensation=task.compensation, order=str(task.order) if task.order else "",
    )  # fmt: skip
    parts.put(Task(id=task.id, name=task.name, kind="service", type=verb, properties=own), task)
    if task.compensation is not None:
        _undo(parts, task, task.compensation, verb)


def _is_library_agent(agent: Any) -> bool:
    from perdure.verbs.agent_handlers import is_agent  # noqa: PLC0415
    from perdure.workflows.context import WorkflowAgent  # noqa: PLC0415

    return is_agent(agent) and not isinstance(agent, WorkflowAgent)


def _undo(parts: Parts, task: ServiceTask, compensation: Callable[..., Any], verb: str) -> None:
    """A compensation event at the edge of the task, joined to the task that undoes it."""
    undo, event = f"{task.id}_undo", f"{task.id}_undone"
    name = f"Undo {task.name[:1].lower()}{task.name[1:]}"
    type = parts.add_verb(
        task, undo, "compensation", context_handler(compensation, parts.whose, ""), code=compensation, description=name
    )  # fmt: skip
    own = properties(of=task.id)
    trigger = CompensationTrigger()
    parts.put(Event(id=event, position="boundary", attached_to=task.id, triggers=(trigger,), properties=own), task)
    parts.put(Task(id=undo, name=name, kind="service", type=type, is_for_compensation=True, properties=own), task)
    parts.associations.append(Association(id=f"{event}__{undo}", source=event, target=undo, direction="One"))
    parts.compensation[verb] = type


def _script(parts: Parts, task: ScriptTask) -> None:
    outputs = (task.output_variable,) if task.output_variable else ()
    handler = context_handler(task.script, parts.whose, task.output_variable)
    verb = parts.add_verb(task, task.id, "script_task", handler, code=task.script, outputs=outputs)
    own = properties(script=task.script, outputs=outputs)
    parts.put(Task(id=task.id, name=task.name, kind="service", type=verb, properties=own), task)


def _user(parts: Parts, task: UserTask) -> None:
    fields = form_fields(task.form)
    required = tuple(name for name, schema in fields.items() if schema.get("required", True))
    schemas = {name: {k: v for k, v in schema.items() if k != "required"} for name, schema in fields.items()}
    intake = parts.add_verb(
        task, f"{task.id}_answer", "user_task", answer_handler(task.decision_variable, tuple(fields), parts.whose),
        description=f"Answer: {task.name}", inputs=schemas, required=required, outputs=(task.decision_variable,),
        effects="none",
    )  # fmt: skip
    sla = duration_text(task.sla)
    own = {"intake": intake, "replaces": ", ".join(fields)}
    own |= {"perdure:body": task.body_template} if task.body_template else {}
    own |= {"perdure:labels": ", ".join(task.labels)} if task.labels else {}
    own |= {"perdure:fourEyes": "true"} if task.four_eyes else {}
    own |= {"perdure:escalate": f"{sla} {task.escalate_to}"} if task.on_timeout is None and task.escalate_to else {}
    own |= properties(decision=task.decision_variable, form=json.dumps(fields) if task.form is not None else "")
    own |= properties(on_timeout=task.on_timeout if not isinstance(task.on_timeout, Node) else "")
    parts.put(
        Task(
            id=task.id, name=task.name, kind="user", is_native=True, properties=own, due=Value(sla),
            assignee=Value(task.assignee) if task.assignee else None,
            groups=Value(", ".join(task.groups)) if task.groups else None,
        ),
        task,
    )  # fmt: skip
    if callable(task.on_timeout):
        _timeout(parts, task, task.on_timeout, sla)


def _timeout(parts: Parts, task: UserTask, on_timeout: Callable[..., Any], sla: str) -> None:
    """Nobody answered in time: a function decides, and both ways meet again."""
    late, step, answered = f"{task.id}_late", f"{task.id}_timeout", f"{task.id}_answered"
    verb = parts.add_verb(
        task, step, "timeout", context_handler(on_timeout, parts.whose, task.decision_variable), code=on_timeout,
        description=f"Nobody answered in time: {task.name}", outputs=(task.decision_variable,),
    )  # fmt: skip
    timer, own = TimerTrigger("duration", Value(sla)), properties(of=task.id)
    name = f"After {sla}"
    parts.put(
        Event(id=late, name=name, position="boundary", attached_to=task.id, triggers=(timer,), properties=own), task
    )  # fmt: skip
    parts.put(Task(id=step, name="Decide without an answer", kind="service", type=verb, properties=own), task)
    parts.put(Gateway(id=answered, kind="exclusive", properties=own), task)
    parts.flow(late, step)
    parts.flow(task.id, answered)
    parts.flow(step, answered)
    parts.exits[task.id] = answered


def _call(parts: Parts, call: CallActivity) -> None:
    """The called workflow knows nothing of our flags: where conditions read what it brings, a verb sets them."""
    own = properties(outputs=call.output_variables)
    parts.put(Called(id=call.id, name=call.name, process=call.workflow, properties=own), call)
    if parts.undoes and not _is_caught(parts, call):
        _undone_with(parts, call)
    if not any(each.path[0] in call.output_variables for each in parts.mirrors):
        return
    back = f"{call.id}_returned"
    verb = parts.add_verb(
        call, back, "returned", returned_handler(call.output_variables, parts.whose),
        description=f"Take back: {call.name}", outputs=call.output_variables, effects="none",
    )  # fmt: skip
    name = f"Take back what {call.name[:1].lower()}{call.name[1:]} brought"
    parts.put(Task(id=back, name=name, kind="service", type=verb, properties=properties(of=call.id)), call)
    parts.flow(call.id, back)
    parts.exits[call.id] = back


def _is_caught(parts: Parts, call: CallActivity) -> bool:
    """Whether an event at the edge of the call takes its failure."""
    events = [each.event for each in parts.graph.boundaries if each.host == call.id]
    return any(isinstance(event, ErrorEvent) and event.error in ("", TASK_FAILED) for event in events)


def _undone_with(parts: Parts, call: CallActivity) -> None:
    """A called workflow that was undone: its caller is undone as well, by a task that fails as any other does."""
    event, step, end = f"{call.id}_failed", f"{call.id}_give_up", f"{call.id}_given_up"
    name, own = f"Give up: {call.name}", properties(of=call.id)
    verb = parts.add_verb(
        call, step, "returned", failed_handler(call.id), description=name, errors=(TASK_FAILED,), effects="none"
    )  # fmt: skip
    id = "error_" + _word(TASK_FAILED)
    parts.errors[id] = Error(id=id, name=TASK_FAILED, code=TASK_FAILED)
    trigger = ErrorTrigger(id)
    parts.put(
        Event(
            id=event, name=f"{call.name} failed", position="boundary", attached_to=call.id, triggers=(trigger,),
            properties=own,
        ),
        call,
    )  # fmt: skip
    parts.put(Task(id=step, name=name, kind="service", type=verb, properties=own), call)
    parts.put(Event(id=end, name="Given up", position="end", properties=own), call)
    parts.flow(event, step)
    parts.flow(step, end)


def form_fields(form: Mapping[str, Any] | None) -> dict[str, dict[str, Any]]:
    """The fields of an answer as schemas; `required: False` makes one optional."""
    return {
        name: dict(TYPES.get(about, {"type": about})) if isinstance(about, str) else dict(about)
        for name, about in (form if form is not None else DEFAULT_FORM).items()
    }


def retry_text(retry: RetryPolicy) -> str:
    """A policy as one text: `3 exponential PT1S PT1M 0.1`."""
    delays = f"{duration_text(retry.base_delay)} {duration_text(retry.max_delay)}"
    return f"{retry.max_attempts} {retry.backoff} {delays} {retry.jitter:g}"


# --- gateways ------------------------------------------------------------------------------------------------------


def needs_verb(gateway: ExclusiveGateway) -> bool:
    """Whether conditions are code, or are to be asked in an order that a model cannot say."""
    names = list(gateway.conditions)
    is_inner_default = gateway.default_path in names[:-1] and not isinstance(gateway, InclusiveGateway)
    return is_inner_default or any(not isinstance(each, str) for each in gateway.conditions.values())


def default_way(gateway: ExclusiveGateway) -> str:
    """The way without a condition. A verb always says one, so the last of its ways needs none to be told apart."""
    if gateway.default_path or isinstance(gateway, InclusiveGateway) or not needs_verb(gateway):
        return gateway.default_path
    return gateway.routes[-1]


def _choice(parts: Parts, gateway: ExclusiveGateway) -> None:
    is_inclusive = isinstance(gateway, InclusiveGateway)
    default = f"{gateway.id}__{last}" if (last := default_way(gateway)) else ""
    if needs_verb(gateway):
        decide = f"{gateway.id}_decide"
        flags = _decided_flags(parts, gateway)
        code = next((each for each in gateway.conditions.values() if not isinstance(each, str)), None)
        verb = parts.add_verb(
            gateway, decide, "gateway", decide_handler(gateway, parts.whose, _texts(parts, gateway)),
            code=code, description=f"Decide: {gateway.name}", flags=flags,
            effects="none",
        )  # fmt: skip
        parts.put(
            Task(
                id=decide,
                name=f"Decide: {gateway.name}",
                kind="service",
                type=verb,
                properties=properties(of=gateway.id),
            ),
            gateway,
        )
        parts.flow(decide, gateway.id)
        parts.entries[gateway.id] = decide
    own = {f"workflow:condition:{route}": _written(each) for route, each in gateway.conditions.items()}
    own |= properties(default=gateway.default_path if gateway.default_path in gateway.conditions else "")
    kind: GatewayKind = "inclusive" if is_inclusive else "exclusive"
    parts.put(Gateway(id=gateway.id, name=gateway.name, kind=kind, default=default, properties=own), gateway)


def _written(condition: Any) -> str:
    """A condition as a property: a text, or `code:` and the name of a function."""
    return condition if isinstance(condition, str) else f"code:{code_name(condition) or short_name(condition)}"


def _decided_flags(parts: Parts, gateway: ExclusiveGateway) -> tuple[str, ...]:
    if isinstance(gateway, InclusiveGateway):
        names = [route_flag(gateway.id, route) for route in gateway.conditions]
        parts.flags |= {name: FlagContract(name, "boolean") for name in names}
        return tuple(names)
    name, routes = gateway_flag(gateway.id), tuple(gateway.routes)
    parts.flags[name] = FlagContract(name, "enum", values=routes, initial=routes[0])
    return (name,)


def _texts(parts: Parts, gateway: ExclusiveGateway) -> dict[str, Callable[..., bool]]:
    """Conditions in text as functions of the context, for a gateway that has code beside them."""

    def function(text: str) -> Callable[..., bool]:
        condition, _ = mirrored(text)

        def met(context: Mapping[str, Any]) -> bool:
            flags = {each.flag: parts.flags[each.flag].starting_value() for each in parts.mirrors}
            flags |= {each.flag: value for each in parts.mirrors if (value := each.value(context)) is not None}
            return holds(condition, flags)

        return met

    return {route: function(text) for route, text in gateway.conditions.items() if isinstance(text, str)}


# --- events --------------------------------------------------------------------------------------------------------


def add_event(
    parts: Parts, event: CatchEvent, position: Position, attached_to: str = "", interrupts: bool = True
) -> None:
    own: dict[str, str] = {}
    if isinstance(event, MessageEvent):
        own = _received(parts, event, position)
    parts.put(
        Event(
            id=event.id, name=event.name, position=position, triggers=(_trigger(parts, event, position),),
            attached_to=attached_to, is_interrupting=interrupts, properties=own,
        ),
        event,
    )  # fmt: skip


def _received(parts: Parts, event: MessageEvent, position: Position) -> dict[str, str]:
    if position == "start":
        return properties(outputs=event.output_variables)
    verb = parts.add_verb(
        event, f"{event.id}_received", "message", message_handler(event.output_variables, parts.whose),
        description=f"Take in: {event.name}", outputs=event.output_variables, effects="none",
        inputs={name: {} for name in event.output_variables},
    )  # fmt: skip
    names = ", ".join(event.output_variables)
    own = {"intake": verb, **({"replaces": names} if names else {})}
    return own | properties(outputs=event.output_variables, correlation=event.correlation)


def _trigger(parts: Parts, event: CatchEvent, position: Position) -> Trigger:
    match event:
        case TimerEvent():
            return TimerTrigger(event.timer_type, Value(event.text))
        case MessageEvent():
            key = key_flag(event) if event.correlation and position != "start" else ""
            id = f"message_{_word(event.message)}{f'_{_word(event.correlation)}' if key else ''}"
            correlation = Value(key, "flag") if key else None
            parts.messages[id] = Message(id=id, name=event.message, correlation=correlation)
            return MessageTrigger(id)
        case SignalEvent():
            id = f"signal_{_word(event.signal)}"
            parts.signals[id] = Signal(id=id, name=event.signal)
            return SignalTrigger(id)
        case ErrorEvent():
            id = f"error_{_word(event.error)}" if event.error else ""
            if id:
                parts.errors[id] = Error(id=id, name=event.error, code=event.error)
            return ErrorTrigger(id)
        case _:
            raise refuse_event(event)


def refuse_event(event: Node) -> Exception:
    return event.refuse("event", f"{event!r} is no event that is known", "Give a TimerEvent or a MessageEvent.")


def _word(text: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in text)

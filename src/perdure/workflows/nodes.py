"""Nodes of a workflow: tasks, gateways and events as a Python engineer writes them. Nothing runs here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from perdure.cron import is_cron
from perdure.durations import DurationError, parse_span
from perdure.verb_contract import Backoff
from perdure.verb_contract import RetryPolicy as VerbRetry
from perdure.workflows.places import Place, caller, refusal

Condition = str | Callable[..., Any]
"""A text such as `approved == true`, or a function of the workflow's context."""
TimerType = Literal["duration", "date", "cycle"]

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")
DEFAULT_TIMEOUT = timedelta(minutes=5)
DEFAULT_LABELS = ("human-task", "needs-review")
MAX_TITLE = 200


class Node:
    """What every node has: an id, a name for people, and the place where it was written."""

    def __init__(self, id: str, name: str = "") -> None:
        self.place: Place = caller()
        if not isinstance(id, str) or not NAME.fullmatch(id):
            reason = f"the id {id!r} is no name of letters, digits and underscores"
            raise refusal(self.place, "id", str(id)[:60], reason, "Write e.g. id='check_approval'.")
        self.id = id
        self.name = name or id.replace("_", " ").capitalize()

    def refuse(self, code: str, reason: str, hint: str = "") -> Exception:
        return refusal(self.place, code, self.id, reason, hint)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"


class RetryPolicy:
    """How often a task is tried and how long between; `max_attempts` counts the first one."""

    def __init__(
        self,
        max_attempts: int = 3,
        backoff: Backoff = "exponential",
        base_delay: timedelta = timedelta(seconds=1),
        max_delay: timedelta = timedelta(minutes=1),
        jitter: float = 0.1,
    ) -> None:
        place = caller()
        if max_attempts < 1 or not 0 <= jitter <= 1 or base_delay < timedelta(0):
            reason = f"max_attempts is {max_attempts}, jitter {jitter}, base_delay {base_delay}"
            hint = "Give at least one attempt, a jitter from 0 to 1 and no negative delay."
            raise refusal(place, "retry", "retry_policy", reason, hint)
        self.max_attempts, self.backoff, self.jitter = max_attempts, backoff, jitter
        self.base_delay, self.max_delay = base_delay, max(base_delay, max_delay)

    def to_verb(self) -> VerbRetry:
        """The policy of the verb; any failed attempt is tried again."""
        return VerbRetry(
            self.max_attempts, self.backoff, self.base_delay.total_seconds(), self.max_delay.total_seconds(),
            self.jitter, ("transient_external", "transient_infrastructure", "permanent_contract"),
        )  # fmt: skip


class CompensationHandler:
    """How a task is undone. `order` is what people expect: of two, the higher is undone later."""

    def __init__(self, task_id: str, compensate: Callable[..., Any], order: int = 0) -> None:
        self.place = caller()
        self.task_id, self.compensate, self.order = task_id, compensate, order


class ServiceTask(Node):
    """Work of an agent, of a method of it, or of a function.

    `agent` is a class, an instance, a function, a LangGraph graph or a pydantic-ai agent. It gets the input variables;
    of what it returns, the output variables are kept. Other tasks see them.
    """

    def __init__(
        self,
        id: str,
        agent: Any = None,
        method: str = "execute",
        input_variables: Sequence[str] | None = None,
        output_variables: Sequence[str] | None = None,
        timeout: timedelta | None = None,
        retry_policy: RetryPolicy | None = None,
        compensation: Callable[..., Any] | CompensationHandler | None = None,
        *,
        function: Callable[..., Any] | None = None,
        name: str = "",
        errors: Sequence[str] = (),
    ) -> None:
        super().__init__(id, name)
        if (agent is None) == (function is None):
            raise self.refuse("agent", "it has no agent and no function, or both", "Give agent= or function=.")
        self.agent, self.method = agent if agent is not None else function, method
        self.input_variables = _names(self, "input_variables", input_variables)
        self.output_variables = _names(self, "output_variables", output_variables)
        self.timeout = timeout
        if timeout is not None and timeout <= timedelta(0):
            raise self.refuse("timeout", f"its timeout is {timeout}", "Give a positive timedelta.")
        self.retry_policy = retry_policy
        handler = compensation if isinstance(compensation, CompensationHandler) else None
        if handler is not None and handler.task_id != id:
            fact = f"its compensation handler is for '{handler.task_id}'"
            raise self.refuse("compensation", fact, f"Write task_id='{id}'.")
        self.compensation: Callable[..., Any] | None = handler.compensate if handler is not None else compensation  # type: ignore[assignment]
        self.order = handler.order if handler is not None else 0
        self.errors = tuple(errors)


class ScriptTask(Node):
    """A small function of the workflow's context; what it returns is kept in the output variable."""

    def __init__(self, id: str, script: Callable[..., Any], output_variable: str | None = None, name: str = "") -> None:
        super().__init__(id, name)
        if not callable(script):
            fact = f"its script is {type(script).__name__}, and no text is ever run"
            raise self.refuse("script", fact, "Give a function, such as lambda ctx: len(ctx['files']).")
        self.script, self.output_variable = script, output_variable or ""


class UserTask(Node):
    """Work of a person, who answers `approved` and `comment` unless `form` asks for something else.

    The answer is kept in the decision variable. When nobody answers in time, `on_timeout` decides; without it, the
    task is shown to the group `escalate_to` as well. `form` maps fields to JSON types or schemas.
    """

    def __init__(
        self,
        id: str,
        title: str = "",
        body_template: str = "",
        assignee: str | None = None,
        labels: Sequence[str] | None = None,
        sla_hours: float = 24,
        on_timeout: Callable[..., Any] | Node | None = None,
        decision_variable: str | None = None,
        *,
        groups: Sequence[str] = (),
        form: Mapping[str, Any] | None = None,
        four_eyes: bool = False,
        escalate_to: str = "managers",
    ) -> None:
        super().__init__(id, title[:MAX_TITLE])
        if sla_hours <= 0:
            raise self.refuse("sla", f"its sla_hours is {sla_hours}", "Give a positive number of hours.")
        self.body_template, self.assignee, self.groups = body_template, assignee or "", tuple(groups)
        self.labels = tuple(labels if labels is not None else DEFAULT_LABELS)
        self.sla = timedelta(hours=sla_hours)
        self.on_timeout, self.decision_variable = on_timeout, decision_variable or f"{id}_decision"
        self.form = dict(form) if form is not None else None
        self.four_eyes, self.escalate_to = four_eyes, escalate_to


class CallActivity(Node):
    """Another workflow as a part of this one: an instance of its own, begun here and waited for.

    It sees the variables of this workflow, and what it changed comes back when it ends. Conditions and templates of
    this workflow read the output variables.
    """

    def __init__(
        self, id: str, workflow: str = "", output_variables: Sequence[str] | None = None, name: str = ""
    ) -> None:
        super().__init__(id, name)
        self.workflow = str(getattr(workflow, "id", workflow))
        if not NAME.fullmatch(self.workflow):
            fact = f"it calls {self.workflow[:60]!r}, which is no id of a workflow"
            raise self.refuse("workflow", fact, f"Write CallActivity('{id}', workflow='check_credit').")
        self.output_variables = _names(self, "output_variables", output_variables)


class Gateway(Node):
    """What gateways have in common."""


class ExclusiveGateway(Gateway):
    """Exactly one way on: the first route whose condition holds, else the default."""

    def __init__(
        self,
        id: str,
        conditions: Mapping[str, Condition] | None = None,
        default_path: str | None = None,
        name: str = "",
    ) -> None:
        super().__init__(id, name)
        self.conditions = _conditions(self, conditions)
        self.default_path = default_path or ""

    @property
    def routes(self) -> list[str]:
        """Every route by name, the default last."""
        return list(dict.fromkeys([*self.conditions, *([self.default_path] if self.default_path else [])]))


class InclusiveGateway(ExclusiveGateway):
    """Every way on whose condition holds, else the default; joined by one with `mode="join"`."""

    def __init__(
        self, id: str, conditions: Mapping[str, Condition] | None = None, default_path: str | None = None,
        mode: Literal["fork", "join"] = "fork", name: str = "",
    ) -> None:  # fmt: skip
        super().__init__(id, conditions, default_path, name)
        self.mode = mode


class ParallelGateway(Gateway):
    """All ways on at once, or, as a join, the place where they meet."""

    def __init__(self, id: str, mode: Literal["fork", "join"] = "fork", name: str = "") -> None:
        super().__init__(id, name)
        if mode not in ("fork", "join"):
            raise self.refuse("mode", f"its mode is {mode!r}", "Write mode='fork' or mode='join'.")
        self.mode = mode


class CatchEvent(Node):
    """Something that is waited for: a time, a message, a signal or an error."""


class TimerEvent(CatchEvent):
    """A duration, a date, or a cycle (`R3/PT10M`, or a cron text such as `0 9 * * *`)."""

    def __init__(self, id: str, timer_type: TimerType = "duration", timer_value: Any = None, name: str = "") -> None:
        super().__init__(id, name)
        self.timer_type, self.timer_value = timer_type, timer_value
        self.text = self._text()

    def _text(self) -> str:
        value = self.timer_value
        if self.timer_type == "duration" and isinstance(value, timedelta) and value > timedelta(0):
            return duration_text(value)
        if self.timer_type == "date" and isinstance(value, datetime):
            if value.tzinfo is None:
                hint = "Write datetime(…, tzinfo=UTC)."
                raise self.refuse("timer", "its date has no time zone", hint)
            return value.isoformat()
        if isinstance(value, str) and _is_time(self.timer_type, value):
            return value
        fact = f"{value!r} is no {self.timer_type}"
        raise self.refuse("timer", fact, _TIMES.get(self.timer_type, "Write timer_type='duration', 'date' or 'cycle'."))


class Timer(TimerEvent):
    """The same by one keyword: `Timer("later", duration=timedelta(days=7))`."""

    def __init__(
        self, id: str, duration: timedelta | str | None = None, date: datetime | str | None = None,
        cycle: str | None = None, name: str = "",
    ) -> None:  # fmt: skip
        given: dict[TimerType, Any] = {"duration": duration, "date": date, "cycle": cycle}
        kinds = [kind for kind, value in given.items() if value is not None]
        kind = kinds[0] if kinds else "duration"
        super().__init__(id, kind, given[kind], name)
        if len(kinds) > 1:
            raise self.refuse("timer", f"it has {' and '.join(kinds)}", "Give one of them.")


class MessageEvent(CatchEvent):
    """A message of a name, for the instance whose `correlation` variable has the value that the message carries.

    What the message brings is kept as far as the output variables name it.
    """

    def __init__(
        self, id: str, message: str = "", correlation: str = "", output_variables: Sequence[str] | None = None,
        name: str = "",
    ) -> None:  # fmt: skip
        super().__init__(id, name)
        self.message, self.correlation = message or id, correlation
        self.output_variables = _names(self, "output_variables", output_variables)


class SignalEvent(CatchEvent):
    """A signal of a name, for everybody who waits for it."""

    def __init__(self, id: str, signal: str = "", name: str = "") -> None:
        super().__init__(id, name)
        self.signal = signal or id


class ErrorEvent(CatchEvent):
    """A business error of a task, by its code; as a boundary event only."""

    def __init__(self, id: str, error: str = "", name: str = "") -> None:
        super().__init__(id, name)
        self.error = error


class EventBasedGateway(Gateway):
    """Waits for the first of several events; each is a route."""

    def __init__(self, id: str, events: Mapping[str, CatchEvent] | None = None, name: str = "") -> None:
        super().__init__(id, name)
        self.events: dict[str, CatchEvent] = {}
        for route, event in (events or {}).items():
            if not isinstance(event, TimerEvent | MessageEvent | SignalEvent):
                raise self._not_an_event(route, event)
            self.events[str(route)] = event

    def _not_an_event(self, route: str, event: Any) -> Exception:
        if inspect.iscoroutine(event):
            name = event.__qualname__
            event.close()
            fact = f"the event '{route}' is the coroutine {name}(…), and a coroutine is gone after a restart"
            is_sleep = name == "sleep"
        else:
            fact = f"the event '{route}' is {getattr(event, '__qualname__', type(event).__name__)}, and no event"
            is_sleep = False
        timer = f"TimerEvent(id='{route}', timer_type='duration', timer_value=timedelta(hours=1))"
        message = f"MessageEvent(id='{route}', message='…', correlation='…')"
        return self.refuse("event", fact, f"Write {timer}." if is_sleep else f"Write {message} or {timer}.")


class EndEvent(Node):
    """Where a way ends. `terminate` ends every other way as well."""

    def __init__(self, id: str = "end", name: str = "", terminate: bool = False) -> None:
        super().__init__(id, name)
        self.terminate = terminate


class StartEvent(Node):
    """Where the workflow begins: when it is asked for, or by the event."""

    def __init__(self, id: str = "start", event: CatchEvent | None = None, name: str = "") -> None:
        super().__init__(id, name)
        self.event = event


def duration_text(value: timedelta) -> str:
    """The ISO 8601 text of a duration: `P7D`, `PT1H30M`, `PT0.5S`."""
    days, seconds = value.days, value.seconds
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    rest = f"{seconds % 60 + value.microseconds / 1e6:g}"
    time = "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count)
    time += f"{rest}S" if rest != "0" else ""
    return f"P{f'{days}D' if days else ''}{f'T{time}' if time else ''}" if value else "PT0S"


_TIMES = {
    "duration": "Give timedelta(days=7) or a text such as 'P7D'.",
    "date": "Give datetime(…, tzinfo=UTC) or a text such as '2030-01-31T09:00:00Z'.",
    "cycle": "Give 'R3/PT10M' or a cron text such as '0 9 * * *'.",
}


def _is_time(kind: str, text: str) -> bool:
    match kind:
        case "duration":
            return _is_duration(text)
        case "date":
            return "T" in text and len(text) <= 64
        case "cycle":
            repeats, slash, rest = text.partition("/")
            if slash and re.fullmatch(r"R\d*", repeats):
                return _is_duration(rest.rpartition("/")[2])
            return is_cron(text)
        case _:
            return False


def _is_duration(text: str) -> bool:
    try:
        parse_span(text)
    except DurationError:
        return False
    return True


def _names(node: Node, field: str, names: Sequence[str] | None) -> tuple[str, ...]:
    found = tuple(names or ())
    wrong = [each for each in found if not isinstance(each, str) or not NAME.fullmatch(each)]
    if isinstance(names, str) or wrong:
        shown = names if isinstance(names, str) else wrong[0]
        raise node.refuse("variable", f"its {field} has {shown!r}", f"Write {field}=['pr_number', 'author'].")
    return found


def _conditions(node: Node, conditions: Mapping[str, Condition] | None) -> dict[str, Condition]:
    found: dict[str, Condition] = {}
    for route, condition in (conditions or {}).items():
        if inspect.iscoroutine(condition):
            condition.close()
            raise node.refuse("condition", f"the condition of '{route}' is a coroutine", "Give the function itself.")
        if not isinstance(condition, str) and not callable(condition):
            fact = f"the condition of '{route}' is {condition!r}"
            raise node.refuse("condition", fact, "Write 'approved == true', or lambda ctx: ctx['approved'].")
        found[str(route)] = condition
    return found

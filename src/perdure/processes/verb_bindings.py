"""Binding: a process of a file with every verb it names pinned to a version, a hash and a policy.

| who says how often a job is tried | what counts of it |
|---|---|
| the task of the model (`retries`) | its number of attempts |
| the sub-verb (`retry`, `policy`) | its whole policy |
| the durable verb that the process carries | its whole policy |
| nobody | one attempt |

The first that says something wins. The policy of a binding is pinned when the process is deployed; the number of a
task is part of the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from perdure.bpmn.contract.compilation import compile_process
from perdure.bpmn.contract.contract import read_bindings
from perdure.bpmn.contract.policies import PolicyCatalogue, Retry
from perdure.bpmn.machine.deployed_process import Binding, Deployed, Profile, WorkLimits
from perdure.bpmn.machine.process_machine import Start, StartKind
from perdure.bpmn.model import (
    Definitions,
    Event,
    Gateway,
    Message,
    MessageTrigger,
    Process,
    Signal,
    SignalTrigger,
    Task,
    TimerTrigger,
    nodes,
)
from perdure.errors import RejectedError, Rejection
from perdure.verb_contract import FlagContract, FlagMerge, RetryPolicy
from perdure.verbs import Catalogue, Verb
from perdure.verbs.definition import same_verb_name

JOB_TASKS = frozenset({"service", "send", "script", "business_rule"})
INTAKE = "intake"
PLATFORM = "perdure."
"""What the verbs begin with that the platform calls by itself."""


class Carried(msgspec.Struct, frozen=True, kw_only=True):
    """What the verb behind a process declares about it."""

    verb: str = ""
    flags: tuple[FlagContract, ...] = ()
    compensation: dict[str, str] = {}
    retry: RetryPolicy | None = None
    """The policy of its jobs, where neither their task nor their verb has one."""
    merge: dict[str, FlagMerge] = {}


def choose_process(definitions: Definitions, wanted: str) -> Process:
    """The process meant: the one named, or the only executable one."""
    executable = definitions.executable()
    found = [process for process in executable if not wanted or process.id == wanted]
    if len(found) == 1:
        return found[0]
    names = ", ".join(process.id for process in executable) or "none"
    fact = f"the file has no executable process '{wanted}'" if wanted else "the file does not have exactly one"
    raise RejectedError(
        Rejection("invalid", "deploy", "process", wanted or "?", fact, f"Executable processes: {names}.")
    )


def carrier_of(process: str, catalogue: Catalogue) -> Verb | None:
    """The newest verb that this process carries."""
    return next((verb for verb in catalogue if verb.execution.process == process), None)


def carried_by(verb: Verb) -> Carried:
    execution = verb.execution
    return Carried(
        verb=verb.name, flags=execution.flags, compensation=dict(execution.compensation), retry=execution.own_retry,
        merge=dict(execution.payload_merge),
    )  # fmt: skip


def bind(
    definitions: Definitions, process: Process, profile: Profile, carried: Carried | None, catalogue: Catalogue,
    policies: PolicyCatalogue | None = None,
) -> Deployed:  # fmt: skip
    """The process as it is stored; every verb must be there, or all that are not are named in the refusal."""
    own = carried or Carried()
    if profile == "contract":
        return _bound_contract(definitions, process, own, catalogue, policies)
    return Deployed(
        process=process,
        messages=definitions.messages,
        signals=definitions.signals,
        errors=definitions.errors,
        escalations=definitions.escalations,
        profile=profile,
        verb=own.verb,
        flags=spelled(own.flags, _types(process)),
        is_loose=carried is None,
        compensation=own.compensation,
        bindings=_bindings(process, own, catalogue),
        merge=own.merge,
    )


def _bound_contract(
    definitions: Definitions, process: Process, own: Carried, catalogue: Catalogue, policies: PolicyCatalogue | None
) -> Deployed:
    """The same of the contract profile: the state is the data, and flags mirror what is read of it."""
    compiled = compile_process(definitions, process, policies)
    types = list(_types(compiled.process))
    mirrors = [each.contract(types) for each in compiled.mirrors]
    bound = bind(
        replace(definitions, messages=compiled.messages), compiled.process, "open", own, catalogue
    )  # fmt: skip
    made = replace(bound, profile="contract", flags=(*bound.flags, *mirrors), mirrors=compiled.mirrors)
    if policies is None:
        return made
    work = read_bindings(compiled.process, ()).work
    named = {id: policies.get(each.definition.policy) for id, each in work.items()}
    limits = {id: WorkLimits(each.start_to_close_seconds, each.schedule_to_close_seconds) for id, each in named.items()}
    return replace(made, bindings=_by_policy(bound.bindings, compiled.process, policies), limits=limits)


def _by_policy(bindings: dict[str, Binding], process: Process, policies: PolicyCatalogue) -> dict[str, Binding]:
    """The retry policy of each type is that of the first task of it; how often a task is tried, it says itself."""
    work = [each.definition for each in read_bindings(process, ()).work.values()]
    named = {each.type: policies.get(each.policy).retry for each in reversed(work)}
    return {
        type: replace(each, retry=_retry(named[type])) if type in named else each for type, each in bindings.items()
    }


def _retry(found: Retry) -> RetryPolicy:
    """A coefficient above 1 doubles the interval here."""
    return RetryPolicy(
        max_attempts=found.maximum_attempts,
        backoff="fixed" if found.backoff_coefficient == 1 else "exponential",
        base_delay_seconds=found.initial_interval_seconds,
        max_delay_seconds=found.maximum_interval_seconds,
        jitter=0.0,
    )


def spelled(flags: Iterable[FlagContract], types: Iterable[str]) -> tuple[FlagContract, ...]:
    """Writers by the types of the model: `kyc.open-case` and `kyc.open_case` are one verb."""
    known: dict[str, list[str]] = {}
    for type in dict.fromkeys(types):
        known.setdefault(same_verb_name(type), []).append(type)
    return tuple(
        msgspec.structs.replace(
            flag, writers=tuple(name for each in flag.writers for name in known.get(same_verb_name(each), [each]))
        )
        for flag in flags
    )


def _bindings(process: Process, carried: Carried, catalogue: Catalogue) -> dict[str, Binding]:
    types = list(dict.fromkeys(_types(process)))
    wanted = [*types, *_undoing(types, carried)]
    missing = [type for type in wanted if catalogue.find(type) is None]
    if missing:
        fact = f"no such verb is declared: {', '.join(sorted(missing))}"
        hint = "A task's type is the name of a verb; see `perdure verbs list`."
        raise RejectedError(Rejection("invalid", "deploy", "process", process.id, fact, hint))
    own = [type for type in wanted if catalogue.get(type).name.startswith(PLATFORM)]
    if own:
        fact = f"only the platform itself calls {', '.join(sorted(own))}"
        hint = "Name a verb of the project; the platform shows tasks, asks for documents and delivers by itself."
        raise RejectedError(Rejection("invalid", "deploy", "process", process.id, fact, hint))
    return {type: _binding(catalogue.get(type), carried.retry) for type in sorted(set(wanted))}


def _undoing(types: Iterable[str], carried: Carried) -> Iterator[str]:
    known = {same_verb_name(type) for type in types}
    for done, undone in carried.compensation.items():
        if same_verb_name(done) in known and undone not in types:
            yield undone


def _binding(verb: Verb, inherited: RetryPolicy | None) -> Binding:
    execution = verb.execution
    retry = execution.own_retry or inherited or execution.retry
    return Binding(
        verb=verb.name, version=verb.version, hash=verb.content_hash, retry=retry,
        effects=execution.effects, redelivery=execution.redelivery,
    )  # fmt: skip


def _types(process: Process) -> Iterator[str]:
    """The task types of a process, intakes included. A task's own retries are read from the model when it fails."""
    for node in nodes(process.body):
        if isinstance(node, Task) and node.type and node.kind in JOB_TASKS:
            yield node.type
        if isinstance(node, Event) and node.type:
            yield node.type
        if intake := node.properties.get(INTAKE):
            yield intake


def starts_of(deployed: Deployed) -> tuple[Start, ...]:
    """What outside makes an instance begin: message, signal and timer start events, instantiating tasks and races."""
    messages = {each.id: each for each in deployed.messages}
    signals = {each.id: each for each in deployed.signals}
    body = deployed.process.body
    races = {node.id for node in body.nodes if isinstance(node, Gateway) and node.is_instantiating}
    arms = {flow.target for flow in body.flows if flow.source in races}
    found: list[Start] = []
    for node in body.nodes:
        if isinstance(node, Task) and node.kind == "receive" and (node.is_instantiating or node.id in arms):
            found.append(Start(node.id, "message", _message_name(messages, node.message)))
        if isinstance(node, Event) and (node.position == "start" or node.id in arms):
            found.extend(_event_starts(node, messages, signals))
    return tuple(found)


def _event_starts(event: Event, messages: dict[str, Message], signals: dict[str, Signal]) -> Iterator[Start]:
    for trigger in event.triggers:
        match trigger:
            case MessageTrigger(message):
                yield Start(event.id, "message", _message_name(messages, message))
            case SignalTrigger(signal):
                known = signals.get(signal)
                yield Start(event.id, "signal", (known.name if known is not None else "") or signal)
            case TimerTrigger(kind, value):
                timer: StartKind = kind
                yield Start(event.id, timer, value.text)
            case _:
                continue


def _message_name(messages: dict[str, Message], id: str) -> str:
    known = messages.get(id)
    return (known.name if known is not None else "") or id

"""Compilation: a process of the contract profile as the process that our machine runs, and back as it was written.

| in the profile | in the process that runs |
|---|---|
| `taskDefinition` type | the type of the task: a verb |
| `taskHeaders` | the headers of the task |
| `policyRef` | the number of attempts, where a catalogue was given; and the retry policy of its type |
| `correlationKeyTemplate` | a generated flag, frozen when the wait opens |
| conditions over `state.<path>` | conditions over generated flags |
| `state` | `data`, changed by the mapping of each node |

Extensions stay where they are: mappings and keys are read from them when a job runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from perdure.bpmn.conditions.tree import Among, Both, Compare, Condition, Either, Foreign, Not, atoms
from perdure.bpmn.contract import elements
from perdure.bpmn.contract.conditions import state_condition
from perdure.bpmn.contract.contract import message_of
from perdure.bpmn.contract.mirrors import Mirror, atom_flags, key_flags, positive
from perdure.bpmn.contract.policies import PolicyCatalogue
from perdure.bpmn.model import (
    Definitions,
    Event,
    Extension,
    Flow,
    Message,
    Model,
    Node,
    Process,
    Scope,
    SubProcess,
    Task,
    Value,
    nodes,
    scopes,
)

Rewrite = Callable[[Condition], Condition]


class Compiled(NamedTuple):
    """What is deployed, and the flags that mirror the state."""

    process: Process
    messages: tuple[Message, ...]
    mirrors: tuple[Mirror, ...]


def compile_process(
    definitions: Definitions, process: Process, policies: PolicyCatalogue | None = None
) -> Compiled:  # fmt: skip
    """What does not follow the profile stays as it is: lint has refused it before."""
    read = {flow.id: state_condition(flow.condition) for flow in _flows(process) if flow.condition is not None}
    flags = atom_flags(
        positive(atom) for condition in read.values() for atom in atoms(condition) if _is_path(atom.flag)
    )
    awaited = {message_of(node) for node in nodes(process.body)}
    templates = {each.id: key for each in definitions.messages if each.id in awaited and (key := _template(each))}
    keys = key_flags(templates)
    compiled = _process(process, lambda found: _over_flags(state_condition(found), flags), policies)
    mirrors = (
        *(Mirror(flag, atom=atom) for atom, flag in flags.items()),
        *(Mirror(keys[id], template=template) for id, template in templates.items()),
    )
    return Compiled(
        compiled, tuple(_keyed(each, keys) for each in definitions.messages), tuple(sorted(mirrors, key=_flag))
    )


def compiled_model(model: Model) -> tuple[Model, dict[str, tuple[Mirror, ...]]]:
    """A file with every executable process compiled, and the mirrors of each by its id."""
    found = {each.id: compile_process(model.definitions, each) for each in model.definitions.executable()}
    keyed = {each.id: each for compiled in found.values() for each in compiled.messages if each.correlation}
    definitions = replace(
        model.definitions,
        processes=tuple(found[each.id].process if each.id in found else each for each in model.definitions.processes),
        messages=tuple(keyed.get(each.id, each) for each in model.definitions.messages),
    )
    return replace(model, definitions=definitions), {id: each.mirrors for id, each in found.items()}


def decompile(process: Process, messages: tuple[Message, ...], mirrors: tuple[Mirror, ...]) -> Compiled:
    """A compiled process as its author wrote it, but for the spelling of conditions."""
    said = {each.flag: each.atom for each in mirrors if each.atom is not None}
    keys = {each.flag: each.template for each in mirrors if each.template}
    written = tuple(
        replace(each, correlation=Value(keys[each.correlation.text], "foreign"))
        if each.correlation is not None and each.correlation.text in keys
        else each
        for each in messages
    )
    return Compiled(_process(process, lambda found: _over_state(found, said), None), written, ())


def _is_path(name: str) -> bool:
    return name.startswith("state.")


def _flag(mirror: Mirror) -> str:
    return mirror.flag


def _flows(process: Process) -> Iterator[Flow]:
    for scope in scopes(process.body):
        yield from scope.flows


def _template(message: Message) -> str:
    found = next((each for each in message.extensions if each.name == elements.SUBSCRIPTION), None)
    return found.attributes.get("correlationKeyTemplate", "") if found is not None else ""


def _keyed(message: Message, keys: dict[str, str]) -> Message:
    return replace(message, correlation=Value(keys[message.id], "flag")) if message.id in keys else message


def _process(process: Process, rewrite: Rewrite, policies: PolicyCatalogue | None) -> Process:
    return replace(process, body=_scope(process.body, rewrite, policies))


def _scope(scope: Scope, rewrite: Rewrite, policies: PolicyCatalogue | None) -> Scope:
    return replace(
        scope,
        nodes=tuple(_node(node, rewrite, policies) for node in scope.nodes),
        flows=tuple(
            flow if flow.condition is None else replace(flow, condition=rewrite(flow.condition)) for flow in scope.flows
        ),
    )


def _node(node: Node, rewrite: Rewrite, policies: PolicyCatalogue | None) -> Node:
    if isinstance(node, SubProcess):
        return replace(node, body=_scope(node.body, rewrite, policies))
    if not isinstance(node, Task | Event) or policies is None:
        return node
    found = next((each for each in node.extensions if each.name == elements.TASK), None)
    if found is None:
        return node
    policy = policies.get(found.attributes.get("policyRef", ""))
    headers = _headers(node.extensions) | node.headers
    return replace(node, retries=policy.retry.maximum_attempts, headers=headers)


def _headers(extensions: tuple[Extension, ...]) -> dict[str, str]:
    found = next((each for each in extensions if each.name == elements.HEADERS), None)
    return elements.task_headers(found).as_dict() if found is not None else {}


def _over_flags(condition: Condition, flags: dict[Compare | Among, str]) -> Condition:
    match condition:
        case Compare() | Among():
            flag = flags.get(positive(condition))
            is_opposite = isinstance(condition, Compare) and condition.operator == "!="
            return condition if flag is None else Compare(flag, "=", literal=not is_opposite)
        case _:
            return _inside(condition, lambda part: _over_flags(part, flags))


def _over_state(condition: Condition, said: dict[str, Compare | Among]) -> Condition:
    match condition:
        case Compare(flag, "=", bool(literal)) if flag in said:
            atom = said[flag]
            return atom if literal else _opposite(atom)
        case _:
            return _inside(condition, lambda part: _over_state(part, said))


def _opposite(atom: Compare | Among) -> Condition:
    if isinstance(atom, Compare) and atom.operator == "=":
        return Compare(atom.flag, "!=", atom.literal)
    return Not(atom)


def _inside(condition: Condition, rewrite: Rewrite) -> Condition:
    match condition:
        case Both(parts):
            return Both(tuple(map(rewrite, parts)))
        case Either(parts):
            return Either(tuple(map(rewrite, parts)))
        case Not(part):
            return Not(rewrite(part))
        case Compare() | Among() | Foreign():
            return condition

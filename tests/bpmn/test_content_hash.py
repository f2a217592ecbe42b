"""The content hash: the same for the same definition however it was written, another for any other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings

from perdure.bpmn.conditions.tree import Foreign
from perdure.bpmn.content_hash import canonical_definition, content_hash
from perdure.bpmn.model import Definitions, Flow, Message, Model, Process, Scope, Signal, SubProcess, Task
from perdure.bpmn.xml import read_model, write_model
from perdure.errors import RejectedError
from perdure.payload import canonical, parse
from tests.bpmn.strategies import models
from tests.bpmn.xml.fixtures import FIXTURES, fixture

MAIN = {"onboarding": "onboard-supplier", "settlement": "settle", "corners": "main"}
replace = msgspec.structs.replace


def hash_of(name: str) -> str:
    return content_hash(fixture(name).definitions, MAIN[name])


def changed(definitions: Definitions, **changes: Any) -> Definitions:
    first, *others = definitions.processes
    return replace(definitions, processes=(replace(first, **changes), *others))


def test_a_hash_stays_what_it_was_when_it_was_first_deployed() -> None:
    definitions = Definitions(
        id="d",
        processes=(Process(id="p", body=Scope(nodes=(Task(id="t", kind="service", type="a.b"),))),),
    )
    assert canonical_definition(definitions, "p") == (
        b'{"form":1,"process":{"id":"p"},'
        b'"scopes":{"p":{"nodes":[{"id":"t","is":"task","kind":"service","type":"a.b"}]}}}'
    )
    assert content_hash(definitions, "p") == ("sha256:e981c87e5f067312a3bc4df2a48b5cf342cbb5736f673944971d01973d4c6bf0")


@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck))
@given(models())
def test_a_definition_has_the_same_hash_after_being_written_and_read(model: Model) -> None:
    again = read_model(write_model(model)).definitions
    for process in model.definitions.processes:
        data = canonical_definition(model.definitions, process.id)
        assert canonical_definition(again, process.id) == data
        assert canonical(parse(data)) == data


@pytest.mark.parametrize("name", FIXTURES)
def test_the_drawing_and_the_names_of_namespaces_do_not_matter(name: str) -> None:
    model = fixture(name)
    text = write_model(replace(model, diagram=None)).replace("bpmn:", "b:").replace("xmlns:bpmn=", "xmlns:b=")
    assert content_hash(read_model(text).definitions, MAIN[name]) == hash_of(name)


@pytest.mark.parametrize("name", FIXTURES)
def test_order_does_not_matter_where_it_means_nothing(name: str) -> None:
    definitions = fixture(name).definitions
    turned = replace(
        definitions,
        id="another",
        namespace="urn:another",
        **{each: getattr(definitions, each)[::-1] for each in ("processes", "messages", "signals", "errors")},
    )
    assert content_hash(turned, MAIN[name]) == hash_of(name)
    body = next(process.body for process in definitions.processes if process.id == MAIN[name])
    moved = {each: getattr(body, each)[::-1] for each in ("nodes", "annotations", "associations")}
    assert content_hash(changed(definitions, body=replace(body, **moved)), MAIN[name]) == hash_of(name)


def test_the_order_in_which_the_flows_of_a_node_are_tried_matters() -> None:
    nodes = tuple(Task(id=id) for id in "abc")
    flows = (Flow(id="x", source="a", target="b"), Flow(id="y", source="a", target="c"))
    other = Flow(id="w", source="b", target="c")

    def hashed(*order: Flow) -> str:
        process = Process(id="p", body=Scope(nodes=nodes, flows=order))
        return content_hash(Definitions(id="d", processes=(process,)), "p")

    assert hashed(*flows) != hashed(*flows[::-1])
    assert hashed(other, *flows) == hashed(*flows, other)


def test_only_root_elements_the_process_refers_to_count() -> None:
    definitions = fixture("settlement").definitions
    more = replace(definitions, messages=(*definitions.messages, Message(id="unused")), signals=(
        *definitions.signals, Signal(id="unused-signal")
    ))  # fmt: skip
    assert content_hash(more, "settle") == hash_of("settlement")
    without_collaboration = replace(definitions, collaboration=None)
    assert content_hash(without_collaboration, "settle") == hash_of("settlement")


def test_policies_and_bindings_count() -> None:
    definitions = fixture("settlement").definitions
    plain = content_hash(definitions, "settle")
    policy = content_hash(definitions, "settle", policies={"bank.pay": {"max_attempts": 3}})
    other = content_hash(definitions, "settle", policies={"bank.pay": {"max_attempts": 4}})
    bound = content_hash(definitions, "settle", bindings={"bank.pay": {"max_attempts": 3}})
    assert len({plain, policy, other, bound}) == 4
    assert content_hash(definitions, "settle", policies={}, bindings=None) == plain


def test_an_unknown_process_has_no_hash() -> None:
    with pytest.raises(RejectedError, match="the file has no such process"):
        content_hash(fixture("settlement").definitions, "nothing")


@pytest.mark.parametrize("name", FIXTURES)
def test_every_field_of_the_process_and_of_what_it_refers_to_counts(name: str) -> None:
    definitions = fixture(name).definitions
    first = definitions.processes[0]
    seen = {hash_of(name)}
    count = 0
    for process in _mutants(first):
        count += 1
        seen.add(content_hash(replace(definitions, processes=(process, *definitions.processes[1:])), process.id))
    for kind in ("messages", "signals", "errors", "escalations"):
        used = [each for each in getattr(definitions, kind) if each.id != "odd-error"]
        for number, each in enumerate(used):
            for mutant in _mutants(each, but=("id",)):
                count += 1
                roots = (*used[:number], mutant, *used[number + 1 :])
                seen.add(content_hash(replace(definitions, **{kind: roots}), first.id))
    assert len(seen) == count + 1


def _mutants(value: Any, but: tuple[str, ...] = ()) -> Iterator[Any]:
    """The value with one thing changed somewhere inside, once for each thing that can be."""
    if isinstance(value, Foreign):
        yield replace(value, text=value.text + "+")
    elif isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            inner = getattr(value, field.name)
            for other in _mutants(inner) if field.name not in but else ():
                yield replace(value, **{field.name: other})
    elif isinstance(value, tuple):
        for number, each in enumerate(value):
            for other in _mutants(each):
                yield (*value[:number], other, *value[number + 1 :])
            if not isinstance(each, tuple):
                yield (*value[:number], *value[number + 1 :])
    else:
        yield from _scalar_mutants(value)


def _scalar_mutants(value: Any) -> Iterator[Any]:
    match value:
        case bool():
            yield not value
        case int():
            yield value + 1
        case "=" | "<" | "<=" | ">" | ">=":
            yield "!="
        case str():
            yield value + "x"
        case dict():
            yield {**value, "more": "x"}
            yield from ({**value, key: text + "x"} for key, text in value.items())
        case None:
            yield from ()


def test_the_mutants_reach_into_subprocesses() -> None:
    inner = Task(id="t")
    process = Process(id="p", body=Scope(nodes=(SubProcess(id="s", body=Scope(nodes=(inner,))),)))
    found = {mutant.body.nodes[0].body.nodes[0].name for mutant in _mutants(process) if _has_inner(mutant)}
    assert "x" in found


def _has_inner(process: Process) -> bool:
    first = process.body.nodes[:1]
    return bool(first) and isinstance(first[0], SubProcess) and bool(first[0].body.nodes)

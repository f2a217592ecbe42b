"""Functions are bound to verbs by mark, by name and by hand, only inside the listed packages."""

from __future__ import annotations

import asyncio
import copy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure.errors import DefinitionError
from perdure.verbs import Call, Catalogue, HandlerRegistry, Result, load_text, verb
from perdure.verbs.handlers import LateCall, UnresolvableError, marks_of
from perdure.verbs.references import Wanted

APP = Path(__file__).parent / "fixtures" / "handlers_app"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(APP))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("sample_")]:
        del sys.modules[name]


SURVEY = """
- {name: survey.greet, input_schema: {properties: {who: {type: string}}}}
- {name: survey.walk, execution: {handler: "neighbours::walk"}}
- {name: survey.walk-again, execution: {handler: sample_handlers.neighbours.walk}}
- {name: survey.count, version: 1}
- {name: survey.count, version: 2}
- {name: survey.wait, execution: {kind: durable}}
- {name: survey.write, execution: {handler: "crud::execute", params: {entity: plot, operation: create}}}
---
entities: {plot: {fields: {id: uuid}}}
"""


def _one(handler: str) -> Catalogue:
    return load_text(f'- {{name: a.b, execution: {{handler: "{handler}"}}}}')


def _call(**changes: Any) -> Call:
    given: dict[str, Any] = {
        "verb": "survey.greet",
        "version": 1,
        "args": {"who": "Ada"},
        "call_id": "c1",
        "step_id": "s1",
        "tenant": "default",
        "principal": "someone",
        "trace": None,
        "idempotency_key": "k1",
        "attempt": 1,
    }
    return Call(**(given | changes))


def test_marked_and_named_functions_are_found_in_all_modules_of_a_listed_package() -> None:
    catalogue = load_text(SURVEY)
    registry = HandlerRegistry.collect(["sample_handlers"], catalogue)
    found = {each.name: registry.resolve(each) for each in catalogue}
    greet, walk = found["survey.greet"], found["survey.walk"]
    assert greet is not None and walk is not None and greet.function is not None
    assert greet.function(_call()) == {"greeting": "Hello Ada"}
    assert (greet.is_async, walk.is_async) == (False, True)
    assert found["survey.walk-again"].function is walk.function  # type: ignore[union-attr]
    assert found["survey.wait"] is None
    assert found["survey.write"].built_in  # type: ignore[union-attr]
    assert registry.missing(catalogue) == []


def test_a_handler_marked_for_one_version_serves_that_version_only() -> None:
    catalogue = load_text(SURVEY)
    registry = HandlerRegistry.collect(["sample_handlers"], catalogue)
    functions = [registry.resolve(catalogue.get("survey.count", version)).function for version in (1, 2)]  # type: ignore[union-attr]
    assert [function.__name__ for function in functions if function] == ["count_once", "count_twice"]


def test_two_handlers_for_one_verb_are_refused_naming_both_places() -> None:
    with pytest.raises(DefinitionError) as caught:
        HandlerRegistry.collect(["sample_twice"], load_text("- name: survey.greet"))
    problems = {problem.code: problem for problem in caught.value.problems}
    reason = problems["handler.duplicate"].reason
    assert "sample_twice.first" in reason and "sample_twice.second" in reason and "__init__.py:8)" in reason
    assert "not declared" in problems["handler.unknown_verb"].reason
    assert "'survey.greet'" in problems["handler.unknown_verb"].hint


@pytest.mark.parametrize(
    ("handler", "code", "says"),
    [
        ("os.system", "handler.outside", "outside the listed packages (sample_handlers)"),
        ("sample_handlersevil.run", "handler.outside", "outside the listed packages"),
        ("os::system", "handler.not_found", "sample_handlers.os.system"),
        ("neighbours::wlak", "handler.not_found", "was not found"),
        ("sample_handlers.neighbours.NOT_A_FUNCTION", "handler.not_found", "was not found"),
        ("../../etc/passwd", "handler.outside", "outside the listed packages"),
        ("walk", "handler.outside", "outside the listed packages"),
    ],
)
def test_a_handler_name_reaches_nothing_outside_the_listed_packages(handler: str, code: str, says: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        HandlerRegistry.collect(["sample_handlers"], _with_greet(handler))
    assert [problem.code for problem in caught.value.problems] == [code]
    assert says in caught.value.problems[0].reason


def _with_greet(handler: str) -> Catalogue:
    return load_text(
        f"- name: survey.greet\n- name: survey.count\n  version: 1\n- name: survey.count\n  version: 2\n"
        f'- {{name: a.b, execution: {{handler: "{handler}"}}}}'
    )


def test_a_package_that_cannot_be_imported_is_a_problem_and_not_a_crash() -> None:
    with pytest.raises(DefinitionError) as caught:
        HandlerRegistry.collect(["sample_broken", "sample_absent"], load_text("- name: a.b"))
    reasons = [problem.reason for problem in caught.value.problems]
    assert "RuntimeError: no licence found" in reasons[0]
    assert "'sample_absent' cannot be imported" in reasons[1]


def test_functions_can_be_bound_by_hand() -> None:
    catalogue = _one("bloomberg::query")
    registry = HandlerRegistry.collect([], catalogue, {"bloomberg::query": lambda call: {}})
    assert registry.missing(catalogue) == []
    registry.bind("a.c_d", len)
    assert registry.resolve(load_text("- name: a.c-d").get("a.c-d")).function is len  # type: ignore[union-attr]
    with pytest.raises(DefinitionError, match="two handlers"):
        registry.bind("a.c-d", repr)


def test_a_verb_nobody_handles_is_reported_with_the_line_to_write() -> None:
    catalogue = load_text("- name: a.b\n- {name: a.wait, execution: {kind: durable}}\n")
    problems = HandlerRegistry.collect([], catalogue).missing(catalogue)
    assert [problem.reason for problem in problems] == ["the verb 'a.b' has no handler"]
    assert '@verb("a.b")' in problems[0].hint


def test_an_object_with_an_async_call_is_asynchronous() -> None:
    class Caller:
        async def __call__(self, call: Call) -> None: ...

    registry = HandlerRegistry()
    registry.bind("a.b", Caller())
    assert registry.resolve(load_text("- name: a.b").get("a.b")).is_async  # type: ignore[union-attr]


def test_the_mark_leaves_the_function_as_it_was() -> None:
    def plain(call: Call) -> int:
        return 7

    assert verb("a.b")(verb("a.c", version=2)(plain)) is plain
    assert [(mark.name, mark.version) for mark in marks_of(plain)] == [("a.c", 2), ("a.b", None)]
    assert marks_of(5) == ()


def test_a_call_resolves_references_by_their_scheme() -> None:
    async def document(wanted: Wanted) -> str:
        return f"content of {wanted.uri}"

    call = _call(resolvers={"document": document})
    assert asyncio.run(call.resolve("document://a/1")) == "content of document://a/1"
    with pytest.raises(UnresolvableError, match=r"nothing here fetches the scheme 'documnt'.*'document'"):
        asyncio.run(call.resolve("documnt://a/1"))
    with pytest.raises(UnresolvableError, match="it has no scheme"):
        asyncio.run(call.resolve("a/1"))


def test_a_call_gives_its_entities_or_says_why_not() -> None:
    entities = object()
    assert _call(entities=entities).entities is entities
    with pytest.raises(UnresolvableError, match="Expected to use entities in call 'c1'"):
        _ = _call().entities


def test_a_result_carries_data_and_flags_of_its_own() -> None:
    assert Result().data == {} and Result().data is not Result().data
    assert Result({"x": 1}, flags={"orch_y": True}).flags == {"orch_y": True}


def _late(**changes: Any) -> LateCall:
    whole = _call(**changes)
    return LateCall(whole.args, lambda args: _call(**({"args": args} | changes)))


def _lent(opened: list[Any]) -> Any:
    async def fetch(wanted: Wanted) -> str:
        return f"fetched {wanted.uri}"

    return {"document": fetch}, lambda *whose: opened.append(whose) or opened, _Named("the verb")


class _Named(str):
    """A verb as far as lending looks at it."""

    __slots__ = ()
    name = "the verb"


def test_a_call_that_is_made_late_tells_everything_that_one_made_at_once_tells() -> None:
    context: Any = object()
    changes = {"trace": {"traceparent": "t"}, "iteration": 3, "context": context}
    whole, late = _call(**changes), _late(**changes)
    assert {name: getattr(late, name) for name in Call.__slots__} == {
        name: getattr(whole, name) for name in Call.__slots__
    }
    assert {name: getattr(copy.copy(_late()), name) for name in Call.__slots__} == {
        name: getattr(_call(), name) for name in Call.__slots__
    }
    assert not hasattr(late, "something_else") and isinstance(late, Call)


def test_what_a_call_that_is_made_late_cannot_open_is_told_as_it_was_raised() -> None:
    def broken(*_: Any) -> Any:
        raise AttributeError("the records have no such thing")

    late = _late()
    late._lent = ({}, broken, "the verb")
    with pytest.raises(AttributeError, match="the records have no such thing"):
        _ = late.entities


@pytest.mark.parametrize("looked_at", ["never", "before it began", "after it began"])
async def test_a_call_that_is_made_late_lends_what_it_was_begun_with(looked_at: str) -> None:
    opened: list[Any] = []
    late = _late(tenant="acme")
    if looked_at == "before it began":
        assert late.idempotency_key == "k1"
        late.trace = {"traceparent": "passed on"}
    late._lent = _lent(opened)
    if looked_at == "after it began":
        assert late.tenant == "acme"
    late.tenant = "another one"
    assert await late.resolve("document://1") == "fetched document://1"
    assert late.entities is opened and opened == [("acme", "someone", "the verb", "k1")]
    assert late.trace == ({"traceparent": "passed on"} if looked_at == "before it began" else None)


def test_what_a_late_call_used_is_metered() -> None:
    late = _late()
    late._lent = _lent([])
    late.used("model", input_tokens=1, output_tokens=2)
    assert late._meter is not None and late._meter.uses

"""Whatever text arrives, loading it ends in a catalogue or in a DefinitionError."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from perdure.errors import DefinitionError
from perdure.verbs import load_text
from perdure.verbs.yaml_keys import ACCEPTED_KEYS

EXAMPLES = int(os.environ.get("PERDURE_FUZZ_EXAMPLES", "150"))
FIXTURES = sorted((Path(__file__).parent / "fixtures").rglob("*.y*ml"))
WORDS = [*sorted(set[str]().union(*ACCEPTED_KEYS.values())), "a.b", "#/definitions/X", "X", "crud::execute", "orch_x"]
SPECIAL = [
    "[",
    "]",
    "{",
    "}",
    ":",
    "-",
    "&a",
    "*a",
    "!!str",
    "? ",
    "| ",
    "> ",
    "\n",
    "  ",
    "'",
    '"',
    "#",
    "---",
    "%",
    "\t",
]

_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=True),
    st.text(max_size=20),
    st.sampled_from([*WORDS, "durable", "sync", "string", "enum", "P1D", "$x", "{x}", "bpmn::start_process"]),
)
_keys = st.one_of(st.sampled_from(WORDS), st.text(max_size=8))
_values: st.SearchStrategy[Any] = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_keys, inner, max_size=5)),
    max_leaves=40,
)


def _loads_or_tells(text: str) -> None:
    try:
        catalogue = load_text(text, "fuzz.yaml")
    except DefinitionError as error:
        assert error.problems and all(problem.line >= 1 and problem.column >= 1 for problem in error.problems)
        assert all(problem.sentence() for problem in error.problems)
    else:
        catalogue.lint()
        for verb in catalogue:
            verb.sentence({})


_bounded = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])


@_bounded
@given(st.text())
@example("\ud800")
@example("\x00")
@example("[" * 100_000)
@example("{" * 100_000)
@example("- " * 50_000 + "x")
@example("? " * 50_000 + "x")
@example("a: " * 5_000)
@example("!!" * 1000)
@example("&a " * 1000 + "x")
@example('"' + "x" * 100_000)
@example("a: &a [*a]")
@example("<<: {a: b}")
def test_random_text_never_crashes_the_loader(text: str) -> None:
    _loads_or_tells(text)


@_bounded
@given(st.lists(st.one_of(st.sampled_from(SPECIAL), st.sampled_from(WORDS), st.text(max_size=5)), max_size=60))
def test_text_made_of_yaml_marks_never_crashes_the_loader(parts: list[str]) -> None:
    _loads_or_tells(" ".join(parts))


@_bounded
@given(_values)
def test_random_structures_never_crash_the_loader(value: Any) -> None:
    _loads_or_tells(yaml.safe_dump(value, allow_unicode=True))


@_bounded
@given(st.lists(st.dictionaries(st.sampled_from(sorted(ACCEPTED_KEYS["verb"])), _values, max_size=6), max_size=3))
def test_random_verbs_never_crash_the_loader(verbs: list[Any]) -> None:
    _loads_or_tells(yaml.safe_dump(verbs))


@_bounded
@given(st.dictionaries(st.sampled_from(sorted(ACCEPTED_KEYS["execution"])), _values, max_size=6))
def test_random_executions_never_crash_the_loader(execution: Any) -> None:
    _loads_or_tells(yaml.safe_dump([{"name": "a.b", "execution": {"kind": "durable", **execution}}]))


_schemas: st.SearchStrategy[Any] = st.recursive(
    st.one_of(_scalars, st.just({"$ref": "#/definitions/X"})),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(sorted(ACCEPTED_KEYS["schema"])), inner, max_size=4),
        st.dictionaries(st.sampled_from(["properties", "items", "type", "required"]), inner, max_size=4),
    ),
    max_leaves=20,
)


@_bounded
@given(_schemas, _schemas)
@example({"type": [[]]}, {"type": {}})
@example({"required": [[]], "properties": {"x": {"required": {}}}}, {"format": []})
def test_random_schemas_never_crash_the_loader(schema: Any, definition: Any) -> None:
    verbs = [{"name": "a.b", "input_schema": schema, "output_schema": schema}]
    _loads_or_tells(yaml.safe_dump({"verbs": verbs, "definitions": {"X": definition}}))


@_bounded
@given(st.dictionaries(st.sampled_from(sorted(ACCEPTED_KEYS["domain_verb"])), _values, max_size=6))
def test_random_domain_verbs_never_crash_the_loader(verb: Any) -> None:
    _loads_or_tells(yaml.safe_dump({"domains": {"a": {"verbs": {"b": verb}}}, "entities": {"a": {"fields": verb}}}))


@pytest.mark.parametrize("file", FIXTURES, ids=lambda file: file.name)
@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**32))
def test_a_damaged_file_never_crashes_the_loader(file: Path, seed: int) -> None:
    text, chance = file.read_text(), random.Random(seed)
    for _ in range(chance.randint(1, 5)):
        at, length = chance.randrange(len(text)), chance.randint(0, 20)
        text = text[:at] + chance.choice([*SPECIAL, ""]) + text[at + length :]
    _loads_or_tells(text)

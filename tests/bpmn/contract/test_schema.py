"""The XML schema that the package ships says the same of the profile's elements as reading them does."""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree  # type: ignore[import-untyped]

from perdure.bpmn.contract import parse_path, parse_template, schema_text
from tests.bpmn.contract.mutants import MODELS, mutants

NAMESPACE = "https://ameide.io/schema/bpmn/extensions/v1"
SCHEMA = etree.XMLSchema(etree.fromstring(schema_text().encode()))
PIECES = st.sampled_from(
    ["${", "\\${", "\\", "$", "{", "}", "a", "step_id}", "state.x", "${state.a.b}", "[0]", ".", " "]
)
TEXTS = st.lists(PIECES, max_size=7).map("".join)
SAID_BY_IT = frozenset({"AME014", "AME023", "AME030", "AME032", "AME051"})
"""Codes of rules about what one element holds, which the schema can say as well."""


def is_valid(element: str) -> bool:
    return bool(SCHEMA.validate(etree.fromstring(f'<a:{element.replace("<", "<a:")} xmlns:a="{NAMESPACE}"/>')))


def outermost(text: str) -> list[etree._Element]:
    """The elements of the namespace that stand in none of it."""
    root = etree.fromstring(text.encode())
    return [each for each in root.iter(f"{{{NAMESPACE}}}*") if not each.getparent().tag.startswith(f"{{{NAMESPACE}}}")]


@pytest.mark.req("B1")
def test_every_element_of_the_examples_is_valid() -> None:
    for path in sorted(MODELS.glob("*.bpmn")):
        found = outermost(path.read_text())
        assert found
        assert all(SCHEMA.validate(etree.ElementTree(each)) for each in found), SCHEMA.error_log


@pytest.mark.req("B1")
def test_what_breaks_one_element_is_not_valid() -> None:
    codes = set()
    for mutant in mutants():
        if mutant.code in SAID_BY_IT and mutant.number == 0:
            codes.add(mutant.code)
            is_broken = not all(SCHEMA.validate(etree.ElementTree(each)) for each in outermost(mutant.text))
            assert is_broken, (mutant.code, mutant.file)
    assert codes == SAID_BY_IT


@given(TEXTS)
def test_the_schema_and_the_grammar_agree_on_templates(text: str) -> None:
    found = parse_template(text)
    valid = is_valid(f'taskDefinition type="t" policyRef="p" idempotencyKeyTemplate="{escape(text)}"')
    assert valid == (bool(text) and not found.faults)


@given(st.text(alphabet="ab_0.[- ", max_size=8))
def test_the_schema_and_the_grammar_agree_on_paths(text: str) -> None:
    path = parse_path(f"state.{text}")
    element = etree.fromstring(
        f'<a:ioMapping xmlns:a="{NAMESPACE}"><a:input source="state.{text}" target="request.a"/></a:ioMapping>'
    )
    assert bool(SCHEMA.validate(etree.ElementTree(element))) == (not path.fault)

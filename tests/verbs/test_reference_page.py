"""The reference page of verb files tells of every key, type and word that the loader accepts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from perdure.verb_contract import CONSEQUENCE_TIERS, FAILURE_CLASSES
from perdure.verbs import BUILT_IN_HANDLERS, load_text
from perdure.verbs.entity_section_reader import FIELD_TYPES
from perdure.verbs.schema_shorthand import SHORTHAND_TYPES
from perdure.verbs.yaml_keys import ACCEPTED_KEYS

PAGE_FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PAGE = (PAGE_FOLDER / "verb-yaml.md").read_text(encoding="utf-8")
TYPES = PAGE_FOLDER / "document-types-yaml.md"
TOLD = set(re.findall(r"`([^`\n]+)`", PAGE + TYPES.read_text(encoding="utf-8")))


@pytest.mark.parametrize("place", ACCEPTED_KEYS)
def test_every_accepted_key_is_documented(place: str) -> None:
    assert not ACCEPTED_KEYS[place] - TOLD


def test_every_type_and_word_is_documented() -> None:
    assert not {*SHORTHAND_TYPES, *FIELD_TYPES, *CONSEQUENCE_TIERS, *FAILURE_CLASSES, *BUILT_IN_HANDLERS} - TOLD


def test_the_first_example_of_the_page_loads() -> None:
    example = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]
    assert load_text(example).names() == ["lending.open-application"]

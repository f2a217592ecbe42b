"""The reference of document types is written from the keys that are accepted, and its example is one."""

from __future__ import annotations

import pytest

from perdure.verbs import load_text
from perdure.verbs.document_keys import DOCUMENT_KEYS
from perdure.verbs.yaml_keys import ACCEPTED_KEYS
from tests.documents.pages import EXAMPLE, PAGE, TITLES, page

LAB = """
verbs:
  - {name: lab.read, args: [{name: reference, type: string}], execution: {kind: sync}}
  - {name: lab.scan, args: [{name: reference, type: string}], execution: {kind: sync}}
"""


@pytest.mark.req("P9", "T6")
def test_the_reference_of_document_types_is_what_is_accepted() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.documents.pages"
    assert set(TITLES) == set(DOCUMENT_KEYS)
    assert {place: set(keys) for place, keys in DOCUMENT_KEYS.items()} == {
        place: set(ACCEPTED_KEYS[place]) for place in DOCUMENT_KEYS
    }


@pytest.mark.req("T6", "T15")
def test_the_example_of_the_reference_loads() -> None:
    catalogue = load_text(EXAMPLE + LAB)
    assert catalogue.documents["passport"].verification.four_eyes
    assert catalogue.reasons["NO_APOSTILLE"].retryable

"""A header is not a literal, or names a place that depends on the environment.

Headers are small metadata: a key in lower case of at most 64 characters, and a text. An expression is not evaluated,
and an address would tie the model to one environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import all_found
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME050"
NAME = "header-literal"
SEVERITIES = Severities("error", hollow="off", open="off")

_KEY = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
_ENDPOINT = re.compile(
    r"[a-z][a-z0-9+.-]*://|\blocalhost\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[a-z0-9-]+(?:\.[a-z0-9-]+)+:\d{2,5}\b|\bwww\.",
    re.IGNORECASE,
)


def check(index: Index) -> Iterator[Note]:
    for each in all_found(index):
        if each.name != elements.HEADER:
            continue
        key, value = each.attribute("key"), each.attribute("value")
        if not _KEY.fullmatch(key):
            fact = f"the key '{key[:80]}' of a header is not in lower case, or longer than 64 characters"
            yield Note(each.element, fact, "Write letters, digits, '.', '-' and '_' in lower case.", each.place)
        if "${" in value or "#{" in value or value.lstrip().startswith("="):
            fact = f"the header '{key[:64]}' holds an expression"
            yield Note(each.element, fact, "Write a text, or map data by an input.", each.place)
        elif _ENDPOINT.search(value):
            fact = f"the header '{key[:64]}' holds an address"
            yield Note(each.element, fact, "Name what is meant, and let the worker know where it is.", each.place)

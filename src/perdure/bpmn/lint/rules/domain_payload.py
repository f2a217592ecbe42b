"""The model mentions the domain payload.

`domain_payload` is opaque to a process: it is carried through unchanged and never looked into. What a gateway needs
to know is a flag that a verb sets.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import all_texts

CODE = "HOL012"
NAME = "domain-payload"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for element, place, text in all_texts(index):
        if "domain_payload" in text or "domainPayload" in text:
            yield Note(element, f"its {place} mentions the domain payload", "Let a verb set a flag instead.")

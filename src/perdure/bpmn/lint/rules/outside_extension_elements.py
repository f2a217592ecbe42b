"""An element of the contract profile does not stand in `bpmn:extensionElements`.

Many tools drop what stands elsewhere, and the schema of BPMN forbids it.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME060"
NAME = "outside-extension-elements"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for remark in index.written.remarks:
        if remark.code == CODE:
            yield Note(remark.element, remark.fact, remark.hint, remark.place)

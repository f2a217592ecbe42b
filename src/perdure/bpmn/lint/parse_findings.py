"""Parse findings: faults that the reader found before any rule runs, under their own codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from perdure.bpmn.lint.findings import Finding
from perdure.bpmn.model import Definitions, Model, Place, Remark, scopes
from perdure.bpmn.xml.reference_checks import reference_faults

MOST = 100
DUPLICATE = "BPM007"


def broken(model: Model) -> Iterator[Finding]:
    """The same codes as reading a file gives."""
    for id, count in Counter(_ids(model.definitions)).items():
        if count > 1:
            yield _finding(model, DUPLICATE, id, f"{count} elements have this id", "Give each an id of its own.")
    for fault in islice(reference_faults(model.definitions), MOST):
        yield _finding(model, fault.code, fault.element, fault.fact, fault.hint)
    for remark in remarks(model):
        yield Finding(
            code=remark.code, severity="warning", fact=remark.fact, hint=remark.hint, element=remark.element,
            line=remark.place.line, column=remark.place.column, file=model.file,
        )  # fmt: skip


def remarks(model: Model) -> Iterator[Remark]:
    """Those of reading; what a rule is about is told by the rule."""
    return (each for each in model.remarks if not each.code.startswith(("HOL", "AME")))


def _finding(model: Model, code: str, element: str, fact: str, hint: str) -> Finding:
    place = model.places.get(element, Place(0, 0))
    return Finding(
        code=code, severity="error", fact=fact, hint=hint, element=element,
        line=place.line, column=place.column, file=model.file,
    )  # fmt: skip


def _ids(definitions: Definitions) -> Iterator[str]:
    for process in definitions.processes:
        yield process.id
        for scope in scopes(process.body):
            for part in (scope.nodes, scope.flows, scope.associations, scope.annotations):
                yield from (each.id for each in part)
    for shared in (definitions.messages, definitions.signals, definitions.errors, definitions.escalations):
        yield from (each.id for each in shared)

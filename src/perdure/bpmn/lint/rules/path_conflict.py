"""One path is written as a value and, by another mapping, as an object.

`state.order` and `state.order.id` cannot both be written: whichever comes last takes the other away.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract.paths import Path
from perdure.bpmn.lint.contract_elements import Found, paths
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME033"
NAME = "path-conflict"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    written: dict[tuple[str, ...], str] = {}
    targets = [(found, path) for found, attribute, path in paths(index) if attribute == "target" and not path.fault]
    for found, path in targets:
        written.setdefault(_scope(found, path), path.text)
    for found, path in targets:
        parts = _scope(found, path)
        outer = next((written[parts[:n]] for n in range(3, len(parts)) if parts[:n] in written), None)
        if outer is not None:
            fact = f"it writes '{path.text[:60]}', and '{outer[:60]}' is written as a value"
            yield Note(found.element, fact, "Write one of the two.", found.place)


def _scope(found: Found, path: Path) -> tuple[str, ...]:
    """The state is one for all, each request is its own."""
    return ("" if path.root == "state" else found.element, *path.parts)

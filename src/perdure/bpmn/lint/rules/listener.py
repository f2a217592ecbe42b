"""A listener runs code that no one sees in the diagram.

Execution and task listeners are work beside the path. Draw a service task where the work happens.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import all_extensions

CODE = "HOL009"
NAME = "listener"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for element, extension in all_extensions(index):
        name = extension.name.partition(":")[2].lower()
        inner = [child.name.lower() for child in extension.children]
        if _is_listener(name) or (name.endswith("listeners") and not any(map(_is_listener, inner))):
            yield Note(element, f"it has a listener ({extension.name})", "Draw a service task where the work happens.")


def _is_listener(name: str) -> bool:
    return name.endswith("listener")

"""An extension of another engine would be ignored.

Extension elements that change what another engine does (scripts, decisions, calls, field injection) have no meaning
here, and ignoring them would change the process silently. Remove them, or call a verb.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.lint.texts import all_extensions

CODE = "HOL010"
NAME = "foreign-extension"
SEVERITIES = Severities("error", open="warning")


_PREFIXES = ("camunda:", "flowable:", "activiti:", "jbpm:", "tns:", "drools:")
_ZEEBE = {
    "zeebe:script": "a script", "zeebe:calledDecision": "a decision table", "zeebe:calledElement": "a call",
    "zeebe:adHoc": "an expression that chooses activities", "zeebe:conditionalFilter": "a filter of variables",
    "zeebe:linkedResources": "linked resources",
}  # fmt: skip
_ELSEWHERE = ("listener", "listeners", "connector", "class", "delegateExpression")


def check(index: Index) -> Iterator[Note]:
    for element, extension in all_extensions(index):
        if extension.name in _ZEEBE:
            fact = f"it has {_ZEEBE[extension.name]} ({extension.name}), which is not evaluated here"
            yield Note(element, fact, "Call a verb that does this.")
        elif extension.name.startswith(_PREFIXES) and not extension.name.lower().endswith(_ELSEWHERE):
            fact = f"it has an extension of another engine ({extension.name})"
            yield Note(element, fact, "Remove it, or call a verb that does this.")

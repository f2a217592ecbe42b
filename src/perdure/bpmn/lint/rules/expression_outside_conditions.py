"""An expression outside conditions is neither a literal nor one flag.

Correlation keys, timers, assignees, due dates and the number of iterations are a literal or the value of one flag,
written `=orch_name`. Types and forms of tasks, names of messages and codes of errors are literals. Let a verb compute
the value and write it to a flag.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import Use, uses
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.model import (
    CallActivity,
)

CODE = "HOL003"
NAME = "expression-outside-conditions"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    for use in uses(index):
        if use.value.kind == "foreign" and use.role != "mapping" and not _is_template(index, use):
            fact = f"its {use.role.replace('_', ' ')} `{use.value.text[:80]}` is neither a literal nor a flag"
            yield Note(use.element, fact, "Let a verb compute it into a flag and write =orch_name.")
    for element, what, text in _literals(index):
        if text.strip().startswith(("=", "${", "#{")):
            yield Note(element, f"its {what} `{text[:80]}` is an expression", "Write it as a literal.")


def _is_template(index: Index, use: Use) -> bool:
    """Keys of the contract profile are templates over the state, which a rule of that profile looks at."""
    return index.profile == "contract" and use.role == "correlation" and "${state." in use.value.text


def _literals(index: Index) -> Iterator[tuple[str, str, str]]:
    definitions = index.definitions
    yield from ((node.id, "type", verb) for node, verb in index.calls())
    yield from ((task.id, "form", task.form) for task in index.tasks())
    yield from ((call.id, "called process", call.process) for call in index.each(CallActivity))
    yield from ((message.id, "name", message.name) for message in definitions.messages)
    yield from ((signal.id, "name", signal.name) for signal in definitions.signals)
    yield from ((error.id, "code", error.code) for error in definitions.errors)
    yield from ((escalation.id, "code", escalation.code) for escalation in definitions.escalations)

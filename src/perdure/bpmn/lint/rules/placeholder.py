"""A template holds something that is no placeholder there.

Placeholders are `${state.<path>}` everywhere, and in `idempotencyKeyTemplate` also `${process_instance_id}`,
`${process_run_id}`, `${step_id}` and `${step_instance_id}`. Everything else in a template is text; `\\${` is a literal
`${`. Nothing is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.lint.contract_elements import templates
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME030"
NAME = "placeholder"
SEVERITIES = Severities("error", hollow="off", open="off")


def check(index: Index) -> Iterator[Note]:
    for found, attribute, template in templates(index):
        for fault in template.faults:
            if not fault.is_path:
                fact = f"its {attribute} is no template: {fault.fact} (character {fault.offset + 1})"
                yield Note(found.element, fact, fault.hint, found.place)
        if not template.text.strip() and found.name == elements.TASK:
            yield Note(found.element, f"its {attribute} is empty", "Write a template, or leave it out.", found.place)
        if found.name != elements.TASK:
            for name in dict.fromkeys(template.identities):
                fact = f"its {attribute} reads ${{{name}}}, which only idempotency keys may"
                yield Note(found.element, fact, "Read the state: ${state.<path>}.", found.place)

"""An extension is not known here and has no effect.

It is kept when the model is written again. If it is meant to change what happens, it does not: call a verb. What stands
inside it is not told again.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import all_extensions, misspelt
from perdure.bpmn.xml.extension_schema import ZEEBE

CODE = "HOL021"
NAME = "unknown-extension"
SEVERITIES = Severities("warning")


_KNOWN = ("bpmn:", "modeler:", "camunda:", "ameide:", "bioc:", "color:", "attributes", "xml:", "xsi:")
_ENGINES = ("{http://flowable.org", "{http://activiti.org", "{http://www.jboss.org/drools", "{http://jbpm.org")


def check(index: Index) -> Iterator[Note]:
    told: set[int] = set()
    for element, extension in all_extensions(index):
        is_known = extension.name in ZEEBE or extension.name.startswith((*_KNOWN, *_ENGINES))
        if is_known or misspelt(extension.name):
            continue
        told.update(map(id, extension.children))
        if id(extension) not in told:
            yield Note(element, f"its extension {extension.name[:80]} has no effect here", "Remove it, or ignore this.")

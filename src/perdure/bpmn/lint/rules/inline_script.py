"""A script task holds code instead of naming a callable.

No profile ever runs code found in a file. In the open profile a script task names a callable that is registered in
Python; its body stays empty.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import nearest

CODE = "HOL020"
NAME = "inline-script"
SEVERITIES = Severities("error", hollow="off", contract="off", open="error")


def check(index: Index) -> Iterator[Note]:
    callables = None if index.contract is None else index.contract.callables
    for task in index.tasks("script"):
        if task.script.strip():
            yield Note(task.id, "it holds code", "Register a callable and name it as the type; remove the code.")
        elif not task.type:
            held = any(each.name == "zeebe:script" for each in task.extensions)
            fact = "it holds an expression (zeebe:script) and names no callable" if held else "it names no callable"
            yield Note(task.id, fact, "Give it the name of a registered callable as type.")
        elif callables and task.type not in callables:
            hint = nearest(task.type, callables) or f"Registered: {', '.join(callables)}."
            yield Note(task.id, f"it names '{task.type}', which is not registered", hint)

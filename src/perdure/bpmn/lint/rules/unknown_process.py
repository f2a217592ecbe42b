"""A call activity calls a process that is not known.

It is neither in this file nor deployed, and does not come along; or it is in this file, but is not executable,
begins by an event only, or is not deployed with it, so that nobody can call it; or it is no process but a global task,
and only processes are called. Correct the id, deploy the process first, or put the task where it is called.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index, is_named
from perdure.bpmn.lint.model_queries import nearest
from perdure.bpmn.model import (
    CallActivity,
    Event,
    Process,
)
from perdure.bpmn.xml.namespaces import with_article

CODE = "BPM151"
NAME = "unknown-process"
SEVERITIES = Severities("error")


def check(index: Index) -> Iterator[Note]:
    here = {process.id: process for process in index.definitions.processes}
    for call in index.each(CallActivity):
        if not is_named(call.process):
            yield Note(call.id, "it does not say which process it calls", "Give it the id of a process.")
        elif call.process in here:
            yield from _callable(call, here[call.process], index)
        elif call.process in index.model.global_tasks:
            kind = index.model.global_tasks[call.process]
            fact = f"it calls '{call.process}', which is {with_article(kind)}, and only processes are called"
            yield Note(call.id, fact, "Put a task of that kind in its place, or call a process that holds one.")
        elif index.knows_all and call.process not in index.others and not call.process.startswith("="):
            known = index.others.difference({index.room_of[call.id].process.id})
            hint = nearest(call.process, known) or "Correct the id, or deploy the process first."
            yield Note(call.id, f"it calls '{call.process}', which is not known", hint)


def _callable(call: CallActivity, process: Process, index: Index) -> Iterator[Note]:
    starts = [node for node in process.body.nodes if isinstance(node, Event) and node.position == "start"]
    if not process.is_executable and process.id not in index.others:
        yield Note(call.id, f"it calls '{process.id}', which is not executable", "Make that process executable.")
    elif process.is_executable and starts and all(start.triggers for start in starts):
        fact = f"it calls '{process.id}', which begins by an event only"
        yield Note(call.id, fact, "Give that process a start event without a trigger.")
    elif index.knows_all and process.id not in index.others and process.id != index.room_of[call.id].process.id:
        fact = f"it calls '{process.id}', which is in this file and not deployed"
        yield Note(call.id, fact, "Deploy both at once, or that process first.")

"""A verb says that it writes a flag whose writers leave it out.

The flag names who may write it, the verb's contract says that it does: when it runs, what it writes is refused and
becomes an incident. Add the verb to the writers of the flag, or take the flag out of its contract.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.contract import same_name, same_names
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.flag_access import writing_nodes
from perdure.bpmn.lint.model_index import Index

CODE = "CON114"
NAME = "writer-left-out"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    writers = {name: same_names(flag.writers) for name, flag in index.flags.items() if flag.writers}
    for node, name in writing_nodes(index):
        verb = index.verbs.get(same_name(name))
        for flag in (verb.writes_flags or ()) if verb is not None else ():
            if flag in writers and same_name(name) not in writers[flag]:
                fact = f"'{name}' says it writes '{flag}', and is not among its writers"
                yield Note(node.id, fact, f"Add it to the writers of {flag}, or remove it from contract.writes_flags.")

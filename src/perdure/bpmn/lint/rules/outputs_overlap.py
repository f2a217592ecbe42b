"""Two branches that run at once write the same field of the payload.

Results of branches are merged by path; a path two of them change is a broken contract and stops the instance. Let
them write different fields, or say under `payload.merge` of the durable verb how their values become one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from perdure.bpmn.lint.contract import same_name
from perdure.bpmn.lint.dataflow import (
    concurrent_pairs,
)
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "CON108"
NAME = "outputs-overlap"
SEVERITIES = Severities("error", open="warning")


def check(index: Index) -> Iterator[Note]:
    merged = frozenset(index.contract.merged) if index.contract is not None else frozenset()
    fields: dict[str, list[str]] = defaultdict(list)
    for node, name in (*index.calls(), *index.intakes()):
        verb = index.verbs.get(same_name(name))
        for field in (verb.outputs or ()) if verb is not None else ():
            if field not in merged:
                fields[field].append(node.id)
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for field, one, other in concurrent_pairs(index, fields):
        if field not in found[one, other]:
            found[one, other].append(field)
    for (one, other), names in found.items():
        fact = f"it writes {', '.join(sorted(names))} while '{other}' may write it too"
        yield Note(one, fact, "Let the branches write different fields, or declare payload.merge for the field.")

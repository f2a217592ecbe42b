"""Two user tasks are answered by one Update, or an Update has no name.

Each user task has an Update of its own: `Update_<id>`, unless `updateDefinition` names another. Names are letters,
digits and underscores, as names of methods are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from perdure.bpmn.contract import elements
from perdure.bpmn.contract.contract import default_update
from perdure.bpmn.lint.contract_elements import found_on
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index

CODE = "AME015"
NAME = "update-name"
SEVERITIES = Severities("error", hollow="off", open="off")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")


def check(index: Index) -> Iterator[Note]:
    users: dict[str, list[str]] = defaultdict(list)
    for task in index.tasks("user"):
        found = found_on(index, task.id, elements.UPDATE)
        name = found[0].attribute("name") if found else default_update(task.id)
        users[name].append(task.id)
        if found and not _NAME.fullmatch(name):
            fact = f"the name `{name[:60]}` of its Update is not made of letters, digits and underscores"
            yield Note(task.id, fact, f"Write e.g. {default_update('Approve')}, or leave it out.", found[0].place)
    for name, ids in users.items():
        for id in ids[1:]:
            place = next((each.place for each in found_on(index, id, elements.UPDATE)), None)
            yield Note(id, f"'{ids[0]}' is answered by the Update '{name[:60]}' as well", "Name another.", place)

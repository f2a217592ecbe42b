"""The table of operations: every operation that a module of this package declares, in reading order."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from perdure.app.operations import (
    agents,
    audits,
    budgets,
    calls,
    dead_letters,
    deployments,
    documents,
    drafts,
    engines,
    events,
    incidents,
    instances,
    keys,
    lifecycles,
    messages,
    overview,
    packs,
    processes,
    requests,
    runbooks,
    tasks,
    uploads,
    variables,
    verbs,
    waits,
)
from perdure.app.operations.operation import Operation

Row = Operation[Any, Any]
OF_SURFACES = frozenset({"metrics.read", "session.read"})
"""Names that allow something a server itself does: show its counters, and let agents in."""


def _declared(module: ModuleType) -> list[Row]:
    return [each for each in vars(module).values() if isinstance(each, Operation)]


TABLE: tuple[Row, ...] = tuple(
    row
    for module in (
        verbs,
        calls,
        runbooks,
        drafts,
        overview,
        agents,
        budgets,
        engines,
        events,
        audits,
        waits,
        incidents,
        instances,
        variables,
        keys,
        lifecycles,
        dead_letters,
        messages,
        packs,
        processes,
        deployments,
        tasks,
        documents,
        requests,
        uploads,
    )
    for row in _declared(module)
)

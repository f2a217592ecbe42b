"""Cases that still need a document: their evidence is kept until they are over, whatever its retention says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.identifiers import id_text
from perdure.journal import Origin
from perdure.journal.facts import FACT, fact_key, fact_kind
from perdure.lifecycles.machine.judgements import names_of, needed_facts

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

DOCUMENT = "document"


async def is_evidence(runtime: Runtime, origin: Origin, subject: str, type: str) -> bool:
    """Whether an active lifecycle waits for documents of that subject and type, or is about it and asks for them."""
    if not subject:
        return False
    key = fact_key(DOCUMENT, subject, type)
    if await runtime.store.find_waits(origin.tenant, FACT, fact_kind(key), key, most=1):
        return True
    for each in await runtime.lifecycles.definitions.all(origin):
        if await _asks(runtime, origin, each.lifecycle, subject, key):
            return True
    return False


async def _asks(runtime: Runtime, origin: Origin, lifecycle: str, subject: str, key: str) -> bool:
    """Whether the subject's active instance asks for a fact in any of its states."""
    instances = runtime.lifecycles
    found = await instances.newest(lifecycle, subject, origin)
    if found is None or found.state.is_over:
        return False
    material = await instances.material(found)
    names = names_of(id_text(found.id), lifecycle, subject, material.context)
    table, definition = instances.machine.table, material.definition
    return any(key in needed_facts(table, definition, each.name, names) for each in definition.states)

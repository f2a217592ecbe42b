"""Ids of what was erased: those that a text speaks of, and whether the data of one is gone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from perdure.errors import RejectedError
from perdure.journal import Machine
from perdure.sources import Id, parse_id
from perdure.store.audit.audit_reader import Reader, plain
from perdure.store.audit.stored_states import stored_state
from perdure.store.checksums import checked

Machines = Mapping[str, Machine[Any, Any, Any]]
IDS = re.compile(rb"(?<![0-9a-z])[0-9a-hjkmnp-tv-z]{26}(?![0-9a-z])")


def ids_in(body: bytes) -> set[Id]:
    """The ids an answer speaks of."""
    found = set()
    for letters in IDS.findall(body):
        try:
            found.add(parse_id(letters.decode()))
        except RejectedError:
            continue
    return found


async def is_erased(reader: Reader, machines: Machines, id: bytes) -> bool:
    """Whether the data of an aggregate were erased; not of one that is not there or is damaged."""
    rows = await reader.fetch("load_aggregate", id=id)
    if not rows:
        return False
    try:
        loaded = checked(plain(rows[0]))
        machine: Any = machines[loaded.kind]
        return bool(machine.payloads(await stored_state(reader, machine, id, loaded.state))[1])
    except Exception:  # damage of the call itself is found by its own check
        return False

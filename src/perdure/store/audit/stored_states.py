"""States as stored, with their parts where those are rows by themselves."""

from __future__ import annotations

from typing import Any

from perdure.journal import Machine, PartedMachine
from perdure.store.audit.audit_reader import Reader, plain
from perdure.store.audit.findings import Finding, found


async def stored_state(reader: Reader, machine: Machine[Any, Any, Any], id: bytes, data: bytes) -> Any:
    """The state behind a row's bytes; raises when its parts are not those it was stored with."""
    state = machine.decode(data)
    if not isinstance(machine, PartedMachine) or machine.parts(state) is None:
        return state
    return machine.filled(state, [body for _, body in map(plain, await reader.fetch("read_parts", aggregate=id))])


async def check_parts(reader: Reader, machine: Machine[Any, Any, Any], id: bytes, replayed: Any) -> list[Finding]:
    """Compare the parts that replaying gives with those that are stored."""
    if not isinstance(machine, PartedMachine):
        return []
    parts = machine.parts(replayed)
    wanted = [machine.encode_part(part) for part in parts] if parts is not None else []
    stored = [plain(row) for row in await reader.fetch("read_parts", aggregate=id)]
    if stored == list(enumerate(wanted)):
        return []
    known = dict(enumerate(wanted))
    places = [number for number, body in stored if known.pop(number, None) != body] + sorted(known)
    fact = f"there are {len(stored)} of {len(wanted)}, the first that differs is {places[0]}"
    return [found("AUD014", "part", fact, id)]

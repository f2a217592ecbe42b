"""Checks kept answers for data that was erased: an answer names the calls it tells of by their ids."""

from __future__ import annotations

import re
from typing import Any

from perdure.errors import RejectedError
from perdure.sources import Id, parse_id
from perdure.store.audit.aggregate_audit import Machines
from perdure.store.audit.audit_reader import PAGE, Reader, plain
from perdure.store.audit.findings import Report, found
from perdure.store.audit.stored_states import stored_state
from perdure.store.checksums import checked

IDS = re.compile(rb"(?<![0-9a-z])[0-9a-hjkmnp-tv-z]{26}(?![0-9a-z])")


async def check_answers(reader: Reader, report: Report, machines: Machines) -> None:
    erased = dict[bytes, bool]()
    after = ("", "", "")
    while True:
        rows = await reader.fetch(
            "scan_answers", after_tenant=after[0], after_principal=after[1], after_key=after[2], most=PAGE
        )
        for tenant, principal, key, _, _, body, _ in map(plain, rows):
            after = (tenant, principal, key)
            for id in ids_in(body):
                if id not in erased:
                    erased[id] = await _is_erased(reader, machines, id)
                if erased[id]:
                    fact = f"the answer to '{principal}' under '{key}' tells of it"
                    report.add([found("AUD013", "answer", fact, id)])
        if len(rows) < PAGE:
            return


def ids_in(body: bytes) -> set[Id]:
    """The ids an answer speaks of."""
    found = set()
    for letters in IDS.findall(body):
        try:
            found.add(parse_id(letters.decode()))
        except RejectedError:
            continue
    return found


async def _is_erased(reader: Reader, machines: Machines, id: bytes) -> bool:
    rows = await reader.fetch("load_aggregate", id=id)
    if not rows:
        return False
    try:
        loaded = checked(plain(rows[0]))
        machine: Any = machines[loaded.kind]
        return bool(machine.payloads(await stored_state(reader, machine, id, loaded.state))[1])
    except Exception:  # damage of the call itself is found by its own check
        return False

"""Checks kept answers for data that was erased: an answer names the calls it tells of by their ids."""

from __future__ import annotations

from perdure.store.audit.audit_reader import PAGE, Reader, plain
from perdure.store.audit.erased_ids import Machines, ids_in, is_erased
from perdure.store.audit.findings import Report, found


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
                    erased[id] = await is_erased(reader, machines, id)
                if erased[id]:
                    fact = f"the answer to '{principal}' under '{key}' tells of it"
                    report.add([found("AUD013", "answer", fact, id)])
        if len(rows) < PAGE:
            return

"""Erasing takes everything with it, whatever else is committed together with it."""

from __future__ import annotations

import asyncio

import pytest

from perdure.journal import Origin
from perdure.kernel.kernel import Prepared
from perdure.kernel.ports import Attachments, IndexRow
from perdure.payload import digest
from perdure.runbooks.machine import commands as c
from perdure.sources import parse_id
from tests.runbooks.test_calls import opened


@pytest.mark.req("P8")
async def test_data_that_arrived_in_the_same_commit_is_erased_too(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await sandbox.call("kyc.documents", {"entity": "A"})
        await sandbox.complete(view.id, {"case_id": "c"})
        id, kernel = parse_id(view.id), sandbox.runtime.kernel
        proposed = c.ProposeAmendment("input", digest(b"{}"), "typo")
        brought = Attachments(payloads=[(digest(b"{}"), b"{}")], index=[IndexRow("kyc.documents", "entity", "B")])
        answers = await asyncio.gather(
            kernel.ask("runbook", id, Origin(), Prepared(proposed, brought)),
            kernel.ask("runbook", id, Origin(), Prepared(c.Erase("asked for"), Attachments(erases=True))),
        )
        assert [each.answer for each in answers] == ["proposed", "erased"]
        assert await sandbox.runtime.driver.fetch("list_payloads", aggregate=id) == []
        assert await sandbox.find("kyc.documents", entity="B") == []
        assert (await sandbox.status(view.id)).args is None

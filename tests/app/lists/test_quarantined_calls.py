"""Lists go on when one of the calls in them is set aside."""

from __future__ import annotations

import pytest

from tests.runbooks.test_calls import opened


@pytest.mark.req("P7")
async def test_a_damaged_call_says_so_in_lists_and_hides_none_of_the_others(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        damaged = await sandbox.call("kyc.documents", {"entity": "Allianz"})
        sound = await sandbox.call("kyc.documents", {"entity": "Allianz"})
        connection = sandbox.runtime.driver._writer.connection
        connection.execute("UPDATE aggregate SET state = state || x'00' WHERE number = 1")
        parked = {each["id"]: each["state"] for each in await sandbox.parked()}
        assert parked == {damaged.id: "quarantined", sound.id: "parked"}
        found = {each.id: each.state for each in await sandbox.find("kyc.documents", entity="Allianz")}
        assert found == parked
        assert (await sandbox.complete(f"{sound.id}:1", {"case_id": "c"})).answer == "applied"

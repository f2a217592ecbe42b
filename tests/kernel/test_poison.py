"""A unit that no store could ever keep fails at once and alone: nobody tries it again, nobody waits behind it."""

from __future__ import annotations

import asyncio
from hashlib import sha256

import pytest

from perdure.errors import InvariantBroken
from perdure.kernel.ports import Attachments, InboxRow, Unit
from perdure.store.driver_selection import open_driver


def lone(message_id: str) -> Unit:
    row = InboxRow("tenant", message_id, "completion", "key", 1, 1, "applied", None, None)
    return Unit("tenant", None, attachments=[Attachments(inbox=row)], at=1)


@pytest.mark.parametrize("message_id", ["a\0b", "".join(sha256(b"%d" % n).hexdigest() for n in range(400))])
async def test_what_cannot_be_indexed_is_refused_at_once_and_alone(postgres_url: str, message_id: str) -> None:
    driver = open_driver(postgres_url)
    await driver.open()
    try:
        async with asyncio.timeout(30):
            bad, good = await asyncio.gather(
                driver.commit(lone(message_id)), driver.commit(lone("m")), return_exceptions=True
            )
        assert isinstance(bad, InvariantBroken) and good is None
    finally:
        await driver.close()

"""A dead letter whose bytes were damaged is shown, refused by name and discarded; it hides no other."""

from __future__ import annotations

import pytest

from perdure.errors import UnreadableFormError
from perdure.testing.sandbox import Sandbox
from tests.conformance.stores import Raw


@pytest.mark.req("P7")
@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"status":"completed"}', b"[" * 5_000])
async def test_a_damaged_dead_letter_hides_no_other_and_can_be_discarded(store_url: str, body: bytes) -> None:
    async with Sandbox.open(store_url) as sandbox:
        for message_id in ("damaged", "whole"):
            await sandbox.complete("nobody", {"n": message_id}, message_id=message_id)
        with Raw(store_url) as raw:
            raw("UPDATE inbox SET body = ? WHERE message_id = 'damaged'", body)
        assert {letter["message_id"] for letter in await sandbox.dead_letters()} == {"damaged", "whole"}
        with pytest.raises(UnreadableFormError, match="Expected to read dead letter 'damaged', but its bytes cannot"):
            await sandbox.replay("damaged")
        await sandbox.discard("damaged", "sent again")
        assert [letter["message_id"] for letter in await sandbox.dead_letters()] == ["whole"]

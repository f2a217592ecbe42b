"""Payloads on their way to Temporal carry their hash, and an altered or foreign one is refused."""

from __future__ import annotations

import pytest
from temporalio.api.common.v1 import Payload

from perdure.engines.temporal.payload_codec import HashedPayloads
from perdure.errors import PayloadIntegrityError

SENT = Payload(metadata={"encoding": b"binary/plain"}, data=b"a decision")


async def test_a_payload_comes_back_byte_for_byte() -> None:
    codec = HashedPayloads()
    assert await codec.decode(await codec.encode([SENT])) == [SENT]


@pytest.mark.req("V13")
async def test_an_altered_payload_is_refused() -> None:
    codec = HashedPayloads()
    (wrapped,) = await codec.encode([SENT])
    wrapped.data = wrapped.data.replace(b"decision", b"decisiom")
    with pytest.raises(PayloadIntegrityError, match="do not have the hash"):
        await codec.decode([wrapped])


async def test_a_foreign_payload_is_refused() -> None:
    with pytest.raises(PayloadIntegrityError, match="binary/plain"):
        await HashedPayloads().decode([SENT])

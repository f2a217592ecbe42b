"""The payload codec: whatever travels to the server carries the hash of its bytes, and an altered one is refused."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter, PayloadCodec

from perdure.errors import PayloadIntegrityError

ENCODING = b"binary/perdure-sha256"
HASH = "perdure-sha256"


class HashedPayloads(PayloadCodec):
    """Wraps each payload with its hash."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [_wrapped(each) for each in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [_unwrapped(each) for each in payloads]


def _wrapped(payload: Payload) -> Payload:
    data = payload.SerializeToString()
    return Payload(metadata={"encoding": ENCODING, HASH: sha256(data).digest()}, data=data)


def _unwrapped(payload: Payload) -> Payload:
    found = payload.metadata.get("encoding", b"")
    if found != ENCODING:
        fact = f"it is encoded as '{found.decode(errors='replace')}', and this engine sends no such"
        raise PayloadIntegrityError("read", "payload from", "Temporal", fact)
    if sha256(payload.data).digest() != payload.metadata.get(HASH):
        fact = "its bytes do not have the hash they were sent with"
        raise PayloadIntegrityError("read", "payload from", "Temporal", fact)
    return Payload.FromString(payload.data)


def data_converter() -> DataConverter:
    return DataConverter(payload_codec=HashedPayloads())

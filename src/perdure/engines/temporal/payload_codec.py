"""The payload codec: whatever travels to the server carries the hash of its bytes, encrypted where there are keys.

| encoding | is | read by |
|---|---|---|
| `binary/perdure-sha256` | the payload, its hash beside it | every process |
| `binary/perdure-aes-gcm` | nonce, then hash and payload under the key named beside it | a process that has this key |

A process with keys encrypts with the first and reads both: workflows that began before go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes, PayloadCodec

from perdure.engines.temporal.payload_keys import PayloadKeys
from perdure.errors import MissingKeyError, PayloadIntegrityError
from perdure.sources import fresh_secret

ENCODING = b"binary/perdure-sha256"
SEALED = b"binary/perdure-aes-gcm"
HASH = "perdure-sha256"
KEY = "perdure-key"
NONCE_BYTES = 12
HASH_BYTES = 32


class HashedPayloads(PayloadCodec):
    """Wraps each payload with its hash, and encrypts both where there are keys."""

    def __init__(self, keys: PayloadKeys | None = None) -> None:
        self._keys = keys
        self.refused: MissingKeyError | None = None
        """The key that was missing the last time a payload was read; None when none was."""
        self._ciphers = {id: AESGCM(key) for id, key in keys.keys.items()} if keys is not None else {}

    @property
    def is_sealing(self) -> bool:
        return self._keys is not None

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        wrap = _wrapped if self._keys is None else self._sealed
        return [wrap(each) for each in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        read = [self._opened(each) if _encoding(each) == SEALED else _unwrapped(each) for each in payloads]
        self.refused = None
        return read

    def _sealed(self, payload: Payload) -> Payload:
        assert self._keys is not None
        id, nonce = self._keys.current, fresh_secret(NONCE_BYTES)
        data = payload.SerializeToString()
        sealed = self._ciphers[id].encrypt(nonce, sha256(data).digest() + data, _bound(id))
        return Payload(metadata={"encoding": SEALED, KEY: id.encode()}, data=nonce + sealed)

    def _opened(self, payload: Payload) -> Payload:
        id = payload.metadata.get(KEY, b"").decode(errors="replace")
        cipher = self._ciphers.get(id)
        if cipher is None:
            self.refused = self._missing(id)
            raise self.refused
        try:
            clear = cipher.decrypt(payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:], _bound(id))
        except (InvalidTag, ValueError) as error:
            fact = f"its bytes were altered, or the key '{id}' here is not the one they were encrypted with"
            raise PayloadIntegrityError("read", "payload from", "Temporal", fact) from error
        hash, data = clear[:HASH_BYTES], clear[HASH_BYTES:]
        if sha256(data).digest() != hash:
            raise _altered()
        return Payload.FromString(data)

    def _missing(self, id: str) -> MissingKeyError:
        if self._keys is None:
            fact = f"it is encrypted with the key '{id}', and this process has no keys"
            hint = "Open the store with `encryption=` in the url of the engine."
        else:
            known = ", ".join(f"'{each}'" for each in self._keys.keys)
            fact = f"it is encrypted with the key '{id}', and {self._keys.source} has {known}"
            hint = f"Add the line of '{id}' to {self._keys.source}; nothing is lost meanwhile."
        return MissingKeyError("read", "payload from", "Temporal", fact, hint)


def _bound(id: str) -> bytes:
    """What a sealed payload is bound to beside its key."""
    return SEALED + b"/" + id.encode()


def _encoding(payload: Payload) -> bytes:
    found: bytes = payload.metadata.get("encoding", b"")
    return found


def _wrapped(payload: Payload) -> Payload:
    data = payload.SerializeToString()
    return Payload(metadata={"encoding": ENCODING, HASH: sha256(data).digest()}, data=data)


def _unwrapped(payload: Payload) -> Payload:
    found = _encoding(payload)
    if found != ENCODING:
        fact = f"it is encoded as '{found.decode(errors='replace')}', and this engine sends no such"
        raise PayloadIntegrityError("read", "payload from", "Temporal", fact)
    if sha256(payload.data).digest() != payload.metadata.get(HASH):
        raise _altered()
    return Payload.FromString(payload.data)


def _altered() -> PayloadIntegrityError:
    return PayloadIntegrityError(
        "read", "payload from", "Temporal", "its bytes do not have the hash they were sent with"
    )


def data_converter(codec: HashedPayloads | None = None) -> DataConverter:
    """With keys the words of failures are encrypted as well."""
    codec = codec or HashedPayloads()
    if not codec.is_sealing:
        return DataConverter(payload_codec=codec)
    return DataConverter(payload_codec=codec, failure_converter_class=DefaultFailureConverterWithEncodedAttributes)

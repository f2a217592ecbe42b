"""The hash chain of one aggregate's records."""

from __future__ import annotations

from hashlib import sha256


def genesis(tenant: str, kind: str, id: bytes) -> bytes:
    """The hash before the first record: it ties the chain to its tenant, kind and id."""
    return sha256(b"perdure\0%s\0%s\0%s" % (tenant.encode(), kind.encode(), id)).digest()


def link(previous: bytes, body: bytes) -> bytes:
    """The hash of a record: of the one before it and of its exact bytes."""
    return sha256(previous + body).digest()

"""SHA-256 digests: raw inside, `sha256:<hex>` wherever people or engines see them."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from perdure.errors import SchemaViolationError
from perdure.payload.canonical_json import canonical

_TEXT = re.compile(r"sha256:([0-9a-f]{64})")


def digest(data: bytes) -> bytes:
    """The 32 raw bytes of SHA-256."""
    return sha256(data).digest()


def digest_text(raw: bytes) -> str:
    """Raw digest bytes as `sha256:<hex>`."""
    return "sha256:" + raw.hex()


def parse_digest(text: str) -> bytes:
    """The raw bytes of a `sha256:<hex>` text; only lower case, only this length."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise SchemaViolationError("read", "digest", text[:80], "it is not 'sha256:' and 64 lower-case hex digits")
    return bytes.fromhex(match[1])


def data_hash(data: Any) -> str:
    """`sha256:` of the canonical form of a JSON value."""
    return "sha256:" + sha256(canonical(data)).hexdigest()

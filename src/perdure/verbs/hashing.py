"""The digest that identifies a definition by its content."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import rfc8785


def content_hash_of(value: Any) -> str:
    """`sha256:` of the canonical JSON of `value`."""
    return f"sha256:{sha256(rfc8785.dumps(value)).hexdigest()}"

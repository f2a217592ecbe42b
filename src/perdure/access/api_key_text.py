"""The text of an API key: its tenant, its number and 256 bits of chance."""

from __future__ import annotations

import base64
import binascii
import re
from hashlib import sha256
from typing import NamedTuple

PREFIX = "perdure_"
SECRET_BYTES = 32
# The tenant's letters may hold the separator: the lengths of what follows tell where they end.
_TEXT = re.compile(r"perdure_([A-Za-z0-9_-]{2,1400})_([0-7][0-9a-hjkmnp-tv-z]{25})_[A-Za-z0-9_-]{43}")
MAX_LENGTH = 1500


class KeyName(NamedTuple):
    """What a key's text says openly."""

    tenant: str
    id: str


def key_text(tenant: str, id: str, secret: bytes) -> str:
    """A key as it is shown, once."""
    return f"{PREFIX}{to_letters(tenant.encode())}_{id}_{to_letters(secret)}"


def key_digest(text: str) -> bytes:
    """What is kept of a key. The secret has 256 bits of chance: there is nothing a slower hash would protect."""
    return sha256(text.encode()).digest()


def read_key(text: str) -> KeyName | None:
    """Which key a text claims to be; None for whatever has not the form of one."""
    if len(text) > MAX_LENGTH or (match := _TEXT.fullmatch(text)) is None:
        return None
    tenant = from_letters(match[1])
    if tenant is None:
        return None
    try:
        return KeyName(tenant.decode(), match[2])
    except UnicodeDecodeError:
        return None


def to_letters(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_letters(text: str) -> bytes | None:
    """The bytes behind letters that `to_letters` gave; None for any other spelling of them."""
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    return data if to_letters(data) == text else None

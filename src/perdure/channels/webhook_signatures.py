"""Webhook signatures as Standard Webhooks has them: an id, a time and an HMAC over both and the body.

| what arrives | what becomes of it |
|---|---|
| the right signature within the window | read |
| a signature by any of the secrets given (the old one while it is being changed) | read |
| no, another or a malformed signature; a body, id or time changed by a byte | refused, `hook.signature` |
| a time outside the window, before or after | refused, `hook.stale` |
| the same message again within the window | read; its id makes it count once |
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from perdure.sources import SECOND, Micros

ID, TIME, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
PREFIX = "whsec_"
WINDOW_SECONDS = 300
MIN_SECRET_BYTES = 16
MAX_ID = 200
MAX_SIGNATURES = 10
_ID_FORM = re.compile(r"[\x21-\x7e]{1,200}")


class Signed(NamedTuple):
    """What a good signature vouches for."""

    id: str
    at: int


Refusal = Literal["hook.signature", "hook.stale"]


def secret_bytes(text: str) -> bytes | None:
    """The key behind a secret's text: base64 after `whsec_`, or the text itself; None when it is too short."""
    text = text.strip()
    if text.startswith(PREFIX):
        try:
            secret = base64.b64decode(text.removeprefix(PREFIX), validate=True)
        except (binascii.Error, ValueError):
            return None
    else:
        secret = text.encode()
    return secret if len(secret) >= MIN_SECRET_BYTES else None


def sign(secret: bytes, id: str, now: Micros, body: bytes) -> dict[str, str]:
    """The headers that go with a message."""
    at = now // SECOND
    return {ID: id, TIME: str(at), SIGNATURE: f"v1,{_signature(secret, id, str(at), body)}"}


def verify(
    secrets: Sequence[bytes], headers: Mapping[str, str], body: bytes, now: Micros, window: int = WINDOW_SECONDS
) -> Signed | Refusal:
    """Whether one of the secrets signed exactly this, and lately."""
    id, at, given = headers.get(ID, ""), headers.get(TIME, ""), headers.get(SIGNATURE, "")
    if not _ID_FORM.fullmatch(id) or not (at.isascii() and at.isdigit() and len(at) <= 12):
        return "hook.signature"
    offered = [each.removeprefix("v1,") for each in given.split(" ")[:MAX_SIGNATURES] if each.startswith("v1,")]
    wanted = [_signature(secret, id, at, body) for secret in secrets]
    # Every pair is compared, whichever fits: how long it takes tells nothing.
    if not sum(hmac.compare_digest(one.encode(), other.encode()) for one in offered for other in wanted):
        return "hook.signature"
    if abs(now // SECOND - int(at)) > window:
        return "hook.stale"
    return Signed(id, int(at))


def _signature(secret: bytes, id: str, at: str, body: bytes) -> str:
    content = b".".join((id.encode(), at.encode(), body))
    return base64.b64encode(hmac.digest(secret, content, hashlib.sha256)).decode()

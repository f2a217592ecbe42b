"""Card marks: what ties a card outside to a task and to what was shown, and cannot be made by anybody else."""

from __future__ import annotations

import hmac
import re
from hashlib import sha256
from typing import NamedTuple

_FORM = re.compile(r"perdure:task=([0-9A-Za-z]{20,40}:[0-9]{1,9}) shown=([0-9a-f]{64}) nonce=([0-9a-f]{32})")


class Mark(NamedTuple):
    """A task and the hash of what was shown of it."""

    task: str
    shown: str

    def text(self, secret: bytes, tenant: str) -> str:
        return f"{self.place} shown={self.shown} nonce={self._nonce(secret, tenant)}"

    @property
    def place(self) -> str:
        """The part of the text that stays the same as long as the task is open."""
        return f"perdure:task={self.task}"

    def _nonce(self, secret: bytes, tenant: str) -> str:
        said = "\n".join(("perdure card", tenant, self.task, self.shown)).encode()
        return hmac.digest(secret, said, sha256).hex()[:32]


def shown_hash(*parts: str) -> str:
    """The hash of texts that were shown, each apart from the next."""
    return sha256("".join(f"{len(each)}:{each}" for each in parts).encode()).hexdigest()


def read_mark(text: str, secrets: list[bytes], tenant: str) -> Mark | None:
    """The mark in the text of a card, the last one there; None where it has none of ours."""
    found = _FORM.findall(text)
    if not found:
        return None
    task, shown, nonce = found[-1]
    mark = Mark(task, shown)
    wanted = [mark._nonce(secret, tenant) for secret in secrets]
    return mark if sum(hmac.compare_digest(nonce, each) for each in wanted) else None

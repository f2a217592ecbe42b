"""The content of a definition: its canonical bytes, which its hash is of."""

from __future__ import annotations

import msgspec

from perdure.errors import InvariantBroken
from perdure.lifecycles.machine.definition import Lifecycle
from perdure.payload import canonical, digest
from perdure.typed_reading import read_json


def content_of(definition: Lifecycle) -> bytes:
    """The canonical bytes; where the definition was written is no part of them."""
    return canonical(msgspec.to_builtins(definition))


def definition_of(content: bytes, hash: bytes) -> Lifecycle:
    if digest(content) != hash:
        raise InvariantBroken("load", "lifecycle", "", "its bytes are not those of its hash")
    return read_json(content, Lifecycle)

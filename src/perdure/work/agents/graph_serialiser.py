"""The graph serialiser: states of graphs as msgpack of data and of the messages of LangChain, nothing else.

| in a state | what happens |
|---|---|
| JSON, bytes, dates, decimals, ids, sets, messages, interrupts | stored and read back as it was |
| an object of a class of its own, an array of numpy, whatever pickle would be needed for | refused when it is stored |
| stored bytes that name anything else | refused when they are read: no name is imported, nothing is called |
"""

from __future__ import annotations

from functools import partial
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde._msgpack import SAFE_MSGPACK_METHODS, SAFE_MSGPACK_TYPES
from langgraph.checkpoint.serde.jsonplus import (
    EXT_CONSTRUCTOR_KW_ARGS,
    EXT_CONSTRUCTOR_POS_ARGS,
    EXT_CONSTRUCTOR_SINGLE_ARG,
    EXT_DELTA_SNAPSHOT,
    EXT_METHOD_SINGLE_ARG,
    EXT_PYDANTIC_V1,
    EXT_PYDANTIC_V2,
    JsonPlusSerializer,
)

from perdure.errors import ContractError

PLAIN = ("null", "bytes", "bytearray")
OF_A_CLASS = frozenset({
    EXT_CONSTRUCTOR_SINGLE_ARG, EXT_CONSTRUCTOR_POS_ARGS, EXT_CONSTRUCTOR_KW_ARGS, EXT_PYDANTIC_V1, EXT_PYDANTIC_V2
})  # fmt: skip
REFUSED = frozenset({("re", "compile")})
"""What the library calls safe and may take for ever."""


class GraphSerialiser(JsonPlusSerializer):
    """Strict whatever the environment says: pickle is off, and types outside the library's list are refused."""

    def __init__(self) -> None:
        super().__init__(pickle_fallback=False, allowed_json_modules=None, allowed_msgpack_modules=None)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        try:
            kind, body = super().dumps_typed(obj)
        except TypeError as error:  # what msgpack cannot say at all
            raise ContractError(f"A state of the graph cannot be stored: {error}. {_ADVICE}") from None
        check(kind, body)
        return kind, bytes(body)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        check(*data)
        return super().loads_typed(data)


def check(kind: str, body: bytes) -> None:
    """ContractError when bytes are of another format, or name a type that is not on the list."""
    if kind in PLAIN:
        return
    if kind != "msgpack":
        raise ContractError(f"A state of the graph has the format '{kind[:40]}', which is never read.")
    faults: list[str] = []
    try:
        _unpack(body, faults)
    except ValueError as error:
        fact = faults[0] if faults else f"A state of the graph holds bytes that are no state: {error}."
        raise ContractError(f"{fact} {_ADVICE}") from None


def _unpack(body: bytes, faults: list[str]) -> Any:
    return ormsgpack.unpackb(body, ext_hook=partial(_look, faults), option=ormsgpack.OPT_NON_STR_KEYS)


def _look(faults: list[str], code: int, body: bytes) -> Any:
    """Note the fault of an object, before the library says only that there is one."""
    parts = _unpack(body, faults)
    if code == EXT_DELTA_SNAPSHOT:
        return None
    if code in OF_A_CLASS:
        name = (str(parts[0]), str(parts[1]))
        if name in SAFE_MSGPACK_TYPES and name not in REFUSED:
            return None
        faults.append(f"A state of the graph holds a {'.'.join(name)}, which is not stored.")
    elif code == EXT_METHOD_SINGLE_ARG and (parts[0], parts[1], parts[3]) in SAFE_MSGPACK_METHODS:
        return None
    faults.append(f"A state of the graph holds something that is not stored (kind {code}).")
    raise ValueError(faults[0])


_ADVICE = "Keep data in it that JSON can say, dates, decimals or messages; keep the rest elsewhere."

"""Typed reading: bytes and values become what their type says, whichever thread reads first.

msgspec learns a type at its first use and is not safe then: two threads that meet there end the program. Here types are
learned by one thread at a time. Modules that keep a decoder learn their types when they are imported.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")
learning = threading.RLock()
"""Held by whoever makes decoders outside an import."""


@cache
def _json(kind: Any) -> Callable[[bytes | str], Any]:
    with learning:
        return msgspec.json.Decoder(kind).decode


@cache
def _msgpack(kind: Any) -> Callable[[bytes], Any]:
    with learning:
        return msgspec.msgpack.Decoder(kind).decode


@overload
def read_json(data: bytes | str, kind: type[T]) -> T: ...
@overload
def read_json(data: bytes | str, kind: Any) -> Any: ...
def read_json(data: bytes | str, kind: Any) -> Any:
    return _json(kind)(data)


@overload
def read_msgpack(data: bytes, kind: type[T]) -> T: ...
@overload
def read_msgpack(data: bytes, kind: Any) -> Any: ...
def read_msgpack(data: bytes, kind: Any) -> Any:
    return _msgpack(kind)(data)


@overload
def convert(value: Any, kind: type[T], *, strict: bool = True, str_keys: bool = False) -> T: ...
@overload
def convert(value: Any, kind: Any, *, strict: bool = True, str_keys: bool = False) -> Any: ...
def convert(value: Any, kind: Any, *, strict: bool = True, str_keys: bool = False) -> Any:
    """A value of lists, dicts and scalars as its kind."""
    _json(kind)
    return msgspec.convert(value, kind, strict=strict, str_keys=str_keys)

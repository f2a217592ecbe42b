"""Many values of one state: changed one at a time without copying all, and summed up in one hash.

A state with few parts holds them in its own row. With more, each part is a row by itself and the state's row holds
their count and root: what is written for a change does not depend on how many there are, and what was not written is
checked all the same when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Generic, TypeVar, overload

from perdure.errors import InvariantBroken, UnreadableFormError

T = TypeVar("T")
Encode = Callable[[Any], bytes]

INLINE = 16
"""How many parts sit in the state's own row."""
CHUNK = 32
"""How many parts are summed up together: a change copies one chunk and the list of chunks."""


class _Chunk(Generic[T]):
    """Up to `CHUNK` parts with the hashes of those whose bytes were asked for."""

    __slots__ = ("digest", "items", "leaves")

    def __init__(self, items: tuple[T, ...], leaves: list[bytes | None]) -> None:
        self.items = items
        self.leaves = leaves
        self.digest: bytes | None = None

    def with_item(self, at: int, item: T) -> _Chunk[T]:
        leaves = self.leaves.copy()
        leaves[at] = None
        return _Chunk((*self.items[:at], item, *self.items[at + 1 :]), leaves)

    def sum(self, encode: Encode) -> bytes:
        if self.digest is None:
            for at, leaf in enumerate(self.leaves):
                if leaf is None:
                    self.leaves[at] = sha256(encode(self.items[at])).digest()
            self.digest = sha256(b"\x01" + b"".join(leaf for leaf in self.leaves if leaf is not None)).digest()
        return self.digest


class Parts(Sequence[T]):
    """An unchanging sequence; `set` and `extend` give another that shares what they did not touch."""

    __slots__ = ("_chunks", "_length", "_root")

    def __init__(self, chunks: tuple[_Chunk[T], ...] = (), length: int = 0, root: bytes | None = None) -> None:
        self._chunks = chunks
        self._length = length
        self._root = root

    @classmethod
    def of(cls, items: Iterable[T]) -> Parts[T]:
        return Parts[T]().extend(items)

    @classmethod
    def absent(cls, length: int, root: bytes) -> Parts[T]:
        """Parts that have not been read: how many there are, and what they must sum up to."""
        return Parts((), length, root)

    @property
    def is_absent(self) -> bool:
        return self._length > 0 and not self._chunks

    @property
    def is_inline(self) -> bool:
        return self._length <= INLINE

    def filled(self, bodies: Sequence[bytes], decode: Callable[[bytes], T]) -> Parts[T]:
        """The parts behind their bytes; refused unless they are all there and sum up as they must."""
        fact = f"{len(bodies):,} parts were read and there must be {self._length:,}"
        if len(bodies) == self._length:
            parts = Parts.of([decode(body) for body in bodies])
            for chunk, start in zip(parts._chunks, range(0, self._length, CHUNK), strict=True):
                chunk.leaves = [sha256(body).digest() for body in bodies[start : start + CHUNK]]
            if parts.root(_unasked) == self._root:
                return parts
            fact = "its parts do not sum up to the hash it was stored with"
        raise UnreadableFormError("read", "parts of", "a state", fact)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[T, ...]: ...
    def __getitem__(self, at: int | slice) -> T | tuple[T, ...]:
        if isinstance(at, slice):
            return tuple(self)[at]
        if at < 0:
            at += self._length
        if not 0 <= at < self._length:
            raise IndexError(at)
        self._require()
        return self._chunks[at // CHUNK].items[at % CHUNK]

    def __iter__(self) -> Iterator[T]:
        self._require()
        for chunk in self._chunks:
            yield from chunk.items

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parts):
            return NotImplemented
        return self is other or (self._length == other._length and tuple(self) == tuple(other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Parts.absent({self._length})" if self.is_absent else f"Parts.of({list(self)!r})"

    def set(self, at: int, item: T) -> Parts[T]:
        """The same with one part changed."""
        if not 0 <= at < self._length:
            raise IndexError(at)
        self._require()
        place, chunks = at // CHUNK, self._chunks
        changed = chunks[place].with_item(at % CHUNK, item)
        return Parts((*chunks[:place], changed, *chunks[place + 1 :]), self._length)

    def extend(self, items: Iterable[T]) -> Parts[T]:
        """The same with more at the end."""
        self._require()
        new = tuple(items)
        full = self._chunks
        rest: tuple[T, ...] = ()
        leaves: list[bytes | None] = []
        if full and len(full[-1].items) < CHUNK:
            rest, leaves, full = full[-1].items, full[-1].leaves, full[:-1]
        whole = (*rest, *new)
        known: list[bytes | None] = [*leaves, *[None] * len(new)]
        added = [_Chunk(whole[at : at + CHUNK], known[at : at + CHUNK]) for at in range(0, len(whole), CHUNK)]
        return Parts((*full, *added), self._length + len(new))

    def changed_since(self, before: Parts[T] | None) -> list[int]:
        """Where this one differs from an earlier one, by identity: all of it when there was none."""
        if before is None:
            return list(range(self._length))
        changed: list[int] = []
        for place, chunk in enumerate(self._chunks):
            old = before._chunks[place] if place < len(before._chunks) else None
            if chunk is not old:
                items = old.items if old is not None else ()
                changed.extend(
                    place * CHUNK + at
                    for at, item in enumerate(chunk.items)
                    if at >= len(items) or item is not items[at]
                )
        return changed

    def written(self, at: int, encode: Encode) -> bytes:
        """The bytes of one part, remembering their hash for the root."""
        self._require()
        chunk = self._chunks[at // CHUNK]
        body = encode(chunk.items[at % CHUNK])
        if chunk.leaves[at % CHUNK] is None:
            chunk.leaves[at % CHUNK] = sha256(body).digest()
        return body

    def root(self, encode: Encode) -> bytes:
        """One hash over all parts in their order, and their number."""
        if self._root is None:
            sums = b"".join([chunk.sum(encode) for chunk in self._chunks])
            self._root = sha256(b"\x02" + self._length.to_bytes(8, "big") + sums).digest()
        return self._root

    def _require(self) -> None:
        if self.is_absent:
            raise InvariantBroken("look at", "parts of", "a state", "they have not been read")


def _unasked(item: Any) -> bytes:
    raise AssertionError("every hash is known")

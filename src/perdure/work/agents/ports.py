"""Ports of agents at work: the store that keeps the threads of their graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from perdure.sources import Micros

ROOT_SPACE = ""
"""The name of the space of a graph itself; a graph inside it has another."""


class ThreadRun(NamedTuple):
    """A run of a graph: its number, and what the attempt before it, or the same one, has used as far as was stored."""

    number: int
    attempt: int
    used: bytes


class GraphThread(NamedTuple):
    """The thread of one step: its name is the idempotency key, its owner the call or instance it is erased with."""

    tenant: str
    name: str
    owner: str


class StoredCheckpoint(NamedTuple):
    """A state of a graph as it is stored: the format and the bytes of the state, and of what is said about it."""

    id: str
    parent: str
    kind: str
    body: bytes
    metadata_kind: str
    metadata: bytes


class StoredWrite(NamedTuple):
    """What a task of a state has written to one channel."""

    task: str
    place: int
    path: str
    channel: str
    kind: str
    body: bytes


class Progress(NamedTuple):
    """What is told with every write of a run: which attempt it is, and what that has used so far."""

    run: int
    attempt: int
    used: bytes
    at: Micros


class GraphThreads(Protocol):
    """Threads of all tenants. A run that is not the latest of its thread writes nothing: FencedError."""

    async def claim(self, thread: GraphThread, attempt: int, now: Micros) -> ThreadRun:
        """Begin a run; earlier ones can write nothing from now on."""
        ...

    async def read(self, thread: GraphThread, space: str, id: str = "") -> StoredCheckpoint | None:
        """A state by its id, else the newest. DamagedPayloadError when its bytes are not what was written."""
        ...

    async def before(self, thread: GraphThread, space: str, id: str, most: int) -> list[StoredCheckpoint]:
        """States before one of them, newest first; before none of them without an id."""
        ...

    async def writes(self, thread: GraphThread, space: str, id: str) -> list[StoredWrite]:
        """What tasks of a state have written."""
        ...

    async def put(
        self, thread: GraphThread, space: str, checkpoint: StoredCheckpoint, progress: Progress, *, prunes: bool
    ) -> None:
        """Store a state; what is older leaves in the same commit where it is not needed."""
        ...

    async def put_writes(
        self, thread: GraphThread, space: str, id: str, writes: Sequence[StoredWrite], progress: Progress
    ) -> None:
        """Store what a task has written."""
        ...

    async def size(self, thread: GraphThread) -> int:
        """How many bytes the thread holds."""
        ...

    async def forget(self, thread: GraphThread) -> None:
        """Remove every state: the graph begins anew."""
        ...

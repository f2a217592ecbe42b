"""Jobs: service tasks that an engine hands to a worker, and the answers it takes.

| answer | what the engine does with it |
|---|---|
| `complete` | checks it against the verb's contract, merges data and flags, moves the token on |
| `fail` | retries it by the verb's policy; an incident when no attempt is left, or the failure is permanent |
| `throw` | a business error: caught by a boundary event, otherwise an incident |
| none, and the stream is closed | takes the job back and gives it out again, under the same key |

A job may come more than once: its key is the same each time, and the first answer that is recorded counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

from perdure.engine.instance import Flags
from perdure.verb_contract import FailureClass


class Job(Protocol):
    """One attempt at a service task. `key` names the execution and is the same over all its attempts."""

    @property
    def type(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def instance(self) -> str: ...
    @property
    def attempt(self) -> int: ...
    @property
    def args(self) -> Mapping[str, Any]: ...

    async def complete(self, data: Mapping[str, Any] | None = None, flags: Flags | None = None) -> None: ...
    async def fail(self, message: str, kind: FailureClass = "transient_external") -> None: ...
    async def throw(self, code: str, message: str = "") -> None: ...


class JobStream(Protocol):
    """Jobs of some types as they become ready. Nobody else is given them while it is open."""

    def __aiter__(self) -> Self: ...
    async def __anext__(self) -> Job: ...
    async def close(self) -> None:
        """Take no more jobs; those without an answer are given out again."""
        ...

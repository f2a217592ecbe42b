"""Capabilities: what an engine can do beyond the least that each can, declared by it and asked before a call.

| capability | an engine that has it | one that lacks it |
|---|---|---|
| `suspend` | holds an instance and lets it go on | refuses `suspend` and `resume` |
| `modify` | takes tokens away and puts new ones before elements | refuses `modify` |
| `migrate` | lets an instance go on under another version | refuses `migrate` and `migrate_back` |
| `compensate` | undoes on `cancel` what was done | refuses a cancel that compensates |
| `delegate` | hands a task to another person; administrators override | refuses `delegate_task` and an override |
| `start_once` | begins one instance under an idempotency key | relies on the bridge to keep keys |
| `message_once` | counts a message id once | relies on our inbox before it |
| `message_outcome` | says who took a message | answers `accepted` |
| `signal_count` | says how many a signal reached | answers None |
| `until` | follows an instance as it moves | answers as soon as it is durable |
| `test_clock` | lets a test move its time | runs only scenarios that wait for nothing |

A call that needs a capability which the engine lacks is refused as `blocked`, naming the capability.
"""

from __future__ import annotations

import msgspec

from perdure.errors import RejectedError, Rejection


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine can do."""

    suspend: bool = False
    modify: bool = False
    migrate: bool = False
    compensate: bool = False
    delegate: bool = False
    start_once: bool = False
    message_once: bool = False
    message_outcome: bool = False
    signal_count: bool = False
    until: bool = False
    test_clock: bool = False

    def lacks(self, needs: frozenset[str]) -> list[str]:
        """The capabilities among those named that are not there, in their order."""
        return [name for name in self.__struct_fields__ if name in needs and not getattr(self, name)]

    def require(self, capability: str, do: str, instance: str) -> None:
        """Refuse a call that the engine of an instance cannot answer, before anything happens."""
        if not getattr(self, capability):
            raise RejectedError(Rejection("blocked", do, "instance", instance, f"its engine cannot {capability}"))


EVERYTHING = Capabilities(**dict.fromkeys(Capabilities.__struct_fields__, True))

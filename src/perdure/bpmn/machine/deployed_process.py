"""A deployed process: the model with its pinned verbs, and its hash."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from perdure.bpmn.contract.mirrors import Mirror
from perdure.bpmn.model import Error, Escalation, Message, Process, Signal
from perdure.verb_contract import FlagContract, FlagMerge, RetryPolicy, flag_content

Profile = Literal["hollow", "contract", "open"]


class Binding(msgspec.Struct, frozen=True, kw_only=True):
    """What a task type stands for: the verb it is pinned to, and its policy."""

    verb: str
    version: int = 1
    hash: str = ""
    retry: RetryPolicy = RetryPolicy()
    effects: Literal["none", "store", "external"] = "external"
    redelivery: Literal["rerun", "incident"] = "rerun"

    @property
    def definition(self) -> bytes:
        """The content hash of the verb's definition, raw; empty when none was pinned."""
        return bytes.fromhex(self.hash.removeprefix("sha256:"))


class WorkLimits(msgspec.Struct, frozen=True):
    """How long a piece of work may take: one attempt, and all of them since its token came."""

    start_to_close_seconds: float
    schedule_to_close_seconds: float


class Deployed(msgspec.Struct, frozen=True, kw_only=True):
    """One process with what it refers to, and the contract of the verb it carries. Its JSON is what is stored."""

    process: Process
    messages: tuple[Message, ...] = ()
    signals: tuple[Signal, ...] = ()
    errors: tuple[Error, ...] = ()
    escalations: tuple[Escalation, ...] = ()
    profile: Profile = "hollow"
    verb: str = ""
    flags: tuple[FlagContract, ...] = ()
    is_loose: bool = False
    """Flags that nobody declared are accepted as they come (a scenario without a verb)."""
    compensation: dict[str, str] = {}
    """Task type to the verb that undoes it."""
    bindings: dict[str, Binding] = {}
    """By task type, intakes and compensating verbs included."""
    timeout_seconds: float | None = None
    """The verb's own limit for the whole process."""
    merge: dict[str, FlagMerge] = {}
    """How values that branches write to one path of the data become one, by JSON pointer."""
    mirrors: tuple[Mirror, ...] = ()
    """Of the contract profile: flags that follow the data."""
    limits: dict[str, WorkLimits] = {}
    """Of the contract profile: what the policy of each piece of work allows it, by element."""

    @property
    def content(self) -> dict[str, Any]:
        """The JSON that is stored and hashed; a key that nobody uses leaves the hash as it was before it existed."""
        whole: dict[str, Any] = msgspec.to_builtins(self)
        whole["flags"] = [flag_content(flag) for flag in whole["flags"]]
        for name in ("merge", "mirrors", "limits"):
            if not whole[name]:
                del whole[name]
        return whole

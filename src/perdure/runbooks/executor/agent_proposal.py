"""The proposal of an agent that may not decide: a person decides later."""

from __future__ import annotations

from typing import Any

import msgspec


class Proposal(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an agent would have said: the result, and what it would have done to the plan."""

    data: Any
    agent: str
    why: str
    add: str | list[dict[str, Any]] = ""
    skip: list[str] = []
    finish: bool = False
    reason: str = ""
    confidence: float | None = None

    @property
    def result(self) -> Any:
        """What accepting it brings, as a person would have written it."""
        if not isinstance(self.data, dict):
            return self.data
        parts = {"add": self.add, "skip": self.skip, "finish": self.finish, "reason": self.reason}
        told = {name: value for name, value in parts.items() if value}
        return {**self.data, **told, **({} if self.confidence is None else {"confidence": self.confidence})}

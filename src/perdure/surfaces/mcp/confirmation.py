"""Confirmation over MCP: what the table of operations wants a person to agree to, as a tool answers it."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

import msgspec

from perdure.errors import ConfirmationRequiredError
from perdure.surfaces.mcp.answer_truncation import short
from perdure.surfaces.mcp.tool import ToolSession

A = TypeVar("A")


class Confirmation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Nothing was started: a person has to agree to exactly this plan, which is kept as a draft they can start."""

    plan_hash: str
    tier: str
    reason: str
    sentences: list[str]
    draft: str = ""
    """Where the plan is kept; a person starts it there. Empty when it is an extension."""
    phrase: str = ""
    """What the person has to type for it."""


async def confirmed(desk: ToolSession, act: Awaitable[A], confirm: str = "", draft: str = "") -> A | Confirmation:
    """The answer of an operation, or what a person has to agree to before; `draft` is where the plan was kept already.

    What a person agreed to that is not this plan is a rejection.
    """
    try:
        return await act
    except ConfirmationRequiredError as error:
        if desk.principal.is_person and confirm:
            raise
        data = error.data
        sentences = [short(each) for each in data["sentences"]]
        return Confirmation(
            data["plan_hash"], data["tier"], data["reason"], sentences, data["draft"] or draft, data["phrase"]
        )

"""Dead letters: what arrived and could not be delivered, and what becomes of it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar.params import Parameter

from perdure.access.principal import EVERY_VERB, Principal
from perdure.app import Perdure
from perdure.app.adding import check_answer
from perdure.app.confirming import vetted
from perdure.app.listing_views import DeadLetterItem
from perdure.app.paging import Page
from perdure.app.reaching import check_reach
from perdure.app.views import ReceiptView
from perdure.errors import RejectedError
from perdure.surfaces.http.making import acting, reading
from perdure.surfaces.http.parameters import MAX_TEXT, After, Limit

TAGS = ("dead letters",)
COMPLETION = "completion"
MessageId = Annotated[str, Parameter(max_length=MAX_TEXT, description="The id of the message.")]


class Replay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Under a corrected `key`, or to one of several instances that want it.

    A message that would begin processes that carry grave verbs is confirmed as calls of them are.
    """

    key: str = ""
    instance: str = ""
    confirm: str = ""
    phrase: str = ""


class ReplayNamed(Replay, frozen=True, kw_only=True):
    """The same, with an id that a path cannot hold."""

    message_id: str


class Discard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why; it is kept."""

    reason: str


class DiscardNamed(Discard, frozen=True, kw_only=True):
    """The same, with an id that a path cannot hold."""

    message_id: str


NO_REPLAY = Replay()


@reading("/dead-letters", "dead-letter.list", tags=TAGS)
async def list_letters(
    perdure: Perdure, principal: Principal, limit: Limit = 50, after: After = None
) -> Page[DeadLetterItem]:
    """What could not be delivered, oldest first, and why.

    What a letter brings is told to those whose key reaches every verb: nobody knows which one it was for.
    """
    page = await perdure.listing.dead_letters(limit=limit, after=after)
    if EVERY_VERB[0] in principal.verbs:
        return page
    return Page([msgspec.structs.replace(each, message=None) for each in page.items], page.next)


@acting("/dead-letters/{message_id:str}/replay", "dead-letter.replay", tags=TAGS)
async def replay_letter(
    perdure: Perdure, principal: Principal, message_id: MessageId, data: Replay = NO_REPLAY
) -> ReceiptView:
    """Deliver it again."""
    return await _replayed(perdure, principal, message_id, data)


@acting("/dead-letters/replay", "dead-letter.replay", tags=TAGS)
async def replay_named_letter(perdure: Perdure, principal: Principal, data: ReplayNamed) -> ReceiptView:
    """Deliver it again."""
    return await _replayed(perdure, principal, data.message_id, data)


@acting("/dead-letters/{message_id:str}/discard", "dead-letter.discard", status=204, tags=TAGS)
async def discard_letter(perdure: Perdure, principal: Principal, message_id: MessageId, data: Discard) -> None:
    """Close it without acting on it."""
    await _discarded(perdure, principal, message_id, data)


@acting("/dead-letters/discard", "dead-letter.discard", status=204, tags=TAGS)
async def discard_named_letter(perdure: Perdure, principal: Principal, data: DiscardNamed) -> None:
    """Close it without acting on it."""
    await _discarded(perdure, principal, data.message_id, data)


async def _replayed(perdure: Perdure, principal: Principal, message_id: str, data: Replay) -> ReceiptView:
    letter = await perdure.letter(message_id)
    message = letter.message if isinstance(letter.message, dict) else {}
    if letter.kind == COMPLETION:
        named, key = str(message.get("verb", "")), data.key or letter.key
        await check_reach(perdure, principal, "dead-letter.replay", key, named)
        await check_answer(perdure, principal, key, named, message.get("result"))
    brought = message.get("data")
    perdure = vetted(
        perdure, principal, "dead-letter.replay", brought if isinstance(brought, dict) else None, data.confirm,
        data.phrase,
    )  # fmt: skip
    return await perdure.replay(message_id, key=data.key, instance=data.instance)


async def _discarded(perdure: Perdure, principal: Principal, message_id: str, data: Discard) -> None:
    try:
        letter = await perdure.letter(message_id)
    except RejectedError:
        await perdure.discard(message_id, data.reason)  # which says whether it was dealt with, or never came
        return
    if letter.kind == COMPLETION:
        named = str(letter.message.get("verb", "")) if isinstance(letter.message, dict) else ""
        await check_reach(perdure, principal, "dead-letter.discard", letter.key, named)
    await perdure.discard(message_id, data.reason)


ROUTES: tuple[Any, ...] = (list_letters, replay_letter, replay_named_letter, discard_letter, discard_named_letter)

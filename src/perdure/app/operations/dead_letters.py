"""Operations on dead letters: list what could not be delivered, deliver it again, or close it."""

from __future__ import annotations

from msgspec.structs import replace

from perdure.access.principal import EVERY_VERB
from perdure.app.access.verb_scope import check_reach
from perdure.app.calls.views import ReceiptView
from perdure.app.lists.cursors import Page
from perdure.app.lists.views import DeadLetterItem
from perdure.app.operations.fields import After, Limit, MessageId
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.scopes import DISCOVERED, REDACTED
from perdure.app.runbooks.confirmation import vetted
from perdure.app.runbooks.extension_policy import check_answer
from perdure.errors import RejectedError

TAG = "dead letters"
COMPLETION = "completion"


class ListLetters(Request, frozen=True):
    """Which page of the dead letters."""

    limit: Limit = 50
    after: After = None


class ReplayLetter(Request, frozen=True):
    """A dead letter to deliver under a corrected `key`, or to one of several instances that want it.

    A message that would begin processes that carry grave verbs is confirmed as calls of them are.
    """

    message_id: MessageId
    key: str = ""
    instance: str = ""
    confirm: str = ""
    phrase: str = ""


class DiscardLetter(Request, frozen=True):
    """Why a dead letter is closed; the reason is kept."""

    message_id: MessageId
    reason: str


@operation("dead-letter.list", Route("GET", "/dead-letters"), tag=TAG, scope=REDACTED)
async def list_letters(context: Context, request: ListLetters) -> Page[DeadLetterItem]:
    """What could not be delivered, oldest first, and why.

    What a letter brings is told to those whose key reaches every verb: nobody knows which one it was for.
    """
    page = await context.perdure.listing.dead_letters(limit=request.limit, after=request.after)
    if EVERY_VERB[0] in context.principal.verbs:
        return page
    return Page([replace(each, message=None) for each in page.items], page.next)


@operation(
    "dead-letter.replay",
    Route("POST", "/dead-letters/{message_id}/replay"),
    Route("POST", "/dead-letters/replay", name="replay_named_letter"),
    tag=TAG,
    scope=DISCOVERED,
)
async def replay_letter(context: Context, request: ReplayLetter) -> ReceiptView:
    """Deliver it again."""
    perdure, principal, name = context.perdure, context.principal, "dead-letter.replay"
    letter = await perdure.letter(request.message_id)
    message = letter.message if isinstance(letter.message, dict) else {}
    if letter.kind == COMPLETION:
        verb, key = str(message.get("verb", "")), request.key or letter.key
        await check_reach(perdure, principal, name, key, verb)
        await check_answer(perdure, principal, key, verb, message.get("result"))
    brought = message.get("data")
    data = brought if isinstance(brought, dict) else None
    sender = vetted(perdure, principal, name, data, request.confirm, request.phrase)
    return await sender.replay(request.message_id, key=request.key, instance=request.instance)


@operation(
    "dead-letter.discard",
    Route("POST", "/dead-letters/{message_id}/discard", 204),
    Route("POST", "/dead-letters/discard", 204, name="discard_named_letter"),
    tag=TAG,
    scope=DISCOVERED,
)
async def discard_letter(context: Context, request: DiscardLetter) -> None:
    """Close it without acting on it."""
    perdure = context.perdure
    try:
        letter = await perdure.letter(request.message_id)
    except RejectedError:
        letter = None  # discarding says whether it was dealt with, or never came
    if letter is not None and letter.kind == COMPLETION:
        verb = str(letter.message.get("verb", "")) if isinstance(letter.message, dict) else ""
        await check_reach(perdure, context.principal, "dead-letter.discard", letter.key, verb)
    await perdure.discard(request.message_id, request.reason)

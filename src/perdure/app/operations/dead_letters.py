"""Operations on dead letters: list what could not be delivered, deliver it again, or close it."""

from __future__ import annotations

from perdure.app.calls.views import ReceiptView
from perdure.app.lists.cursors import Page
from perdure.app.lists.list_rows import DeadLetterItem
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import Data, MessageId, Paged
from perdure.app.operations.verb_scopes import DISCOVERED, REDACTED
from perdure.app.runbooks.confirmation import vetted
from perdure.app.runbooks.extension_policy import check_answer
from perdure.app.task_results.result_intake import replay as take_in_again
from perdure.app.wait_permissions import check_reach
from perdure.app.webhooks.dispatch import HOOK
from perdure.app.webhooks.dispatch import replay as deliver_again
from perdure.engine import MESSAGE, SIGNAL
from perdure.errors import RejectedError
from perdure.identifiers import check_key
from perdure.lifecycles.instances import TASK_RESULT
from perdure.sources import parse_id

TAG = "dead letters"
COMPLETION = "completion"


class ReplayLetter(Request, frozen=True):
    """A dead letter to deliver under a corrected `key`, or to one of several instances that want it.

    A message that would begin processes that reach grave verbs is confirmed as calls of them are.
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
async def list_letters(context: Context, request: Paged) -> Page[DeadLetterItem]:
    """What could not be delivered, oldest first, and why.

    A key sees completions that name a verb it reaches. Of all others nobody knows which verb they were for: they are
    for keys that reach every verb.
    """
    return await context.lists.dead_letters(request)


@operation(
    "dead-letter.replay",
    Route("POST", "/dead-letters/{message_id}/replay"),
    Route("POST", "/dead-letters/replay", name="replay_named_letter"),
    tag=TAG,
    scope=DISCOVERED,
)
async def replay_letter(context: Context, request: ReplayLetter) -> ReceiptView:
    """Deliver it again."""
    message_id, origin, runtime = request.message_id, context.origin, context.runtime
    check_key("replay", "dead letter", message_id)
    data = None if context.is_owner else await _check_letter(context, request)
    letter = await runtime.store.message(origin.tenant, message_id)
    if letter is not None and letter.kind == HOOK:
        await deliver_again(runtime, origin, message_id)
        return ReceiptView("applied", message_id)
    if letter is not None and letter.kind == TASK_RESULT:
        return ReceiptView("applied", message_id, await take_in_again(runtime, origin, message_id))
    if letter is None or letter.kind not in (MESSAGE, SIGNAL):
        return await context.perdure._receipt(await runtime.intake.replay(message_id, origin, request.key))
    chosen = parse_id(request.instance, "instance") if request.instance else None
    vet = vetted(context, "dead-letter.replay", data, request.confirm, request.phrase, message_id)
    told = await runtime.engine.replay(message_id, origin, key=request.key, instance=chosen, vet=vet)
    return ReceiptView(told.outcome, message_id, told.reason)


async def _check_letter(context: Context, request: ReplayLetter) -> Data | None:
    """The data that a message brings; a completion is refused to a principal that may not send it."""
    perdure, principal = context.perdure, context.principal
    letter = await perdure.letter(request.message_id)
    if context.is_narrow:
        context.check_all("dead-letter.replay", await perdure.data_verbs.of_letter(letter))
    message = letter.message if isinstance(letter.message, dict) else {}
    if letter.kind == COMPLETION:
        verb, key = str(message.get("verb", "")), request.key or letter.key
        await check_reach(perdure, principal, "dead-letter.replay", key, verb)
        await check_answer(perdure, principal, key, verb, message.get("result"))
    brought = message.get("data")
    return brought if isinstance(brought, dict) else None


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
    if letter is not None and context.is_narrow:
        context.check_all("dead-letter.discard", await perdure.data_verbs.of_letter(letter))
    check_key("discard", "dead letter", request.message_id)
    await context.runtime.intake.discard(request.message_id, request.reason, context.origin)

"""Operations on waits: list them, end one, tell how one goes, and make a token for the outsider who was asked."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from perdure.access.signed_tokens import WaitName, wait_token
from perdure.app.calls.views import ReceiptView
from perdure.app.lists.cursors import Page
from perdure.app.lists.list_rows import ParkedItem
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import Paged, WaitKey
from perdure.app.operations.verb_scopes import DISCOVERED, REDACTED
from perdure.app.runbooks.extension_policy import check_answer
from perdure.app.wait_permissions import check_reach
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.executor.completion_inbox import Completion
from perdure.verb_contract import FailureClass

TAG, COMPLETIONS = "parked", "completions"


class KeyOfWait(Request, frozen=True):
    """The key of a wait, whatever letters it has."""

    key: WaitKey


class SendCompletion(Request, frozen=True):
    """How a wait ends: with a `result`, or with an `error` and its code. `verb` where several wait under the key."""

    key: str
    result: Any = None
    error: str | None = None
    status: Literal["completed", "failed", "expired"] | None = None
    code: str = "completion.failed"
    failure_class: FailureClass = "permanent_business"
    message_id: str = ""
    verb: str = ""


class SendProgress(Request, frozen=True):
    """How a wait goes; shown, never resumes anything."""

    key: str
    text: str


class WaitToken(msgspec.Struct, frozen=True):
    """A token that ends one wait and sends its progress: `Authorization: Wait <token>`. Good until the wait is over."""

    key: str
    token: str

    def __repr__(self) -> str:
        return f"WaitToken(key={self.key!r}, token=…)"


@operation("parked.list", Route("GET", "/parked"), tag=TAG, scope=REDACTED)
async def list_parked(context: Context, request: Paged) -> Page[ParkedItem]:
    """What calls and runbooks wait for, oldest first; keys are told to those whose own reaches the verb."""
    return await context.lists.parked(request)


@operation(
    "parked.token",
    Route("POST", "/parked/{key}/token"),
    Route("POST", "/parked/token", name="make_token_by_key"),
    tag=TAG,
    scope=DISCOVERED,
    repeat="domain",
)
async def make_wait_token(context: Context, request: KeyOfWait) -> WaitToken:
    """A token for the outsider who was asked: it ends this wait and nothing else."""
    waits, key = context.perdure.waits, request.key
    verbs = await context.perdure.data_verbs.under_key(key)
    if not verbs and not await waits.is_task(key):
        raise RejectedError(Rejection("not_found", "make a token for", "wait", key[:200], "nothing waits under it"))
    context.check_all("parked.token", verbs)
    if not context.secret:
        fact, hint = "nothing here signs tokens", "Set server.authentication: who needs no credential needs no token."
        raise RejectedError(Rejection("wrong_state", "make a token for", "wait", key[:200], fact, hint))
    principal = context.principal
    name = WaitName(principal.tenant, key, await waits.name_under(key), (principal.name, *principal.behind))
    return WaitToken(key, wait_token(context.secret, name))


@operation("completion.send", Route("POST", "/completions", 202), tag=COMPLETIONS, scope=DISCOVERED)
async def send_completion(context: Context, request: SendCompletion) -> ReceiptView:
    """End the wait under a key. Delivered twice, it counts once.

    202 when it was applied, or is kept because what waits is stuck; 200 when it came before or too late; 404 when
    nothing waits under the key, and 409 when several do and no verb says which: it is a dead letter then; 400 when it
    makes no sense.
    """
    perdure, principal = context.perdure, context.principal
    named = await _check_wait(context, "completion.send", request.key, request.verb)
    if named is None and await perdure.waits.is_task(request.key):
        context.check("task.complete")
    await check_answer(perdure, principal, request.key, request.verb, request.result, named.wait if named else "")
    return _told(context, await _completed(context, request, named))


@operation("progress.send", Route("POST", "/progress"), tag=COMPLETIONS, scope=DISCOVERED)
async def send_progress(context: Context, request: SendProgress) -> ReceiptView:
    """Say how a wait goes."""
    named = await _check_wait(context, "progress.send", request.key)
    wait = named.wait if named is not None else ""
    told = await context.runtime.intake.progress(request.key, request.text, context.origin, wait)
    return _told(context, await context.perdure._receipt(told))


async def _check_wait(context: Context, operation: str, key: str, verb: str = "") -> WaitName | None:
    """Refuse a principal that may not end the wait under a key. The token of a wait ends that one, and no later one."""
    principal = context.principal
    if context.is_owner:
        return None
    if principal.via != "wait":
        await check_reach(context.perdure, principal, operation, key, verb)
        return None
    name = context.wait
    if name is None or (name.tenant, name.key) != (principal.tenant, key):
        fact, hint = "this token is for another wait", "Use the token that was given for this one."
        raise RejectedError(Rejection("forbidden", "answer", "wait", key[:200], fact, hint))
    return name


async def _completed(context: Context, request: SendCompletion, named: WaitName | None) -> ReceiptView:
    if named is None or not named.wait:
        return await context.perdure.complete(
            request.key,
            request.result,
            error=request.error,
            status=request.status,
            code=request.code,
            failure_class=request.failure_class,
            message_id=request.message_id,
            verb=request.verb,
        )
    status = request.status or ("failed" if request.error is not None else "completed")
    completion = Completion(
        request.key,
        status,
        request.result,
        request.error or "",
        request.code,
        request.failure_class,
        request.verb,
        wait=named.wait,
    )
    receipt = await context.runtime.intake.complete(completion, context.origin, request.message_id)
    return await context.perdure._receipt(receipt)


def _told(context: Context, receipt: ReceiptView) -> ReceiptView:
    """An outsider learns what became of the answer, and nothing of the call it was for."""
    return msgspec.structs.replace(receipt, call=None) if context.principal.via == "wait" else receipt

"""Hooks: signed messages of other systems. Nobody signs in here; the signature is the credential."""

from __future__ import annotations

import msgspec

from perdure.app import Perdure
from perdure.app.webhooks.incoming_webhooks import HookReceipt, UnsignedError, receive
from perdure.buses.delivery_outcome import TABLE, outcome_of
from perdure.errors import RejectedError
from perdure.surfaces.http.endpoint import public
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import Response, answer
from perdure.surfaces.http.problem_details import RefusedRequest

KNOWN = frozenset({"duplicate", "late", "known", "over"})
"""What came before, or after the end: nothing more will come of it."""


class HookName(msgspec.Struct, frozen=True):
    """A hook."""

    name: str


@public("POST", "/hooks/{name}", "hooks", request=HookName, answer=HookReceipt, status=202, is_twofold=True)
async def take_hook(request: JsonRequest) -> Response:
    """Take in a message signed as Standard Webhooks has it. The same id again within its window counts once."""
    perdure: Perdure = request.state.perdure
    headers = {str(name, "latin-1"): str(value, "latin-1") for name, value in reversed(request.scope["headers"])}
    try:
        receipt = await receive(perdure, perdure.runtime.hooks, request.words["name"], headers, await request.body())
    except UnsignedError as error:
        raise RefusedRequest(401, error.code, str(error), error.hint) from error
    except RejectedError as error:
        hook = perdure.runtime.hooks.arriving_as(request.words["name"])
        if hook is None or not hook.brings_results or outcome_of(error) != "bad":
            raise
        raise RefusedRequest(TABLE["bad"].status, "task_result.malformed", str(error), error.hint) from error
    return answer(receipt, 200 if receipt.outcome in KNOWN else 202)


ENDPOINTS = (take_hook,)

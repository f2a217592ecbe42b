"""Task channels: signed messages of places outside where people answer tasks. The signature is the credential."""

from __future__ import annotations

import msgspec

from perdure.app import Perdure
from perdure.app.task_channels.card_answers import CardReceipt, take_word
from perdure.channels.task_channel import UnsignedMessage
from perdure.errors import BusinessError, Transient
from perdure.surfaces.http.endpoint import public
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import Response, answer
from perdure.surfaces.http.problem_details import RefusedRequest


class ChannelName(msgspec.Struct, frozen=True):
    """A task channel."""

    name: str


@public(
    "POST", "/api/task-channels/{name}", "task channels", request=ChannelName, answer=CardReceipt, status=202,
    is_twofold=True,
)  # fmt: skip
async def take_channel_message(request: JsonRequest) -> Response:
    """Take in what a task channel tells: a label that answers a task. The same again changes nothing."""
    perdure: Perdure = request.state.perdure
    cards = perdure.runtime.cards.of(request.words["name"]) if perdure.runtime.cards is not None else None
    if cards is None:
        raise RefusedRequest(404, "task_channel.unknown", "There is no task channel of that name.")
    headers = {str(name, "latin-1"): str(value, "latin-1") for name, value in reversed(request.scope["headers"])}
    try:
        said = cards.channel.received(headers, await request.body())
    except UnsignedMessage:
        hint = "Do both sides have the same secret?"
        raise RefusedRequest(401, "task_channel.unsigned", "Its signature is not one of ours.", hint) from None
    if said is None:
        return answer(CardReceipt("unknown", reason="it tells of no label that was added"), 200)
    try:
        receipt = await take_word(cards, said)
    except (Transient, BusinessError) as error:
        cards.channel.look_again()
        hint = "What was said is read again by the next look."
        raise RefusedRequest(503, "task_channel.away", str(error)[:300], hint, headers={"Retry-After": "60"}) from error
    return answer(receipt, 202 if receipt.outcome == "answered" else 200)


ENDPOINTS = (take_channel_message,)

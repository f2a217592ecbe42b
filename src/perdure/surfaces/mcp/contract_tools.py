"""Tools for processes of the contract profile: what a process agrees, and the envelopes that its waits take."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from perdure.app.message_views import Sent
from perdure.app.operations import messages, processes
from perdure.app.processes.contract_view import ContractView
from perdure.surfaces.mcp.shared_schemas import Agreement, Phrase
from perdure.surfaces.mcp.tool import Tool, ToolSession


class AskContract(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which process, and in which version."""

    process: Annotated[str, Meta(description="The id of the process.", max_length=200)]
    version: Annotated[int, Meta(description="Its version; 0 is the latest.", ge=0)] = 0


class EnvelopeReceived(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message with everything that its sender says of it."""

    message_name: Annotated[str, Meta(description="'message' of a wait of the contract.", max_length=200)]
    correlation_key: Annotated[str, Meta(description="The key that the wait began with.", max_length=400)]
    message_id: Annotated[
        str, Meta(description="The sender's name for the delivery; sent twice, it counts once.", max_length=200)
    ]
    payload: Annotated[dict[str, Any], Meta(description="What the wait is brought.")] = {}
    tenant_id: Annotated[str, Meta(description="Refused unless it is your own tenant.", max_length=200)] = ""
    subject_id: Annotated[str, Meta(max_length=400)] = ""
    correlation_id: Annotated[str, Meta(max_length=400)] = ""
    causation_id: Annotated[str, Meta(max_length=400)] = ""
    traceparent: Annotated[str, Meta(max_length=400)] = ""
    tracestate: Annotated[str, Meta(max_length=1000)] = ""
    ttl_seconds: Annotated[
        float, Meta(description="Keep it so long when nobody waits yet.", ge=0, le=31_536_000)
    ] = messages.ENVELOPE_SECONDS  # fmt: skip
    confirm: Agreement = ""
    phrase: Phrase = ""


async def process_contract(desk: ToolSession, asked: AskContract) -> ContractView:
    """Read the contract of a process: its work with policies and mappings, its waits with their keys, its decisions.

    A process of another profile agrees nothing: everything is empty. The keys of waits are templates over the data of
    an instance; send what they wait for by receive_envelope.
    """
    version = asked.version or await _latest(desk, asked.process)
    return await desk.perform(processes.show_contract, processes.ShowProcess(asked.process, version))


async def _latest(desk: ToolSession, process: str) -> int:
    found = await desk.perform(processes.list_versions, processes.ProcessName(process))
    return next((each.version for each in found.versions if each.is_latest), found.versions[-1].version)


async def receive_envelope(desk: ToolSession, asked: EnvelopeReceived) -> Sent:
    """Take a message as the envelope that its sender gave it: name, key and id are required.

    Outcomes: 'correlated' (a wait took it), 'started', 'buffered' (kept for its time to live, a day by default),
    'accepted' (its engine does not say who takes it), 'ambiguous' (several wait, none got it), 'duplicate' (known
    already). What would begin a process that carries something grave is refused as confirmation.required: ask a person
    to send it.
    """
    return await desk.perform(messages.receive_envelope, messages.Envelope(**msgspec.structs.asdict(asked)))


TOOLS = (
    Tool(
        title="The contract of a process", operation="process.read", takes=AskContract, gives=ContractView,
        act=process_contract, is_reading=True,
    ),
    Tool(
        title="Receive an envelope", operation="message.publish", takes=EnvelopeReceived, gives=Sent,
        act=receive_envelope, is_repeatable=True,
    ),
)  # fmt: skip

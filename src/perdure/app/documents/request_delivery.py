"""Delivery of requests: each sending is a call of a verb of the platform, under an id made from its request.

| what happens | what becomes of it |
|---|---|
| a crash before it was begun | whoever asked is run again and begins the same call |
| a crash between sending and recording | sent again under the same effect id, recorded as a possible repeat |
| a temporary refusal | another attempt after a pause that grows, about eight hours in all |
| a refusal for good, or attempts run out | the wait for the document fails with the reason |
| the request is over before it is sent | nothing is sent |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.access.principal_names import PLATFORM
from perdure.access.signed_tokens import RequestName, request_token
from perdure.app.documents.delivery_view import DeliveryView
from perdure.app.documents.requests import SOLICIT, DocumentRequest, DocumentRequests
from perdure.channels.channel import UNSURE, Channel, RequestMessage
from perdure.errors import BusinessError, RejectedError, StoreSettingError, Transient
from perdure.identifiers import Id, derive_id, id_text
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import Attachments, Unit
from perdure.lifecycles.machine.state import Instance
from perdure.payload import digest
from perdure.runbooks.executor.completion_inbox import Completion
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.state import Runbook
from perdure.sources import SECOND, Micros, iso, parse_id
from perdure.verbs import Call, Catalogue
from perdure.verbs.loader import load_text

if TYPE_CHECKING:
    from perdure.app.runtime import Runtime

VERB = "perdure.send-request"
MOST_SHOWN = 20
"""Pending tasks of an instance whose deliveries are shown: the latest."""
PARENT = "perdure/request"
"""The word before the key of the wait that a delivery is for."""
DEFINITION = f"""
- name: {VERB}
  version: 1
  domain: perdure
  description: Ask somebody for a document by a channel
  sentences: {{step: "Send the request {{correlation_id}} by {{channel}}"}}
  consequence: benign
  index: [channel]
  input_schema:
    required: [channel, correlation_id]
    properties:
      channel: {{type: string}}
      correlation_id: {{type: string}}
      to: {{type: string}}
      language: {{type: string}}
      callback_url: {{type: string}}
  execution:
    kind: sync
    effects: external
    retry: {{max_attempts: 12, backoff: exponential, base_delay: PT2S, max_delay: PT1H}}
"""


def with_delivery_verb(catalogue: Catalogue) -> Catalogue:
    """The catalogue with the verb of deliveries, where documents are asked for."""
    return catalogue.with_verbs(verb.definition for verb in load_text(DEFINITION).every_version())


def delivery_id(tenant: str, asked_at: Micros, correlation_id: str) -> Id:
    """The id of the call that sends a request: the same however often it is begun, and its effect id."""
    return derive_id(asked_at, digest(f"{VERB}\0{correlation_id}\0{tenant}".encode()))


class RequestDelivery:
    """Begins deliveries, sends them, and tells who waits what came of them."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        runtime.upkeep.adopt(PARENT, self.ended)

    async def begin(self, request: DocumentRequest, key: str, args: dict[str, Any], tenant: str) -> None:
        """Send a request by the channel that is asked for, else by the default one; none where there is none."""
        name = self.channel_name(args)
        if not name:
            return
        given = {each: args[each] for each in ("to", "language", "callback_url") if args.get(each)}
        verb = self._runtime.catalogue.get(VERB)
        cargo = self._runtime.router.incoming(
            verb, {"channel": name, "correlation_id": request.correlation_id, **given}
        )
        id = delivery_id(tenant, request.asked_at, request.correlation_id)
        await self._runtime.conductor.begin(
            verb, cargo, Origin(tenant, PLATFORM), id, parent=f"{PARENT}:{key}", waits=False
        )
        await self._erase_with(request.holder, Origin(tenant, PLATFORM))

    async def _erase_with(self, holder: Id, origin: Origin) -> None:
        """An erasure that found no delivery yet came before it: the delivery goes, too."""
        state = (await self._runtime.kernel.read(holder, origin)).state
        if state.is_erased if isinstance(state, Instance) else state.erased_at:
            await self._runtime.conductor.complete_erasure(holder, origin)

    def channel_name(self, args: dict[str, Any]) -> str:
        """The channel of a request; a business error where it has no such channel, or no such address."""
        channels = self._runtime.channels
        name = str(args.get("channel") or channels.default)
        if not name:
            return ""
        channel = channels.find(name)
        if channel is None:
            known = ", ".join(channels.names) or "none"
            raise BusinessError("channel.unknown", f"There is no channel '{name[:80]}'; there are: {known}.")
        if fault := channel.fault(str(args.get("to") or "")):
            raise BusinessError("channel.address", f"Nothing can be sent to it by {name}: {fault}.")
        return name

    # --- sending -------------------------------------------------------------------------------------------------

    async def __call__(self, call: Call) -> dict[str, Any]:
        if call.principal != PLATFORM:
            # Whoever can ask for verbs could otherwise have a token for any request sent to themselves.
            raise BusinessError("channel.forged", "Only the platform itself sends requests.")
        args, name = call.args, str(call.args["channel"])
        channel = self._runtime.channels.find(name)
        if channel is None:
            raise BusinessError("channel.unknown", f"There is no channel '{name[:80]}'.")
        desk = DocumentRequests(self._runtime, Origin(call.tenant, PLATFORM))
        request = await desk.find(args["correlation_id"])
        told = {"channel": name, "address": channel.masked(args.get("to", "")), "effect_id": call.call_id}
        if request.status != "open":
            return {**told, "status": "over"}
        is_repeat = await self._may_repeat(call)
        await self._send(channel, await self._message(desk, request, call))
        sent_at = iso(self._runtime.sources.now())
        return {**told, "status": "sent", "sent_at": sent_at, "possible_repeat": is_repeat}

    @staticmethod
    async def _send(channel: Channel, message: RequestMessage) -> None:
        try:
            await channel.send(message)
        except StoreSettingError as error:
            raise Transient(str(error)) from error  # a broker or a secret that may be there later

    async def _message(self, desk: DocumentRequests, request: DocumentRequest, call: Call) -> RequestMessage:
        args, channels = call.args, self._runtime.channels
        due = (iso(request.due or None) or "")[:10]
        return RequestMessage(
            call.call_id, call.tenant, request.correlation_id, request.attempt, args.get("to", ""), request.title,
            request.text, await desk.last_reason(request), self._link(request, call.tenant), due,
            args.get("language", ""), request.type, args.get("callback_url") or channels.callback,
        )  # fmt: skip

    def _link(self, request: DocumentRequest, tenant: str) -> str:
        channels = self._runtime.channels
        if not channels.link or not channels.secret:
            return ""
        expires_at = self._runtime.sources.now() + channels.token_seconds * SECOND
        expires_at = min(expires_at, request.due) if request.due else expires_at
        name = RequestName(tenant, request.correlation_id, expires_at, request.askers)
        return f"{channels.link}#{request_token(channels.secret, name)}"

    async def _may_repeat(self, call: Call) -> bool:
        """Whether an attempt before this one may have been taken: it was cut off, or ended without an answer."""
        id = parse_id(call.call_id)
        aggregate = await self._runtime.kernel.read(id, Origin(call.tenant, PLATFORM))
        codec = self._runtime.machines[aggregate.kind].records
        async for row in self._runtime.store.history(aggregate):
            for entry in codec.decode(row.body).entries:
                if isinstance(entry, e.AttemptStarted) and entry.interruptions:
                    return True
                if isinstance(entry, e.AttemptFailed) and entry.failure.message.startswith(UNSURE):
                    return True
        return False

    # --- told ----------------------------------------------------------------------------------------------------

    async def ended(self, tenant: str, message_id: str, child: Aggregate) -> bool:
        """A delivery ended: its wait shows what was sent, or fails with the reason."""
        key, origin = child.state.parent.partition(":")[2], Origin(tenant, PLATFORM)
        letters, _, number = key.rpartition(":")
        waiting: Runbook = (await self._runtime.kernel.read(parse_id(letters), origin)).state
        step = waiting.steps[int(number) - 1]
        if step.status in ("pending", "ready", "running"):
            return False  # it parks first
        if step.status == "parked":
            view = await self._view(child)
            if view.status == "failed":
                failed = Completion(key, "failed", error=view.error, code="request.undeliverable", verb=SOLICIT)
                await self._runtime.intake.complete(failed, origin, f"request:{view.effect_id}:undeliverable")
            elif view.status == "sent":
                await self._tell(key, view, origin)
        await self._runtime.store.commit(Unit(tenant, None, attachments=[Attachments(settles=(tenant, message_id))]))
        return True

    async def _tell(self, key: str, view: DeliveryView, origin: Origin) -> None:
        again = ", perhaps a second time" if view.is_possible_repeat else ""
        to = f" to {view.address}" if view.address else ""
        text = f"Asked by {view.channel}{to} at {view.sent_at}{again} (effect {view.effect_id})"
        try:
            await self._runtime.intake.progress(key, text, origin)
        except RejectedError:
            return  # the wait ended meanwhile

    async def of_instance(self, aggregate: Aggregate) -> dict[int, list[DeliveryView]]:
        """What was sent for the latest pending tasks of a lifecycle instance."""
        state: Instance = aggregate.state
        tasks = [each for each in state.tasks if each.verb == SOLICIT][-MOST_SHOWN:]
        return {each.number: await self.views(aggregate.tenant, each.created_at, each.correlation_id) for each in tasks}

    async def views(self, tenant: str, asked_at: Micros, correlation_id: str) -> list[DeliveryView]:
        """What was sent for a request; none where no channel was asked for."""
        id = delivery_id(tenant, asked_at, correlation_id)
        try:
            found = await self._runtime.kernel.read(id, Origin(tenant, PLATFORM))
        except RejectedError:
            return []
        return [await self._view(found)]

    async def _view(self, found: Aggregate) -> DeliveryView:
        state: Runbook = found.state
        step = state.steps[0]
        result, args = await self._runtime.store.values(found.id, (step.result, step.input))
        told: dict[str, Any] = result or {}
        given: dict[str, Any] = args or {}
        name = str(given.get("channel", ""))
        channel = self._runtime.channels.find(name)
        address = told.get("address") or (channel.masked(given.get("to", "")) if channel is not None else "")
        attempts = step.frame.attempt if step.frame is not None else 0
        failure = step.error or (step.frame.failure if step.frame is not None else None)
        status = told.get("status") or ("failed" if state.status in ("failed", "cancelled") else "waiting")
        return DeliveryView(
            name, address, id_text(found.id), status, attempts, told.get("sent_at"),
            bool(told.get("possible_repeat")), failure.message if failure is not None and status != "sent" else "",
        )  # fmt: skip

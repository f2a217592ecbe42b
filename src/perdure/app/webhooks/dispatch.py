"""Webhook dispatch: the dispatcher reads the feed from its cursor, and each delivery is a call.

| crash | what happens then |
|---|---|
| before a delivery was begun | the cursor still stands before it: it is begun again |
| after it was begun, before the cursor moved | begun again under the same key: it is the same call |
| while it is being sent | as any attempt that was interrupted: sent again under the same id, which the receiver knows |
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, NamedTuple

import msgspec

from perdure.app.feed.feed import Feed, FeedItem
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.app.outcomes.tenant_feed import OutcomeFeed, without_data
from perdure.app.runtime import Runtime
from perdure.channels.egress_policy import Egress
from perdure.channels.http_sender import Sender
from perdure.channels.webhook_delivery import DEFINITION, PLATFORM, VERB, Delivery
from perdure.channels.webhook_settings import OUTCOME, HookOut, Hooks
from perdure.errors import PerdureError, RejectedError, Rejection
from perdure.journal import Origin
from perdure.kernel.ports import DEAD, Attachments, InboxRow, Unit
from perdure.runbooks.executor.call_executor import KIND
from perdure.sources import SECOND, parse_id
from perdure.verbs import Catalogue, HandlerRegistry
from perdure.verbs.loader import load_text

HOOK = "hook"
AT_ONCE = 16
PAUSE = 5 * SECOND
"""Between two looks when the store cannot be reached."""

log = logging.getLogger("perdure.hooks")


def with_delivery_verb(catalogue: Catalogue, is_told: bool = True) -> Catalogue:
    """The catalogue with the verb of deliveries, which the platform brings along where somebody is told."""
    if not is_told:
        return catalogue
    return catalogue.with_verbs(verb.definition for verb in load_text(DEFINITION).every_version())


class Told(NamedTuple):
    """One thing a subscriber is told."""

    type: str
    at: str | None
    cursor: str
    data: dict[str, Any]


def _of_entry(item: FeedItem) -> Told:
    return Told(item.entry, item.at, item.cursor, msgspec.to_builtins(item))


def _of_outcome(event: OutcomeEvent) -> Told:
    data: dict[str, Any] = msgspec.to_builtins(without_data(event))
    return Told(f"{OUTCOME}{event.event}", event.at, f"{OUTCOME}{event.cursor}", data)


def _is_wanted(hook: HookOut, event: OutcomeEvent) -> bool:
    """Deliveries are work like any other; to tell of them would have no end."""
    return event.verb != VERB and hook.wants(f"{OUTCOME}{event.event}")


class WebhookDispatcher:
    """Follows the feed for every subscriber; made with the runtime of a worker, stopped before it."""

    def __init__(self, runtime: Runtime, hooks: Hooks, registry: HandlerRegistry) -> None:
        self._runtime = runtime
        self._hooks = hooks
        self._sender = Sender()
        self._tasks: list[asyncio.Task[None]] = []
        delivery = Delivery(hooks, Egress(hooks.allowed), self._sender, runtime.sources, self.bury, self._count)
        registry.bind(VERB, delivery)

    def _count(self, outcome: str) -> None:
        if (metrics := self._runtime.metrics) is not None:
            metrics.webhook_delivered("out", outcome)

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._follow(hook)) for hook in self._hooks.leaving]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._sender.close()

    async def _follow(self, hook: HookOut) -> None:
        """As long as the process lives; what goes wrong is tried again from the cursor."""
        while True:
            try:
                await self._from_cursor(hook)
            except PerdureError as error:
                log.warning("hook %s stands still and goes on by itself: %s", hook.name, error)
            await self._runtime.sources.sleep(PAUSE)

    async def _from_cursor(self, hook: HookOut) -> None:
        feed, cursors = Feed(self._runtime, Origin(hook.tenant)), self._runtime.store.cursors
        name = f"{HOOK}:{hook.name}"
        after = await cursors.read(hook.tenant, name)
        if after is None:
            # Who is told for the first time is told what happens from now on.
            after = await feed.end()
            await cursors.put(hook.tenant, name, after)
        outcomes = OutcomeFeed(self._runtime, Origin(hook.tenant))
        async for batch in feed.follow(after):
            if not batch:
                continue
            told = [item for item in batch if hook.wants(item.entry) and not await self._is_ours(item, hook.tenant)]
            wanted = [_of_entry(item) for item in told]
            if hook.wants_outcomes:
                wanted += [_of_outcome(each) for each in await outcomes.of(batch) if _is_wanted(hook, each)]
            for start in range(0, len(wanted), AT_ONCE):
                await asyncio.gather(*(self._begin(hook, each) for each in wanted[start : start + AT_ONCE]))
            await cursors.put(hook.tenant, name, batch[-1].cursor)

    async def _is_ours(self, item: FeedItem, tenant: str) -> bool:
        """Deliveries are work like any other; to tell of them would have no end."""
        if item.kind != KIND:
            return False
        try:
            steps = (await self._runtime.kernel.recall(parse_id(item.id), Origin(tenant))).state.steps
        except PerdureError:
            return False
        return len(steps) == 1 and steps[0].verb == VERB

    async def _begin(self, hook: HookOut, told: Told) -> None:
        body = {"type": told.type, "timestamp": told.at, "data": told.data | {"tenant": hook.tenant}}
        args = {"hook": hook.name, "event": told.type, "body": body}
        key = f"{HOOK}:{hook.name}:{told.cursor}"
        verb, origin = self._runtime.catalogue.get(VERB), Origin(hook.tenant, PLATFORM)
        await self._runtime.conductor.call(verb, args, origin, idempotency_key=key, waits=False)

    async def bury(self, tenant: str, message_id: str, hook: str, args: dict[str, Any], reason: str) -> None:
        """Keep what could not be delivered among the dead letters, once."""
        now = self._runtime.sources.now()
        row = InboxRow(tenant, message_id, HOOK, hook, now, DEAD, reason[:300], None, msgspec.json.encode(args))
        await self._runtime.store.commit(Unit(tenant, None, attachments=[Attachments(inbox=row)]))


async def replay(runtime: Runtime, origin: Origin, message_id: str) -> None:
    """Deliver once more what was given up; the dead letter is closed when the new delivery has begun."""
    letter = await runtime.store.message(origin.tenant, message_id)
    if letter is None or letter.body is None or letter.status != DEAD:
        raise RejectedError(Rejection("not_found", "replay", "dead letter", message_id, "there is none"))
    args = msgspec.json.decode(letter.body)
    verb, sender = runtime.catalogue.get(VERB), Origin(origin.tenant, PLATFORM)
    await runtime.conductor.call(verb, args, sender, idempotency_key=f"{message_id}/replay", waits=False)
    await runtime.store.discard_message(origin.tenant, message_id, f"delivered again by {origin.principal}")

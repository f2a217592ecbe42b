"""Card dispatch: the feed says which cards are to be made or closed, each by a call; a look tells what people said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from perdure.app.feed.feed import Feed
from perdure.app.task_channels.card_answers import CardReceipt, take_word
from perdure.app.task_channels.task_cards import SUFFIX, TaskCards
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.model import Task, nodes
from perdure.channels.egress_policy import Egress
from perdure.channels.task_channel import TaskChannel
from perdure.channels.task_channel_settings import GithubSettings, TaskChannelSettings
from perdure.channels.webhook_delivery import PLATFORM
from perdure.errors import BusinessError, PerdureError, Transient
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.sources import SECOND, id_text
from perdure.verbs import Call, Catalogue, HandlerRegistry
from perdure.verbs.loader import load_text

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure
    from perdure.app.runtime import Runtime

VERB = "perdure.show-task"
CARDS = "cards"
PAUSE = 5 * SECOND
PAGE = 200
DEFINITION = f"""
- name: {VERB}
  version: 1
  domain: perdure
  description: Show a task where people look for it, as it is now
  sentences: {{step: "Show {{task}} on {{channel}}"}}
  consequence: benign
  index: [channel]
  input_schema:
    required: [channel]
    properties: {{channel: {{type: string}}, task: {{type: string}}, over: {{type: integer}}}}
  execution:
    kind: sync
    effects: external
    retry: {{max_attempts: 60, backoff: exponential, base_delay: PT2S, max_delay: PT15M}}
"""
"""About fourteen hours of attempts."""

log = logging.getLogger("perdure.task_channels")


def with_card_verb(catalogue: Catalogue, is_shown: bool) -> Catalogue:
    """The catalogue with the verb of cards, which the platform brings along where tasks are shown outside."""
    if not is_shown:
        return catalogue
    return catalogue.with_verbs(verb.definition for verb in load_text(DEFINITION).every_version())


def open_channel(settings: TaskChannelSettings, runtime: Runtime) -> TaskChannel:
    """The channel of a kind. A new kind has its line here."""
    match settings:
        case GithubSettings():
            from perdure.channels.github.issue_channel import IssueChannel  # noqa: PLC0415  loaded by who shows tasks

            return IssueChannel(settings, Egress(runtime.hooks.allowed, setting="hooks.egress.allow"), runtime.sources)


class CardDispatcher:
    """Of one process; a worker follows the feed and looks, every process that serves takes words in."""

    def __init__(self, perdure: Perdure, settings: Sequence[TaskChannelSettings], registry: HandlerRegistry) -> None:
        self._runtime = runtime = perdure.runtime
        self._cards = {each.name: TaskCards(perdure, each, open_channel(each, runtime)) for each in settings}
        self._told: dict[str, str] = {}
        self._tasks: list[asyncio.Task[None]] = []
        registry.bind(VERB, self._show)

    @property
    def all(self) -> Sequence[TaskCards]:
        """Every channel that is open."""
        return list(self._cards.values())

    def of(self, name: str) -> TaskCards | None:
        return self._cards.get(name)

    def start(self) -> None:
        for each in self._cards.values():
            duties = self._check(each), self._follow(each), self._look(each)
            self._tasks += [asyncio.create_task(duty) for duty in duties]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Close the connections, once no handler runs any more."""
        for each in self._cards.values():
            await each.channel.close()

    async def _check(self, cards: TaskCards) -> None:
        """Tell operators at the start what would keep tasks from being shown; deploying refuses for it."""
        try:
            fault = await cards.channel.fault({each.login: each.account for each in cards.settings.people})
        except Transient as error:
            fault = str(error)
        if fault:
            log.error("channel %s cannot show tasks: %s", cards.settings.name, fault)

    # --- what is shown -----------------------------------------------------------------------------------------------

    async def _show(self, call: Call) -> dict[str, Any]:
        """The handler of the verb: the card is made as the task is now, whatever it was when the call began."""
        if call.principal != PLATFORM:
            raise BusinessError("task_channel.forged", "Only the platform itself shows tasks.")
        cards = self.of(str(call.args["channel"]))
        if cards is None:
            return {"number": 0}  # it was taken out of the configuration: nothing is shown there any more
        if call.tenant != cards.settings.tenant:
            raise BusinessError("task_channel.forged", f"'{cards.settings.name}' shows no tasks of this tenant.")
        if over := call.args.get("over"):
            await cards.end(int(over))
            return {"number": over}
        return {"number": await cards.put(str(call.args["task"]))}

    async def _follow(self, cards: TaskCards) -> None:
        while True:
            try:
                await self._from_cursor(cards)
            except PerdureError as error:
                log.warning("channel %s stands still and goes on by itself: %s", cards.settings.name, error)
            await self._runtime.sources.sleep(PAUSE)

    async def _from_cursor(self, cards: TaskCards) -> None:
        tenant, name = cards.settings.tenant, f"{CARDS}:{cards.settings.name}"
        feed, cursors = Feed(self._runtime, Origin(tenant)), self._runtime.store.cursors
        after = await cursors.read(tenant, name)
        if after is None:
            after = await feed.end()
            await self._adopt(cards)
            await cursors.put(tenant, name, after)
        async for batch in feed.follow(after):
            for id in dict.fromkeys(each.id for each in batch if each.kind == INSTANCE):
                await self.compare(cards, id)
            if batch:
                await cursors.put(tenant, name, batch[-1].cursor)

    async def _adopt(self, cards: TaskCards) -> None:
        """Show the tasks that were open before there was a channel."""
        after, store, seen = 0, self._runtime.store, set[str]()
        while page := await store.tasks(cards.settings.tenant, after, PAGE):
            after = page[-1].number
            for id in dict.fromkeys(id_text(each.aggregate) for each in page):
                if id not in seen:
                    seen.add(id)
                    await self.compare(cards, id)

    async def compare(self, cards: TaskCards, id: str) -> None:
        """Begin the calls by which the cards of an instance become as its tasks are."""
        aggregate = await cards.instance(id)
        if aggregate is None:
            return
        keys = cards.open_tasks(aggregate)
        for key in keys:
            shown = await cards.shown(key)
            if shown is None:
                continue
            version = sha256(repr((shown.card, shown.mark)).encode()).hexdigest()[:16]
            if self._told.get(key) != version:
                await self._begin(cards, {"task": key}, f"{key}:{version}")
                self._told[key] = version
        for number in await self._left(cards, aggregate, keys):
            await self._begin(cards, {"over": number}, f"over:{number}")
        for key in [each for each in self._told if each.startswith(f"{id}:") and each not in keys]:
            del self._told[key]

    async def _left(self, cards: TaskCards, aggregate: Aggregate, keys: Any) -> list[int]:
        """The numbers of cards whose element has no open task any more."""
        state = aggregate.state
        data = await self._runtime.instances.data(aggregate)
        if not isinstance(data, dict):
            return []
        opened = {state.nodes[int(key.partition(":")[2])].element for key in keys}
        definition = await self._runtime.instances.loaded(aggregate)
        elements = [
            node.id
            for node in nodes(definition.deployed.process.body)
            if isinstance(node, Task) and node.kind == "user" and cards.settings.wants(state.process, node.id)
        ]
        numbers = [data.get(f"{each}{SUFFIX}") for each in elements if each not in opened]
        return [each for each in numbers if isinstance(each, int)]

    async def _begin(self, cards: TaskCards, args: dict[str, Any], key: str) -> None:
        name, verb = cards.settings.name, self._runtime.catalogue.get(VERB)
        origin = Origin(cards.settings.tenant, PLATFORM)
        await self._runtime.conductor.call(
            verb, {"channel": name, **args}, origin, idempotency_key=f"{CARDS}:{name}:{key}", waits=False
        )

    # --- what people say ---------------------------------------------------------------------------------------------

    async def _look(self, cards: TaskCards) -> None:
        while True:
            await self._runtime.sources.sleep(int(cards.settings.every_seconds * SECOND))
            await self.look(cards)

    async def look(self, cards: TaskCards) -> list[CardReceipt]:
        """Read the open cards, if any has changed: take in what was said on them, and close those that are over."""
        try:
            return await self._looked(cards)
        except (Transient, PerdureError) as error:
            cards.channel.look_again()
            log.warning("channel %s could not be read and is read again: %s", cards.settings.name, error)
            return []

    async def _looked(self, cards: TaskCards) -> list[CardReceipt]:
        receipts: list[CardReceipt] = []
        for card in await cards.channel.open_cards() or ():
            mark = await cards.is_own(card)
            if mark is None:
                continue
            if await cards.shown(mark.task) is None:
                await self._begin(cards, {"over": card.number}, f"over:{card.number}")
                continue
            words = [each for each in card.words if each in cards.settings.decisions]
            found = [await cards.channel.who_said(card.number, word) for word in words]
            if None in found:
                cards.channel.look_again()  # what happened is told later than what is there
            for said in sorted(filter(None, found), key=lambda each: (len(each.id), each.id)):
                receipts.append(await take_word(cards, said))
        return receipts


def open_cards(
    perdure: Perdure, settings: Sequence[TaskChannelSettings], registry: HandlerRegistry
) -> CardDispatcher | None:  # fmt: skip
    """The task channels of a project; None where it has none."""
    return CardDispatcher(perdure, settings, registry) if settings else None

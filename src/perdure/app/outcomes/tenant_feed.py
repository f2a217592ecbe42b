"""Outcome events of a whole tenant: what a batch of its feed says, for those who are told as it happens."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from msgspec.structs import replace

from perdure.app.feed.journal_tail import FeedItem, feed_scope
from perdure.app.lists.cursors import place_of
from perdure.app.outcomes.event_table import OutcomeEvent, Word, written
from perdure.app.outcomes.projection import outcome_scope
from perdure.app.outcomes.stream import OutcomeStream, Place
from perdure.app.runtime import Runtime
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.errors import PerdureError
from perdure.journal import Origin
from perdure.processes.trail_references import CARRIED
from perdure.runbooks.executor.call_executor import KIND
from perdure.sources import parse_id

MAX_STREAMS = 256
"""Calls whose events are followed in memory; another is read from its beginning when something happens to it."""
CALLED = "node:"
"""The beginning of the parent of an instance that a call activity began."""
PLAIN: frozenset[Word] = frozenset({"Parked", "Resumed", "TimerFired", "ExternalSignalReceived", "Reminded"})
"""Events whose reason names elements of a model and never holds words of people or handlers."""


class OutcomeFeed:
    """The events of one tenant, as its feed goes on."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self._runtime = runtime
        self._origin = origin
        self._streams: OrderedDict[str, OutcomeStream] = OrderedDict()

    async def of(self, batch: Sequence[FeedItem]) -> list[OutcomeEvent]:
        """The events that the entries of a batch give, in order; the same batch again gives the same events."""
        scope = feed_scope(self._origin.tenant)
        places = [place_of(scope, item.cursor, tuple[int, int])[0] for item in batch]
        roots = dict.fromkeys([root for item in batch if (root := await self._root(item))])
        found: list[tuple[Place, OutcomeEvent]] = []
        for root in roots:
            for event in await self._advanced(root, places[-1]):
                place = place_of(outcome_scope(self._origin.tenant), event.cursor, tuple[int, int])
                if place[0] >= places[0]:
                    found.append((place, event))
        return [event for _, event in sorted(found, key=lambda each: each[0])]

    async def _advanced(self, root: str, upto: int) -> list[OutcomeEvent]:
        stream = self._streams.pop(root, None) or OutcomeStream(self._runtime, self._origin, parse_id(root))
        events = await stream.advance(upto)
        if not stream.is_whole:
            self._streams[root] = stream
            if len(self._streams) > MAX_STREAMS:
                self._streams.popitem(last=False)
        return events

    async def _root(self, item: FeedItem) -> str:
        """The call or runbook that an entry belongs to; empty where it belongs to none, or cannot be read."""
        if item.kind == KIND:
            return item.id
        id = item.id if item.kind == INSTANCE else ""
        while id:
            try:
                parent = (await self._runtime.instances.read_or_recall(parse_id(id), self._origin)).state.parent
            except PerdureError:
                return ""
            if parent.startswith(CARRIED):
                return str(parent.removeprefix(CARRIED).partition(":")[0])
            id = parent.removeprefix(CALLED).partition(":")[0] if parent.startswith(CALLED) else ""
        return ""


def without_data(event: OutcomeEvent) -> OutcomeEvent:
    """The event as it leaves the platform: what was decided, never a value, a key or a sentence about one."""
    reason = event.reason if event.event in PLAIN else ""
    error = replace(event.error, message="") if event.error is not None else None
    refs = {name: value for name, value in event.refs.items() if name != "key"}
    text = written(event.event, {"kind": event.kind, "reason": reason, "sub_verb": event.sub_verb})
    return replace(event, text=text, reason=reason, error=error, refs=refs, result=None)

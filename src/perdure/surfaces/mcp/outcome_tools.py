"""The tool for outcome events: what became of a call or of the steps of a runbook, in the words of the table."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from perdure.app.operations.events import FollowOutcomes, follow_call_outcomes, follow_runbook_outcomes
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.surfaces.mcp.answer_truncation import IN_LISTS, fitted, reading, short
from perdure.surfaces.mcp.shared_schemas import Id, Limit, WaitSeconds
from perdure.surfaces.mcp.tool import Tool, ToolSession


class AskOutcomes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose events, and from where on."""

    id: Id
    step: Annotated[int, Meta(description="Of a runbook: only this step; 0 means all.", ge=0)] = 0
    after: Annotated[str, Meta(description="'next' of the answer before.", max_length=1024)] = ""
    limit: Limit = 50
    wait_seconds: WaitSeconds = 0


class OutcomePage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Events, oldest first. Ask again with `after` = `next`; no event is missed or told twice."""

    items: list[OutcomeEvent]
    next: str
    has_more: bool = False


async def outcome_events(desk: ToolSession, asked: AskOutcomes) -> OutcomePage:
    """Read what became of a call or of the steps of a runbook: started, parked and for what, resumed, stuck, ended.

    'text' says it in one line: 'Parked(HumanGate, Awaiting rita: review the case)'. Go on with 'after' = 'next'. With
    'wait_seconds' and nothing new yet, it waits for the next event. 'runbook_events' reads the journal behind them.
    """
    operation = follow_runbook_outcomes if await desk.perdure.runbooks.has(asked.id) else follow_call_outcomes
    wanted = FollowOutcomes(asked.id, asked.step, asked.after or None, asked.limit)
    page = await desk.perform(operation, wanted)
    if asked.wait_seconds and not page.items:
        try:
            async with asyncio.timeout(asked.wait_seconds):
                following = desk.perdure.outcome_events(asked.id, after=asked.after, step=asked.step, follow=True)
                await anext(following, None)
        except TimeoutError:
            pass
        page = await desk.perform(operation, wanted)
    items = [_shown(each) for each in page.items]
    return OutcomePage(items, items[-1].cursor if items else asked.after, page.next is not None)


def _shown(event: OutcomeEvent) -> OutcomeEvent:
    """An event whose texts and values are not longer than somebody reads in a list."""
    step = str(event.step) if event.step else ""
    result = fitted(event.result, IN_LISTS, reading(event.call, step, "result"))
    return replace(event, text=short(event.text), reason=short(event.reason), result=result)


TOOLS = (
    Tool(
        title="Outcome events", operation="event.read", takes=AskOutcomes, gives=OutcomePage, act=outcome_events,
        is_reading=True,
    ),
)  # fmt: skip

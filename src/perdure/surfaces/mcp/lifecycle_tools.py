"""Tools about lifecycles. Moving one by hand is for people: agents start, look, and ask for what is missing."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from perdure.app.lifecycles.views import LifecycleBegun, LifecycleItem, LifecycleStatus
from perdure.app.operations import lifecycles
from perdure.surfaces.mcp.shared_schemas import Limit
from perdure.surfaces.mcp.tool import Tool, ToolSession

LifecycleName = Annotated[str, Meta(description="The name of a lifecycle.", max_length=200)]
Subject = Annotated[str, Meta(description="Whom or what it is about.", max_length=200)]
InstanceId = Annotated[str, Meta(description="The id of a lifecycle instance.", max_length=80)]


class StartLifecycle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lifecycle: LifecycleName
    subject: Subject
    context: Annotated[dict[str, Any], Meta(description="What `$names` of the definition stand for.")] = {}


class LifecycleStatusOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: InstanceId


class ListLifecycles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lifecycle: LifecycleName = ""
    state: Annotated[str, Meta(description="Only in this state; needs the lifecycle.", max_length=200)] = ""
    subject: Annotated[str, Meta(description="Only of this subject; needs the lifecycle.", max_length=200)] = ""
    limit: Limit = 20


class LifecyclePage(msgspec.Struct, frozen=True):
    """Instances, newest first."""

    items: list[LifecycleItem]
    next: str | None = None


class ResolveBlocker(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: InstanceId
    key: Annotated[str, Meta(description="The key of a blocker, as lifecycle_status shows it.", max_length=200)]


class DoLifecycleAction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: InstanceId
    action: Annotated[str, Meta(description="The name of an action, as lifecycle_status shows it.", max_length=200)]


async def start_lifecycle(desk: ToolSession, asked: StartLifecycle) -> LifecycleBegun:
    """Start a lifecycle for a subject, or find the one that is active for it. Asked twice, it starts once."""
    request = lifecycles.StartLifecycle(asked.lifecycle, asked.subject, asked.context)
    return await desk.perform(lifecycles.start_lifecycle, request)


async def lifecycle_status(desk: ToolSession, asked: LifecycleStatusOf) -> LifecycleStatus:
    """Where a lifecycle instance stands: blockers with the calls that open them, transitions with what they miss."""
    return await desk.perform(lifecycles.show_lifecycle, lifecycles.ShowLifecycle(asked.id))


async def list_lifecycles(desk: ToolSession, asked: ListLifecycles) -> LifecyclePage:
    """List lifecycle instances, newest first, with the keys of what blocks them."""
    request = lifecycles.ListLifecycles(asked.lifecycle, asked.state, asked.subject, asked.limit)
    page = await desk.perform(lifecycles.list_lifecycles, request)
    return LifecyclePage(page.items, page.next)


async def resolve_blocker(desk: ToolSession, asked: ResolveBlocker) -> LifecycleStatus:
    """Make the call that would open a blocker. It leaves a pending task; do not ask again while that is pending."""
    return await desk.perform(lifecycles.resolve_blocker, lifecycles.ResolveBlocker(asked.id, asked.key))


async def do_lifecycle_action(desk: ToolSession, asked: DoLifecycleAction) -> LifecycleStatus:
    """Do an action that the present state offers. Its pending task says what became of the call."""
    return await desk.perform(lifecycles.do_action, lifecycles.DoAction(asked.id, asked.action))


TOOLS = (
    Tool(
        title="Start a lifecycle", operation="lifecycle.start", takes=StartLifecycle, gives=LifecycleBegun,
        act=start_lifecycle, is_repeatable=True,
    ),
    Tool(
        title="Status of a lifecycle", operation="lifecycle.read", takes=LifecycleStatusOf, gives=LifecycleStatus,
        act=lifecycle_status, is_reading=True,
    ),
    Tool(
        title="List lifecycles", operation="lifecycle.list", takes=ListLifecycles, gives=LifecyclePage,
        act=list_lifecycles, is_reading=True,
    ),
    Tool(
        title="Resolve a blocker", operation="lifecycle.resolve", takes=ResolveBlocker, gives=LifecycleStatus,
        act=resolve_blocker,
    ),
    Tool(
        title="Do an action of a lifecycle", operation="lifecycle.act", takes=DoLifecycleAction, gives=LifecycleStatus,
        act=do_lifecycle_action,
    ),
)  # fmt: skip

"""How things stand, at a glance: what needs me, what is stuck, what runs, how much goes through."""

from __future__ import annotations

import msgspec

from perdure.app.lists.cursors import MAX_LIMIT
from perdure.app.lists.lists import Lists
from perdure.app.lists.row_builder import waits_since
from perdure.app.operations.instances import ListInstances
from perdure.app.operations.request_fields import Paged
from perdure.app.operations.runbooks import ListRunbooks
from perdure.app.operations.tasks import ListTasks
from perdure.app.overview.counts import MOST_PER_HOUR
from perdure.app.runtime import Runtime
from perdure.app.tasks.views import TaskView
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.state import Instance
from perdure.errors import QuarantinedError, RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.lifecycles.instances import KIND as LIFECYCLE
from perdure.lifecycles.machine.lifecycle_machine import status_text
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.sources import iso

COUNTED_TO = 1000
LISTED = Paged(MAX_LIMIT)
TASKS_LOOKED_AT = 200
FIRST_TASKS = 5
RUNNING = ("draft", "ready", "executing", "parked", "escalated")
ACTIVE = ("active", "suspended", "compensating")
WAITS = {"call": "completion", "shared": "shared", "task": "task", "message": "message", "signal": "signal"}
"""The kinds of rows that wait, and what people call them."""


class NeedsMe(msgspec.Struct, frozen=True):
    """Open tasks that the principal may answer, and the first of them.

    Where there are very many tasks only the oldest are looked at, and `is_all` says so.
    """

    tasks: int
    first: list[TaskView]
    is_all: bool = True


class Stuck(msgspec.Struct, frozen=True):
    """What needs somebody; overdue tasks are counted among those looked at for `needs_me`.

    `quarantined` counts calls, runbooks and instances whose stored bytes failed a check.
    """

    incidents: int
    dead_letters: int
    overdue_tasks: int
    quarantined: int = 0


class Running(msgspec.Struct, frozen=True):
    """What has not ended: runbooks and instances by state, lifecycles by definition."""

    runbooks: dict[str, int]
    instances: dict[str, int]
    lifecycles: dict[str, int] = {}


class Hour(msgspec.Struct, frozen=True):
    """Runbooks and calls of one hour that begins `at`; `failed` ones are among those `ended`."""

    at: str
    started: int
    ended: int
    failed: int


class Waits(msgspec.Struct, frozen=True):
    """Waits of one kind, and since when the oldest of them waits."""

    kind: str
    count: int
    oldest: str | None


class Overview(msgspec.Struct, frozen=True):
    """Counts go up to `counted_to` (hours to `counted_to_hourly`): one that is as large means that many or more."""

    needs_me: NeedsMe
    stuck: Stuck
    running: Running
    throughput: list[Hour]
    waits: list[Waits]
    at: str
    counted_to: int = COUNTED_TO
    counted_to_hourly: int = MOST_PER_HOUR
    documents_to_verify: int | None = None
    """Documents with a version that nobody has decided on; None for a key that reaches some verbs only."""


class Glance:
    """Makes overviews; what they count is remembered for a second."""

    def __init__(self, runtime: Runtime, origin: Origin, lists: Lists) -> None:
        self._runtime = runtime
        self._lists = runtime.store.lists
        self._counts = runtime.counts
        self._origin = origin
        self._tenant = origin.tenant
        self._pages = lists

    async def overview(self) -> Overview:
        if self._pages.is_narrow:
            return await self._reached()
        who, tenant = ("me", *msgspec.structs.astuple(self._origin)), self._tenant
        needs_me, overdue = await self._counts.remembered(who, self._needs_me)
        incidents, dead, damaged = await self._counts.remembered(("stuck", tenant), self._stuck)
        running = await self._counts.remembered(("running", tenant), self._running)
        hours = await self._counts.remembered(("hours", tenant), self._hours)
        waits = await self._counts.remembered(("waits", tenant), self._waits)
        papers = await self._counts.remembered(("papers", tenant), self._to_verify)
        now, stuck = iso(self._runtime.sources.now()) or "", Stuck(incidents, dead, overdue, damaged)
        return Overview(needs_me, stuck, running, hours, waits, now, documents_to_verify=papers)

    async def _reached(self) -> Overview:
        """What a narrowed key sees: counts of what its lists show, up to one page of each, and no throughput."""
        needs_me, overdue = await self._needs_me()
        incidents, dead = await self._pages.incidents(LISTED), await self._pages.dead_letters(LISTED)
        runbooks = {
            state: len((await self._pages.runbooks(ListRunbooks(state, kind="all", limit=MAX_LIMIT))).items)
            for state in RUNNING
        }
        instances = {
            state: len((await self._pages.instances(ListInstances(state=state, limit=MAX_LIMIT))).items)
            for state in ACTIVE
        }
        parked = (await self._pages.parked(LISTED)).items
        waits = [Waits("completion", len(parked), None)] if parked else []
        now, stuck = iso(self._runtime.sources.now()) or "", Stuck(len(incidents.items), len(dead.items), overdue)
        return Overview(needs_me, stuck, Running(_some(runbooks), _some(instances)), [], waits, now, MAX_LIMIT)

    async def _needs_me(self) -> tuple[NeedsMe, int]:
        page = await self._pages.tasks(ListTasks(limit=TASKS_LOOKED_AT))
        mine = await self._pages.tasks(ListTasks(mine=True, limit=TASKS_LOOKED_AT))
        overdue = sum(each.is_overdue for each in page.items)
        return NeedsMe(len(mine.items), mine.items[:FIRST_TASKS], mine.next is None), overdue

    async def _stuck(self) -> tuple[int, int, int]:
        return (
            await self._lists.count_incidents(self._tenant, COUNTED_TO),
            await self._lists.count_dead(self._tenant, COUNTED_TO),
            await self._runtime.store.set_aside.count(self._tenant, COUNTED_TO),
        )

    async def _running(self) -> Running:
        runbooks = {state: await self._runbooks(state) for state in RUNNING}
        instances = {
            state: await self._lists.count_aggregates(self._tenant, INSTANCE, state, COUNTED_TO) for state in ACTIVE
        }
        return Running(_some(runbooks), _some(instances), _some(await self._lifecycles()))

    async def _lifecycles(self) -> dict[str, int]:
        """Active instances of each lifecycle: those in a state that does not end one, of whichever version."""
        found, definitions = {}, self._runtime.lifecycles.definitions
        for each in await definitions.all(self._origin):
            versions = [await definitions.load(each.lifecycle, one.hash, self._tenant) for one in each.versions]
            states = {state.name for version in versions for state in version.states if not state.is_terminal}
            found[each.lifecycle] = min(COUNTED_TO, sum([await self._in_state(each.lifecycle, one) for one in states]))
        return found

    async def _in_state(self, lifecycle: str, state: str) -> int:
        return await self._lists.count_aggregates(self._tenant, LIFECYCLE, status_text(lifecycle, state), COUNTED_TO)

    async def _to_verify(self) -> int:
        count = self._runtime.store.documents.count_to_verify
        types = self._runtime.catalogue.documents
        return min(COUNTED_TO, sum([await count(self._tenant, each, COUNTED_TO) for each in types]))

    async def _runbooks(self, state: str) -> int:
        plans = await self._lists.count_runbooks(self._tenant, True, state, COUNTED_TO)
        return min(COUNTED_TO, plans + await self._lists.count_runbooks(self._tenant, False, state, COUNTED_TO))

    async def _hours(self) -> list[Hour]:
        found = await self._counts.hours(self._tenant)
        return [Hour(iso(each.at) or "", each.started, each.ended, each.failed) for each in found]

    async def _waits(self) -> list[Waits]:
        found = []
        for kind, name in WAITS.items():
            count = await self._lists.count_waits(self._tenant, kind, COUNTED_TO)
            if count:
                found.append(Waits(name, count, await self._oldest(kind)))
        return found

    async def _oldest(self, kind: str) -> str | None:
        """Since when the oldest of a kind waits; None when it has ended meanwhile, or cannot be read."""
        place = await self._lists.oldest_wait(self._tenant, kind)
        if place is None:
            return None
        id, step, _ = place
        try:
            aggregate = await self._runtime.kernel.read(id, self._origin)
        except (QuarantinedError, RejectedError):
            return None
        since = waits_since(aggregate, step) if aggregate.kind == RUNBOOK else _instance_since(aggregate, step)
        return iso(since or None)


def _instance_since(aggregate: Aggregate, number: int) -> int:
    state: Instance = aggregate.state
    node = state.nodes.get(number) if aggregate.kind == INSTANCE else None
    return node.at if node is not None else 0


def _some(counts: dict[str, int]) -> dict[str, int]:
    return {state: count for state, count in counts.items() if count}

"""Lists of everything, a page at a time: by keys alone, so that the last page costs as much as the first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from copy import copy
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, get_args

from perdure.access.principal import EVERY_VERB
from perdure.access.verb_reach import may_read
from perdure.app.access.data_verbs import DataVerbs
from perdure.app.access.redaction import closed_row
from perdure.app.calls.views import waiting_view
from perdure.app.incidents import CALL, CAUSES, actions_of, damage_actions_of, verbs_at
from perdure.app.lists.cursors import Page, check_state, checked_limit, cursor_of, place_of
from perdure.app.lists.list_rows import DeadLetterItem, InstanceRow, ParkedItem, RunbookRow, StuckView, dead_letter
from perdure.app.lists.row_builder import Rows, quarantined_instance, quarantined_row
from perdure.app.lists.search import Search, Stand
from perdure.app.operations.calls import ListCalls
from perdure.app.operations.instances import ListInstances
from perdure.app.operations.request_fields import Paged
from perdure.app.operations.runbooks import ListRunbooks
from perdure.app.operations.tasks import ListTasks
from perdure.app.processes.processes import Views
from perdure.app.quarantine_views import QUARANTINED
from perdure.app.runtime import Runtime
from perdure.app.tasks.tasks import TaskOperations, Wanted
from perdure.app.tasks.views import TaskView
from perdure.bpmn.machine.aggregate_ids import INDEX, INSTANCE
from perdure.bpmn.machine.state import Status
from perdure.engine import EVERYTHING, Capabilities
from perdure.errors import QuarantinedError, RejectedError, Rejection
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate
from perdure.kernel.ports import WaitFound
from perdure.lifecycles.instances import KIND as LIFECYCLE
from perdure.lifecycles.machine.incidents import incidents_of
from perdure.runbooks.executor.call_executor import KIND as RUNBOOK
from perdure.runbooks.executor.plan_executor import CASES
from perdure.runbooks.machine.state import RunbookState
from perdure.sources import Id, id_text, iso, parse_id
from perdure.store.lists import AFTER_IDS, LAST, NEWEST, IncidentFound, Listed
from perdure.store.quarantine import FIRST, SetAside

RunbookKind = Literal["runbooks", "calls", "all"]
RUNBOOK_STATES = (*get_args(RunbookState), QUARANTINED)
INSTANCE_STATES = (*get_args(Status), QUARANTINED)
TASK_STATES = ("open", "claimed")
MOST_LOOKED_AT = 1000
"""How many one page looks at to find those that are wanted; the next one goes on from there."""
LATER_LOOKS = 100
"""How many at a time, once it shows that many are not wanted."""
MAX_DEPTH = 100
"""How deep processes may call processes before lists stop looking for who began it."""

T = TypeVar("T")
P = TypeVar("P")
P_contra = TypeVar("P_contra", contravariant=True)


class Candidate(NamedTuple):
    """Something that may belong to a page, and its place in the list."""

    place: Any
    what: Any


class StuckPlace(NamedTuple):
    """Something that an incident stopped."""

    kind: str
    name: str
    title: str
    text: str


class Fetch(Protocol[P_contra]):
    """Reads candidates after a place, or from the beginning."""

    async def __call__(self, place: P_contra | None, most: int, /) -> list[Candidate]: ...


class Lists:
    """The lists of one tenant, as operations ask for them."""

    def __init__(
        self, runtime: Runtime, origin: Origin, tasks: TaskOperations, views: Views, data_verbs: DataVerbs
    ) -> None:
        self._runtime = runtime
        self._lists = runtime.store.lists
        self._origin = origin
        self._tenant = origin.tenant
        self._tasks = tasks
        self._rows = Rows(runtime, views)
        self._data_verbs = data_verbs
        self._verbs: tuple[str, ...] = EVERY_VERB

    def seen_by(self, verbs: tuple[str, ...]) -> Lists:
        """The same for whose key reaches some verbs only: things whose data come from others are left out."""
        made = copy(self)
        made._verbs = verbs
        return made

    @property
    def is_narrow(self) -> bool:
        return EVERY_VERB[0] not in self._verbs

    def _reaches(self, verbs: Iterable[str]) -> bool:
        return may_read(self._verbs, verbs)

    async def runbooks(self, request: ListRunbooks) -> Page[RunbookRow]:
        """Runbooks and drafts, calls, or both; by words they come field by field."""
        state, case, q, kind = request.state, request.case, request.q, request.kind
        check_state(state, RUNBOOK_STATES)
        scope = ("runbooks", self._tenant, kind, state, case, q)

        async def row(candidate: Candidate) -> RunbookRow | None:
            found = await self._runbook(candidate.what)
            if found is None or _is_unreadable(found):
                return found
            is_wanted = _is_of(found, kind) and _is_in(found, state) and case in ("", found.case)
            return found if is_wanted else None

        if state == QUARANTINED:
            return await self._page(scope, tuple[int, bytes], request, self._set_aside(RUNBOOK), row)
        if q:
            check_key("search for", "text", q)
            search = Search(self._lists, self._tenant, q)

            async def matches(place: Stand | None, most: int) -> list[Candidate]:
                return [Candidate(each.stand, each.id) for each in await search.page(place or Stand(), most)]

            return await self._page(scope, Stand, request, matches, row)
        if case:
            check_key("list runbooks of", "case", case)
            return await self._page(scope, tuple[str, bytes], request, self._of_case(case), row)
        return await self._page(scope, int, request, self._by_number(kind, state), row)

    async def calls(self, request: ListCalls) -> Page[RunbookRow]:
        """Calls of a verb, and with values of its index runbooks that hold such a call; or all calls."""
        verb, state = request.verb, request.state
        check_state(state, RUNBOOK_STATES)
        wanted = self._wanted(verb, request.fields())
        scope = ("calls", self._tenant, verb, state, *(f"{name}={value}" for _, name, value in wanted))

        async def row(candidate: Candidate) -> RunbookRow | None:
            id: Id | None = candidate.what
            if id and len(wanted) > 1 and not set(wanted) <= set(await self._lists.index_of(id)):
                return None
            found = await self._runbook(id)
            if found is None or _is_unreadable(found):
                return found
            is_wanted = _is_in(found, state) and (bool(wanted) or (bool(found.verb) and verb in ("", found.verb)))
            return found if is_wanted else None

        if state == QUARANTINED:
            return await self._page(scope, tuple[int, bytes], request, self._set_aside(RUNBOOK), row)
        if not wanted:
            return await self._page(scope, int, request, self._by_number("calls", state), row)
        _, field, value = wanted[0]

        async def fetch(place: bytes | None, most: int) -> list[Candidate]:
            before = place or AFTER_IDS
            rows = await self._lists.with_value(self._tenant, wanted[0][0], field, value, before, most)
            return [Candidate(each.id, each.id if state in ("", each.status) else None) for each in rows]

        return await self._page(scope, bytes, request, fetch, row)

    def _wanted(self, verb: str, where: Mapping[str, str]) -> list[tuple[str, str, str]]:
        if not where:
            return []
        found = self._runtime.catalogue.get(verb)
        unknown = [name for name in where if name not in found.definition.index]
        if unknown:
            fact, known = f"'{unknown[0]}' is not in its index", ", ".join(found.definition.index) or "none"
            raise RejectedError(Rejection("invalid", "find calls of", "verb", verb, fact, f"Indexed: {known}."))
        for value in where.values():
            check_key("search for", "value", value or " ")
        return [(found.name, name, value) for name, value in sorted(where.items())]

    def _of_case(self, case: str) -> Fetch[tuple[str, bytes]]:
        async def fetch(place: tuple[str, bytes] | None, most: int) -> list[Candidate]:
            rows = await self._lists.indexed(self._tenant, CASES, case, "", place or (LAST, AFTER_IDS), most)
            return [Candidate((each.value, each.id), each.id) for each in rows]

        return fetch

    def _by_number(self, kind: RunbookKind, state: str) -> Fetch[int]:
        sides = {"runbooks": (True,), "calls": (False,), "all": (True, False)}[kind]

        async def fetch(place: int | None, most: int) -> list[Candidate]:
            found: list[Listed] = []
            for is_plan in sides:
                found += await self._lists.runbooks(self._tenant, is_plan, state, place or NEWEST, most)
            found.sort(reverse=True)
            # What is known not to be wanted need not be read.
            return [Candidate(each.number, each.id if state in ("", each.status) else None) for each in found[:most]]

        return fetch

    async def _runbook(self, id: Id | None) -> RunbookRow | None:
        try:
            if not id:
                return None
            aggregate = await self._runtime.kernel.read(id, self._origin)
            if not self.is_narrow:
                return await self._rows.runbook(aggregate)
            if not self._reaches(await self._data_verbs.of(aggregate)):
                return None
            row = await self._rows.runbook(aggregate)
            return row if self._reaches(await self._data_verbs.inside(aggregate)) else closed_row(row)
        except QuarantinedError:
            return quarantined_row(id) if id and not self.is_narrow else None
        except RejectedError:
            return None  # gone, or never there: an index row of something else

    async def instances(self, request: ListInstances) -> Page[InstanceRow]:
        """Instances of one process, in one state, of one business key, or all of them."""
        process, state, business_key = request.process, request.state, request.business_key
        check_state(state, INSTANCE_STATES)
        for name, text in (("process", process), ("business key", business_key)):
            if text:
                check_key("list instances of", name, text)
        field, value = ("business_key", business_key) if business_key else ("process", process)

        async def fetch(place: bytes | None, most: int) -> list[Candidate]:
            before = place or AFTER_IDS
            if value:
                rows = await self._lists.with_value(self._tenant, INDEX, field, value, before, most)
            else:
                rows = await self._lists.instances(self._tenant, INSTANCE, state, before, most)
            return [Candidate(each.id, each.id if state in ("", each.status) else None) for each in rows]

        async def row(candidate: Candidate) -> InstanceRow | None:
            found = await self._instance(candidate.what)
            if found is None or _is_unreadable(found):
                return found
            is_wanted = process in ("", found.process) and business_key in ("", found.business_key)
            return found if is_wanted and _is_in(found, state) else None

        scope = ("instances", self._tenant, process, state, business_key)
        if state == QUARANTINED:
            return await self._page(scope, tuple[int, bytes], request, self._set_aside(INSTANCE), row)
        return await self._page(scope, bytes, request, fetch, row)

    def instance_place(self, request: ListInstances) -> str:
        """The cursor behind an instance of this list."""
        scope = ("instances", self._tenant, request.process, request.state, request.business_key)
        return cursor_of(scope, bytes(parse_id(request.after or "", "instance")))

    def _set_aside(self, kind: str) -> Fetch[tuple[int, bytes]]:
        """Those in quarantine, found first to begin with."""

        async def fetch(place: tuple[int, bytes] | None, most: int) -> list[Candidate]:
            rows = await self._runtime.store.set_aside.page(self._tenant, place or FIRST, most)
            return [Candidate(row[:2], row.aggregate if row.kind == kind else None) for row in rows]

        return fetch

    async def _instance(self, id: Id | None) -> InstanceRow | None:
        try:
            aggregate = await self._runtime.kernel.read(id, self._origin) if id else None
            if aggregate is None or (self.is_narrow and not self._reaches(await self._data_verbs.of(aggregate))):
                return None
            return await self._rows.instance(aggregate)
        except QuarantinedError:
            return quarantined_instance(id) if id and not self.is_narrow else None
        except RejectedError:
            return None

    async def parked(self, request: Paged) -> Page[ParkedItem]:
        """What calls and runbooks wait for, oldest first."""

        async def fetch(place: int | None, most: int) -> list[Candidate]:
            rows = await self._runtime.store.parked(self._tenant, place or 0, most)
            return [Candidate(each.number, each) for each in rows]

        return await self._page(("parked", self._tenant), int, request, fetch, self._parked)

    async def _parked(self, candidate: Candidate) -> ParkedItem | None:
        row: WaitFound = candidate.what
        letters = id_text(row.aggregate)
        try:
            aggregate = await self._runtime.kernel.read(row.aggregate, self._origin)
        except QuarantinedError:
            return ParkedItem(row.key, letters, row.step, row.name, QUARANTINED) if not self.is_narrow else None
        except RejectedError:
            return None
        if self.is_narrow and not self._reaches(self._data_verbs.of_step(aggregate, row.step)):
            return None
        shown = await self._rows.runbook(aggregate)
        step, title = aggregate.state.steps[row.step - 1], await self._title(aggregate, row.step, shown.title)
        is_closed = self.is_narrow and not self._reaches(await self._data_verbs.of_carrier(aggregate, row.step))
        carrier = await self._rows.carrier(aggregate, row.step) if not is_closed else None
        waiting = waiting_view(aggregate.id, step, carrier, row.step)
        return ParkedItem(row.key, letters, row.step, step.verb, shown.state, title, shown.case, waiting)

    async def _title(self, aggregate: Aggregate, number: int, title: str) -> str:
        """The title of a runbook, which may be about any of its steps; for others the verb of the one that matters."""
        if not self.is_narrow or self._reaches(await self._data_verbs.of(aggregate)):
            return title
        return str(aggregate.state.steps[number - 1].verb) if aggregate.kind == RUNBOOK else ""

    async def incidents(self, request: Paged) -> Page[StuckView]:
        """Open incidents and damaged work, oldest first, each with its cause and every action that applies to it."""

        async def fetch(place: tuple[int, bytes, int] | None, most: int) -> list[Candidate]:
            after = place or (*FIRST, 0)
            rows = await self._lists.incidents(self._tenant, after, most)
            aside = await self._runtime.store.set_aside.page(self._tenant, after[:2], most)
            found = [Candidate((each.opened_at, each.aggregate, each.step), each) for each in rows]
            found += [Candidate((each.found_at, each.aggregate, 0), each) for each in aside]
            return sorted(found, key=lambda each: each.place)[:most]

        scope = ("incidents", self._tenant)
        return await self._page(scope, tuple[int, bytes, int], request, fetch, self._incident)

    async def _damage(self, row: SetAside) -> StuckView | None:
        """Damaged work: of what can be read it can be stopped, and the data of a call amended.

        Nobody knows which verbs damaged data come from: it is for keys that reach every verb.
        """
        if self.is_narrow:
            return None
        letters, text = id_text(row.aggregate), str(row.error)
        stopped = id_text(await concerned(self._runtime, self._origin, row.aggregate))
        kind, verbs = row.kind, list[str]()
        try:
            aggregate = await self._runtime.kernel.read(row.aggregate, self._origin)
            if kind == RUNBOOK:
                kind = CALL if aggregate.state.course is None else RUNBOOK
                verbs = await verbs_at(self._runtime, aggregate, None)
            actions = damage_actions_of(kind, letters)
        except (QuarantinedError, RejectedError):
            actions = []
        return StuckView(
            letters, kind, 0, row.error.code, iso(row.found_at), text, row.error.thing, "", stopped, QUARANTINED,
            text, verbs, actions,
        )  # fmt: skip

    async def _incident(self, candidate: Candidate) -> StuckView | None:
        if isinstance(candidate.what, SetAside):
            return await self._damage(candidate.what)
        row: IncidentFound = candidate.what
        letters, since = id_text(row.aggregate), iso(row.opened_at)
        is_told = self._runtime.store.set_aside.find(row.aggregate) is not None
        try:
            aggregate = await self._runtime.kernel.read(row.aggregate, self._origin)
        except QuarantinedError as error:
            text = str(error)
            view = StuckView(letters, "", row.step, error.code, since, text, state=QUARANTINED, cause=text)
            return None if is_told or self.is_narrow else view
        except RejectedError:
            return None
        if self.is_narrow and not self._reaches(await self._data_verbs.of_place(aggregate, row.step)):
            return None
        place, stopped = await self._stuck(aggregate, row.step), letters
        if aggregate.kind != RUNBOOK:
            stopped = id_text(await concerned(self._runtime, self._origin, row.aggregate))
        verbs = await verbs_at(self._runtime, aggregate, row.step)
        can, cause = await self._capabilities(aggregate), CAUSES.get(row.code, "") or place.text
        actions = [each for each in actions_of(place.kind, letters, row.step, row.code) if getattr(can, each.act, True)]
        title = await self._title(aggregate, row.step, place.title)
        return StuckView(
            letters, place.kind, row.step, row.code, since, place.text, place.name, title, stopped,
            aggregate.state.status, cause, verbs, actions,
        )  # fmt: skip

    async def _capabilities(self, aggregate: Aggregate) -> Capabilities:
        """What may be done to it: what is no instance is ours."""
        if aggregate.kind != INSTANCE:
            return EVERYTHING
        return (await self._runtime.engine.carrier(aggregate.id)).capabilities

    async def _stuck(self, aggregate: Aggregate, number: int) -> StuckPlace:
        """The step of a call or a runbook, or the token of an instance, that an incident stopped."""
        state = aggregate.state
        if aggregate.kind == LIFECYCLE:
            text = next((each.text for each in incidents_of(state) if each.number == number), "")
            return StuckPlace(LIFECYCLE, state.lifecycle, state.subject, text)
        if aggregate.kind != RUNBOOK:
            node = state.nodes.get(number)
            text = node.incident.text if node is not None and node.incident is not None else ""
            return StuckPlace(aggregate.kind, node.element if node is not None else "", state.process, text)
        step = state.steps[number - 1]
        text = step.incident.text if step.incident is not None else step.error.message if step.error else ""
        name = step.links.name if step.links is not None else step.verb
        return StuckPlace(CALL if state.course is None else RUNBOOK, name, await self._rows.title(aggregate), text)

    async def dead_letters(self, request: Paged) -> Page[DeadLetterItem]:
        """What could not be delivered, oldest first."""

        async def fetch(place: tuple[int, int] | None, most: int) -> list[Candidate]:
            rows = await self._lists.dead_letters(self._tenant, place or (-(2**62), 0), most)
            return [Candidate((letter.received_at, number), letter) for number, letter in rows]

        async def row(candidate: Candidate) -> DeadLetterItem | None:
            found = dead_letter(candidate.what)
            return found if not self.is_narrow or self._reaches(await self._data_verbs.of_letter(found)) else None

        return await self._page(("dead letters", self._tenant), tuple[int, int], request, fetch, row)

    async def tasks(self, request: ListTasks) -> Page[TaskView]:
        """Open human tasks, oldest first; `state` is open or claimed."""
        mine, assignee, group = request.mine, request.assignee, request.group
        unclaimed, overdue, state = request.unclaimed, request.overdue, request.state
        check_state(state, TASK_STATES)
        wanted = Wanted(assignee, group, mine, unclaimed, overdue, state)

        async def fetch(place: int | None, most: int) -> list[Candidate]:
            rows = await self._runtime.store.tasks(self._tenant, place or 0, most)
            return [Candidate(each.number, each) for each in rows]

        async def row(candidate: Candidate) -> TaskView | None:
            found: WaitFound = candidate.what
            return await self._tasks.open_at(found, wanted) if await self._is_task_reached(found) else None

        who = (self._origin.principal, *self._origin.groups) if mine else ()
        scope = ("tasks", self._tenant, assignee, group, f"{mine}{unclaimed}{overdue}", state, *who)
        return await self._page(scope, int, request, fetch, row)

    async def _is_task_reached(self, row: WaitFound) -> bool:
        if not self.is_narrow:
            return True
        try:
            aggregate = await self._runtime.kernel.read(row.aggregate, self._origin)
            return self._reaches(await self._data_verbs.of_place(aggregate, row.step))
        except (QuarantinedError, RejectedError):
            return False

    # --- inside --------------------------------------------------------------------------------------------------

    async def _page(
        self, scope: tuple[str, ...], shape: Any, request: Any, fetch: Fetch[P],
        make: Callable[[Candidate], Awaitable[T | None]],
    ) -> Page[T]:  # fmt: skip
        """Candidates in their order, until a page is full, none is left, or enough have been looked at."""
        limit, after = checked_limit(request.limit), request.after
        await self._runtime.store.set_aside.refresh()
        place: P | None = place_of(scope, after, shape) if after is not None else None
        found: list[T] = []
        looked_at, most, wanted = 0, limit, limit + self.is_narrow
        ends: list[P] = []
        while looked_at < MOST_LOOKED_AT:
            candidates = await fetch(place, most + 1)
            rows = await asyncio.gather(*(make(each) for each in candidates[:most]))
            for candidate, row in zip(candidates, rows, strict=False):
                place, looked_at = candidate.place, looked_at + 1
                if row is not None:
                    found.append(row)
                    ends.append(candidate.place)
                if len(found) == wanted:
                    if self.is_narrow:  # only what is reached says that there is more
                        return Page(found[:limit], cursor_of(scope, ends[limit - 1]))
                    has_more = candidate is not candidates[-1] or await _goes_on(fetch, candidate.place)
                    return Page(found, cursor_of(scope, candidate.place) if has_more else None)
            if len(candidates) <= most and (not candidates or not await _goes_on(fetch, candidates[-1].place)):
                return Page(found, None)
            most = max(most, LATER_LOOKS)
        return Page(found[:limit], cursor_of(scope, place))


async def _goes_on(fetch: Fetch[Any], place: Any) -> bool:
    """A search gives what it finds in one field at a time; other lists have given all they have."""
    return isinstance(place, Stand) and bool(await fetch(place, 1))


async def concerned(runtime: Runtime, origin: Origin, id: Id) -> Id:
    """Whom an incident concerns: the call that an instance carries, through however many called processes."""
    for _ in range(MAX_DEPTH):
        try:
            aggregate: Aggregate = await runtime.kernel.read(id, origin)
        except QuarantinedError:
            return id
        if aggregate.kind != INSTANCE or not aggregate.state.parent:
            return id
        id = parse_id(aggregate.state.parent.split(":")[1])
    return id


def _is_unreadable(row: RunbookRow | InstanceRow) -> bool:
    """Whether nothing is known of a row but that it is damaged: it belongs to every list that may hold it."""
    return row.state == QUARANTINED and not row.sequence


def _is_in(row: RunbookRow | InstanceRow, state: str) -> bool:
    """Whether a row is in a state; damaged, it is shown among those whose state it would have."""
    return row.state == QUARANTINED or state in ("", row.state)


def _is_of(row: RunbookRow, kind: RunbookKind) -> bool:
    return kind == "all" or (kind == "calls") == bool(row.verb)

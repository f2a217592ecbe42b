"""Runs machines: loads, decides, commits, and answers when the commit is durable."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from perdure.errors import (
    InvariantBroken,
    PerdureError,
    QuarantinedError,
    RejectedError,
    Rejection,
    UnreadableFormError,
)
from perdure.journal import NO_ROWS, Machine, Notice, Origin, PartedMachine, Rows, genesis, link
from perdure.kernel.ports import Attachments, Conflict, Loaded, RecordRow, Unit, Units
from perdure.sources import Id, Sources, id_text

CACHED_AGGREGATES = 1024
MAX_FOLDED = 256
MAX_REDECISIONS = 64


class Aggregate(msgspec.Struct, frozen=True, gc=False):
    """An aggregate in memory, as of its last commit.

    `rows` are those its state stands for; of one whose parts are rows by themselves, those the last commit changed.
    """

    id: Id
    tenant: str
    kind: str
    version: int
    state: Any
    head: bytes
    rows: Rows


class Prepared(msgspec.Struct, frozen=True, gc=False):
    """A command together with what it brings along."""

    command: Any
    attachments: Attachments | None = None


Preparation = Callable[[Aggregate], Prepared | Rejection]


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What the caller is told once it is durable. `conflict` is set when a key was taken."""

    aggregate: Aggregate | None
    answer: str
    entries: tuple[Any, ...] = ()
    conflict: Conflict | None = None


class _Submission(msgspec.Struct):
    origin: Origin
    prepare: Preparation | Prepared
    future: asyncio.Future[Answer]
    kind: str
    is_alone: bool = False


class _Decided(msgspec.Struct, frozen=True, gc=False):
    """A command as it was decided, and what it brings."""

    submission: _Submission
    command: Any
    brought: Attachments | None
    answer: str
    entries: tuple[Any, ...]
    state: Any = None


class _Decisions(msgspec.Struct, frozen=True, gc=False):
    """What became of the commands of one unit before it is committed."""

    decided: list[_Decided]
    quiet: list[_Decided]
    refused: list[tuple[_Submission, Exception]]


class _Committing(msgspec.Struct, frozen=True, gc=False):
    """A unit on its way to the store, what it makes of the aggregate, and whose commands it holds."""

    unit: Unit
    after: Aggregate
    decided: list[_Decided]


Queue = deque[_Submission]
Listener = Callable[[Aggregate, tuple[Any, ...]], None]
EntryListener = Callable[[Aggregate, Any], None]
NoticeListener = Callable[[Aggregate, Sequence[Notice]], None]
Settled = Callable[[_Committing, "asyncio.Future[Conflict | None]"], None]


class Kernel:
    """One per process. `listen`, `hear` and `notice` are told of every commit after it is durable.

    An aggregate that is in memory is served without a task of its own: whoever asks in the same turn of the loop is
    folded into one unit, and the commit's answer settles it. Everything unusual goes the long way of `_serve_slowly`.
    """

    def __init__(self, store: Units, machines: Mapping[str, Machine[Any, Any, Any]], sources: Sources) -> None:
        self._store = store
        self._machines = machines
        self._parted = {kind: each for kind, each in machines.items() if isinstance(each, PartedMachine)}
        self._sources = sources
        self._cache: OrderedDict[bytes, Aggregate] = OrderedDict()
        self._waiting: dict[bytes, Queue] = {}
        self._due: list[Id] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._commits: set[asyncio.Future[Conflict | None]] = set()
        self._listeners: list[Listener] = []
        self._hearing: dict[type, list[EntryListener]] = {}
        self._noticing: list[NoticeListener] = []

    def machine(self, kind: str) -> Machine[Any, Any, Any]:
        return self._machines[kind]

    def listen(self, listener: Listener) -> None:
        """Be told of every command, with all its entries."""
        self._listeners.append(listener)

    def hear(self, types: Iterable[type], listener: EntryListener) -> None:
        """Be told of single entries, of these types only."""
        for each in types:
            self._hearing.setdefault(each, []).append(listener)

    def notice(self, listener: NoticeListener) -> None:
        """Be told of the notices of every unit that gives any."""
        self._noticing.append(listener)

    async def start(self, kind: str, id: Id, origin: Origin, prepared: Prepared) -> Answer:
        """Begin an aggregate with its first command, in one commit."""
        machine = self._machines[kind]
        empty = Aggregate(id, origin.tenant, kind, 0, None, genesis(origin.tenant, kind, id), NO_ROWS)
        submission = _Submission(origin, prepared, asyncio.get_running_loop().create_future(), kind)
        decided = self._decide(machine, empty, submission)
        if isinstance(decided, PerdureError):
            raise decided
        # A caller may give up waiting at any moment; what it began is committed and told all the same.
        self._commit(self._unit(machine, empty, [decided]), self._begun)
        return await submission.future

    def _begun(self, committing: _Committing, future: asyncio.Future[Conflict | None]) -> None:
        submission = committing.decided[0].submission
        if (error := _error(future)) is not None:
            self._refuse(submission, error)
        elif (conflict := future.result()) is not None:
            self._settle(submission, Answer(None, "conflict", (), conflict))
        else:
            self._committed(committing)

    async def ask(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared) -> Answer:
        """Put a command to an aggregate; answers when its effect is durable, raises a rejection otherwise."""
        loop = asyncio.get_running_loop()
        submission = _Submission(origin, prepare, loop.create_future(), kind)
        queue = self._waiting.get(id)
        if queue is None:
            self._waiting[id] = deque((submission,))
            self._serve_soon(id)
        else:
            queue.append(submission)
        return await submission.future

    async def read(self, id: Id, origin: Origin) -> Aggregate:
        """The aggregate as last committed; another tenant's is not found."""
        cached = self._cache.get(id)
        stored = await self._store.load(id)
        if stored is None or stored.tenant != origin.tenant:
            raise RejectedError(Rejection("not_found", "find", "call", id_text(id), "there is no such call"))
        if cached is not None and cached.version == stored.version:
            return cached
        return await self._revive(stored)

    async def recall(self, id: Id, origin: Origin) -> Aggregate:
        """Like `read`, but what this process last committed is good enough: for addressing, never for answers."""
        cached = self._cache.get(id)
        if cached is None:
            cached = await self.read(id, origin)
            self._remember(cached)
        if cached.tenant != origin.tenant:
            raise RejectedError(Rejection("not_found", "find", "call", id_text(id), "there is no such call"))
        return cached

    async def drain(self) -> None:
        """Wait until nothing is under way."""
        while self._waiting or self._commits or self._tasks:
            await asyncio.gather(*self._tasks, *self._commits, return_exceptions=True)
            await asyncio.sleep(0)

    def forget(self) -> None:
        self._cache.clear()

    # --- serving at once -----------------------------------------------------------------------------------------

    def _serve_soon(self, id: Id) -> None:
        if not self._due:
            asyncio.get_running_loop().call_soon(self._serve_due)
        self._due.append(id)

    def _serve_due(self) -> None:
        due, self._due = self._due, []
        for id in due:
            self._serve(id, self._waiting[id])

    def _serve(self, id: Id, queue: Queue) -> None:
        folded = self._take(queue)
        try:
            committing = self._prepared(id, folded)
            if committing is None:
                self._spawn(self._serve_slowly(id, queue, folded))
            else:
                self._commit(committing, lambda committing, future: self._served(id, queue, committing, future))
        except Exception as error:
            self._fail(id, queue, folded, error)

    def _prepared(self, id: Id, submissions: list[_Submission]) -> _Committing | None:
        """What the commands lead to when all of them can be decided from memory, and all of them change something."""
        current = self._cache.get(id)
        if current is None:
            return None
        for each in submissions:
            if each.future.done() or each.kind != current.kind or each.origin.tenant != current.tenant:
                return None
        machine = self._machines[current.kind]
        made = self._decisions(machine, current, submissions)
        if made.quiet or made.refused or (len(made.decided) > 1 and _twin(made.decided)):
            return None
        return self._unit(machine, current, made.decided)

    def _commit(self, committing: _Committing, settled: Settled) -> None:
        future = asyncio.ensure_future(self._store.commit(committing.unit))
        self._commits.add(future)
        future.add_done_callback(lambda future: self._answered(committing, settled, future))

    def _answered(self, committing: _Committing, settled: Settled, future: asyncio.Future[Conflict | None]) -> None:
        self._commits.discard(future)
        settled(committing, future)

    def _served(self, id: Id, queue: Queue, committing: _Committing, future: asyncio.Future[Conflict | None]) -> None:
        submissions = [each.submission for each in committing.decided]
        if (error := _error(future)) is not None:
            self._fail(id, queue, submissions, error)
        elif future.result() is None:
            self._committed(committing)
            self._go_on(id, queue)
        else:
            self._cache.pop(id, None)
            self._spawn(self._serve_slowly(id, queue, submissions))

    def _fail(self, id: Id, queue: Queue, submissions: list[_Submission], error: BaseException) -> None:
        for submission in submissions:
            self._refuse(submission, error)
        self._go_on(id, queue)

    def _go_on(self, id: Id, queue: Queue) -> None:
        if queue:
            self._serve_soon(id)
        else:
            del self._waiting[id]

    def _committed(self, committing: _Committing) -> None:
        after = committing.after
        self._remember(after)
        for each in committing.decided:
            self._settle(each.submission, Answer(after, each.answer, each.entries))
        self._tell(committing)

    # --- serving the long way ------------------------------------------------------------------------------------

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve_slowly(self, id: Id, queue: Queue, folded: list[_Submission]) -> None:
        """For what is not in memory, was refused, or met someone else's commit: loads, decides again, splits."""
        try:
            while folded:
                try:
                    await self._run(id, folded)
                except BaseException as error:
                    for submission in folded:
                        self._refuse(submission, error)
                    if not isinstance(error, Exception):
                        raise
                folded = self._take(queue) if queue else []
        finally:
            del self._waiting[id]
            for submission in queue:
                submission.future.cancel()

    @staticmethod
    def _take(queue: Queue) -> list[_Submission]:
        folded = [queue.popleft()]
        while queue and len(folded) < MAX_FOLDED and not (folded[0].is_alone or queue[0].is_alone):
            folded.append(queue.popleft())
        return folded

    async def _run(self, id: Id, submissions: list[_Submission]) -> None:
        for _ in range(MAX_REDECISIONS):
            current, is_fresh = await self._current(id, submissions[0].kind)
            submissions = [each for each in submissions if self._is_open(id, each, current)]
            if not submissions:
                return
            assert current is not None
            conflict = await self._attempt(current, is_fresh, submissions)
            if conflict is None:
                return
            self._cache.pop(id, None)
            if conflict.what == "version":
                continue
            if len(submissions) == 1:
                self._settle(submissions[0], Answer(current, "conflict", (), conflict))
                return
            for submission in submissions:
                await self._run(id, [submission])
            return
        raise InvariantBroken("commit", "call", id_text(id), f"it changed {MAX_REDECISIONS} times while deciding")

    def _is_open(self, id: Id, submission: _Submission, current: Aggregate | None) -> bool:
        if submission.future.done():
            return False
        if current is None or current.tenant != submission.origin.tenant:
            missing = Rejection("not_found", "find", "call", id_text(id), "there is no such call")
            self._refuse(submission, RejectedError(missing))
            return False
        return True

    async def _attempt(self, current: Aggregate, is_fresh: bool, submissions: list[_Submission]) -> Conflict | None:
        machine = self._machines[current.kind]
        made = self._decisions(machine, current, submissions)
        decided, quiet, refused = made.decided, made.quiet, made.refused
        if len(decided) > 1 and (twin := _twin(decided)):
            return Conflict("inbox", twin)  # copies of one message: each by itself, so that all learn of the first
        if (quiet or refused) and not is_fresh:
            return Conflict("version")  # another process may have moved on: never refuse from memory
        after = current
        committing = self._unit(machine, current, decided) if decided else None
        if committing is not None:
            conflict = await self._store.commit(committing.unit)
            if conflict is not None:
                return conflict
            after = committing.after
            self._remember(after)
        for each in (*decided, *quiet):
            self._settle(each.submission, Answer(after, each.answer, each.entries))
        for submission, error in refused:
            self._refuse(submission, error)
        if committing is not None:
            self._tell(committing)
        return None

    # --- deciding ------------------------------------------------------------------------------------------------

    def _decisions(
        self, machine: Machine[Any, Any, Any], current: Aggregate, submissions: list[_Submission]
    ) -> _Decisions:
        decisions = _Decisions([], [], [])
        for submission in submissions:
            result: _Decided | Exception
            try:
                result = self._decide(machine, current, submission)
            except Exception as error:
                result = error  # a command that cannot be decided fails alone: the others are not to blame
            if isinstance(result, Exception):
                decisions.refused.append((submission, result))
            elif not result.entries and result.brought is None:
                decisions.quiet.append(result)
            else:
                decisions.decided.append(result)
                if result.entries and len(submissions) > 1:
                    current = replace(current, state=_after(machine, current.state, result))
        return decisions

    def _decide(
        self, machine: Machine[Any, Any, Any], aggregate: Aggregate, submission: _Submission
    ) -> _Decided | PerdureError:
        prepared = submission.prepare
        if type(prepared) is not Prepared:
            try:
                made = prepared(aggregate)  # type: ignore[operator]
            except PerdureError as error:
                return error  # what it brings does not fit; those it is folded with are not to blame
            if isinstance(made, Rejection):
                return RejectedError(made)
            prepared = made
        command, brought = prepared.command, prepared.attachments
        sources = self._sources
        decision = machine.decide(
            aggregate.id, aggregate.state, command, submission.origin, sources.now(), sources.random()
        )
        if isinstance(decision, Rejection):
            return RejectedError(decision)
        if not decision.keeps and brought is not None:
            brought = brought.arrival()
        return _Decided(submission, command, brought, decision.answer, decision.entries, decision.state)

    def _unit(self, machine: Machine[Any, Any, Any], current: Aggregate, decided: list[_Decided]) -> _Committing:
        id, state, head, version = current.id, current.state, current.head, current.version
        records: list[RecordRow] = []
        attachments: list[Attachments] = []
        notices: list[Notice] = []
        now = self._sources.now()
        for each in decided:
            if each.brought is not None:
                attachments.append(each.brought)
            if not each.entries:
                continue
            state = _after(machine, state, each)
            body = machine.records.encode(now, type(each.command).__name__, each.submission.origin, each.entries)
            head = link(head, body)
            version += 1
            records.append(RecordRow(version, body, head))
            notices.extend(machine.notices(id, state, each.entries))
        before, rows, parts = self._derived(machine, current, state)
        status, ended_at = machine.status(state)
        unit = Unit(
            current.tenant, id, current.kind, current.version, version, status, ended_at, machine.encode(state), head,
            records, before, rows, notices, attachments, now, parts,
        )  # fmt: skip
        return _Committing(unit, Aggregate(id, current.tenant, current.kind, version, state, head, rows), decided)

    def _derived(
        self, machine: Machine[Any, Any, Any], current: Aggregate, state: Any
    ) -> tuple[Rows, Rows, list[tuple[int, bytes]]]:
        """The rows before and after, and the parts to write: of many parts only what concerns those that changed."""
        parted = self._parted.get(current.kind)
        parts = parted.parts(state) if parted is not None else None
        if parted is None or parts is None:
            return current.rows, machine.rows(current.id, state), []
        known = parted.parts(current.state) if current.state is not None else None
        changed = parts.changed_since(known)
        written = [(at, parts.written(at, parted.encode_part)) for at in changed]
        if known is None:
            return current.rows, machine.rows(current.id, state), written
        before = parted.rows_among(current.id, current.state, changed)
        return before, parted.rows_among(current.id, state, changed), written

    async def _current(self, id: Id, kind: str) -> tuple[Aggregate | None, bool]:
        cached = self._cache.get(id)
        if cached is not None:
            self._cache.move_to_end(id)
            return (cached, False) if cached.kind == kind else (None, True)
        stored = await self._store.load(id)
        if stored is None or stored.kind != kind:
            return None, True
        return await self._revive(stored), True

    async def _revive(self, stored: Loaded) -> Aggregate:
        """The aggregate behind its row; one that this release cannot read is set aside by name, and others go on."""
        id = stored.id
        try:
            machine = self._machines.get(stored.kind)
            if machine is None:
                known = ", ".join(sorted(self._machines))
                raise UnreadableFormError("read", "aggregate of kind", stored.kind, f"this release knows {known}")
            state = machine.decode(stored.state)
            parted = self._parted.get(stored.kind)
            if parted is not None and parted.parts(state) is not None:
                stored, state = await self._filled(machine, parted, stored, state)
                return Aggregate(id, stored.tenant, stored.kind, stored.version, state, stored.head, NO_ROWS)
        except UnreadableFormError as error:
            set_aside = QuarantinedError(
                "read", "call", id_text(id), f"its state is in a form this release cannot read: {error.fact}",
                "It is set aside; other work goes on. Use the release that wrote it, or see `perdure audit verify`.",
                aggregate=id, place="aggregate",
            )  # fmt: skip
            await self._store.quarantine(set_aside)
            raise set_aside from error
        rows = machine.rows(id, state)
        return Aggregate(id, stored.tenant, stored.kind, stored.version, state, stored.head, rows)

    async def _filled(
        self, machine: Machine[Any, Any, Any], parted: PartedMachine, stored: Loaded, state: Any
    ) -> tuple[Loaded, Any]:
        """A state with its parts, which are read after its row: where both do not fit, another may have written."""
        for _ in range(MAX_REDECISIONS):
            bodies = await self._store.parts(stored.id)
            try:
                return stored, parted.filled(state, bodies)
            except UnreadableFormError:
                again = await self._store.load(stored.id)
                if again is None or again.version == stored.version:
                    raise
                stored, state = again, machine.decode(again.state)
        raise InvariantBroken("read", "call", id_text(stored.id), f"it changed {MAX_REDECISIONS} times while reading")

    def _remember(self, aggregate: Aggregate) -> None:
        self._cache[aggregate.id] = aggregate
        self._cache.move_to_end(aggregate.id)
        if len(self._cache) > CACHED_AGGREGATES:
            self._cache.popitem(last=False)

    def _tell(self, committing: _Committing) -> None:
        after, hearing = committing.after, self._hearing
        for each in committing.decided:
            for listener in self._listeners:
                listener(after, each.entries)
            for entry in each.entries:
                for hears in hearing.get(type(entry), ()):
                    hears(after, entry)
        if committing.unit.notices:
            for notices in self._noticing:
                notices(after, committing.unit.notices)

    @staticmethod
    def _settle(submission: _Submission, answer: Answer) -> None:
        if not submission.future.done():
            submission.future.set_result(answer)

    @staticmethod
    def _refuse(submission: _Submission, error: BaseException) -> None:
        if not submission.future.done():
            submission.future.set_exception(error)


def _error(future: asyncio.Future[Conflict | None]) -> BaseException | None:
    return asyncio.CancelledError() if future.cancelled() else future.exception()


def _twin(decided: list[_Decided]) -> str:
    """A message id that more than one of the commands brings; empty when there is none."""
    seen: set[str] = set()
    for each in decided:
        inbox = each.brought.inbox if each.brought is not None else None
        if inbox is not None and inbox.message_id in seen:
            return inbox.message_id
        if inbox is not None:
            seen.add(inbox.message_id)
    return ""


def _after(machine: Machine[Any, Any, Any], state: Any, decided: _Decided) -> Any:
    """The state a decision leads to."""
    if decided.state is not None:
        return decided.state
    for entry in decided.entries:
        state = machine.apply(state, entry)
    return state

"""Runs machines: loads, decides, commits, and answers when the commit is durable."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from perdure.errors import (
    FencedError,
    InvariantBroken,
    PerdureError,
    QuarantinedError,
    RejectedError,
    Rejection,
    UnreadableFormError,
)
from perdure.journal import NO_ROWS, Entries, Machine, Notice, Origin, PartedMachine, Sieve, SourcePosition
from perdure.kernel.decider import (
    NO_HEAD,
    Aggregate,
    Answer,
    Committing,
    Decided,
    Decider,
    Preparation,
    Prepared,
    Settled,
    Submission,
    twin,
)
from perdure.kernel.external_entries import Sourced, SourcedJournal
from perdure.kernel.ports import Attachments, Conflict, Loaded, Told, Units, Verdict
from perdure.sources import Id, Micros, Sources, id_text

__all__ = ["Aggregate", "Answer", "Kernel", "Preparation", "Prepared"]

CACHED_AGGREGATES = 1024
ENDED_KEPT = 128
"""Of those that have ended: who waited for one looks at it once more, and hardly anyone does later."""
MAX_FOLDED = 256
MAX_REDECISIONS = 64


Listener = Callable[[Aggregate, Any], None]
EntryListener = Callable[[Aggregate, Any], None]
NoticeListener = Callable[[Aggregate, Sequence[Notice]], None]
RefusalListener = Callable[[BaseException], None]
LeavingListener = Callable[[Id], None]
TimerListener = Callable[[Aggregate], None]
Renew = Callable[[FencedError, Preparation | Prepared], Awaitable[Preparation | Prepared | None]]
"""Takes a new lease for one that was lost; answers what to put again under it, None when it is over with the lease."""


class Kernel:
    """One per process. `listen`, `hear` and `notice` are told of every commit after it is durable.

    An aggregate that is in memory is served without a task of its own: whoever asks in the same turn of the loop is
    folded into one unit, and the commit's answer settles it. Everything unusual goes the long way of `_serve_slowly`.
    """

    def __init__(self, store: Units, machines: Mapping[str, Machine[Any, Any, Any]], sources: Sources) -> None:
        self._store = store
        self._machines = machines
        self._decider = Decider(machines, sources)
        self._sourced = SourcedJournal(self, store)
        self._cache: OrderedDict[bytes, Aggregate] = OrderedDict()
        self._ended_last: deque[Id] = deque()
        self._waiting: dict[bytes, list[Submission]] = {}
        """By aggregate, those that are not yet being served; an aggregate that is being served is named here too."""
        self._due: list[Id] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._commits = 0
        self._quiet: asyncio.Future[None] | None = None
        self._listeners: list[tuple[str, Listener]] = []
        self._listening: dict[str, list[Listener]] = {}
        self._hearing: dict[type, list[EntryListener]] = {}
        self._heard = Sieve(self._hearing)
        self._noticing: list[NoticeListener] = []
        self._arming: list[TimerListener] = []
        self._refusing: list[RefusalListener] = []
        self._leaving: list[LeavingListener] = []
        self.renew: Renew | None = None
        """Asked when a command was refused because the lease of this process was taken away: nothing was written."""

    def machine(self, kind: str) -> Machine[Any, Any, Any]:
        return self._machines[kind]

    def listen(self, listener: Listener, kind: str = "") -> None:
        """Be told of every command, with all its entries; or only of those put to one kind of aggregate."""
        self._listeners.append((kind, listener))
        self._listening.clear()

    def hear(self, types: Iterable[type], listener: EntryListener) -> None:
        """Be told of single entries, of these types only."""
        for each in types:
            self._hearing.setdefault(each, []).append(listener)
        self._heard.forget()

    def notice(self, listener: NoticeListener) -> None:
        """Be told of the notices of every unit that gives any."""
        self._noticing.append(listener)

    def arm(self, listener: TimerListener) -> None:
        """Be told of every unit whose aggregate has timers, once for each unit."""
        self._arming.append(listener)

    def refused(self, listener: RefusalListener) -> None:
        """Be told why, whenever a command is not carried out."""
        self._refusing.append(listener)

    def leave(self, listener: LeavingListener) -> None:
        """Be told of every aggregate that has ended and is kept in memory no longer."""
        self._leaving.append(listener)

    def remembered(self, id: Id) -> Aggregate | None:
        """The aggregate as this process last committed or read it, if it is in memory: for looking, not for answers."""
        return self._cache.get(id)

    def start(self, kind: str, id: Id, origin: Origin, prepared: Prepared) -> asyncio.Future[Answer]:
        """Begin an aggregate with its first command, in one commit; what is refused at once is raised here."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._begin(id, Submission(origin, prepared, kind, future))
        return future

    def begin(self, kind: str, id: Id, origin: Origin, prepared: Prepared, told: Settled) -> None:
        """Like `start`, but calls back, once; what is refused at once is raised here."""
        self._begin(id, Submission(origin, prepared, kind, None, told))

    def _begin(self, id: Id, submission: Submission) -> None:
        kind, tenant = submission.kind, submission.origin.tenant
        machine = self._machines[kind]
        empty = Aggregate(id, tenant, kind, 0, None, NO_HEAD, NO_ROWS)
        decided = self._decider.decide(machine, empty, submission)
        if isinstance(decided, PerdureError):
            self._tell_refusal(decided)
            raise decided
        # A caller may give up waiting at any moment; what it began is committed and told all the same.
        committing = self._decider.unit(machine, empty, [decided])
        self._submit(committing, partial(self._begun, committing))

    def _begun(self, committing: Committing, verdict: Verdict) -> None:
        self._ended()
        submission = committing.decided[0].submission
        if verdict is None:
            self._committed(committing)
        elif isinstance(verdict, BaseException):
            self._renew_or_refuse(committing.after.id, submission, verdict, self._begin)
        elif verdict.what == "silent":
            self._begin_aloud(committing.after, submission)
        else:
            submission.settle(Answer(None, "conflict", (), verdict))

    def _begin_aloud(self, empty: Aggregate, submission: Submission) -> None:
        """Begin again, telling of the records that change: somebody may wait for them since a while."""
        self._decider.watched.add(empty.tenant)
        try:
            self._begin(empty.id, submission)
        except Exception as error:
            submission.settle(error)

    def ask(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared) -> asyncio.Future[Answer]:
        """Put a command to an aggregate; answers when its effect is durable, raises a rejection otherwise.

        Who gives up waiting does not take the command back.
        """
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._put(id, Submission(origin, prepare, kind, future))
        return future

    def put(self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared, told: Settled) -> None:
        """Like `ask`, but calls back, once: after everybody who listens was told, or with the error instead."""
        self._put(id, Submission(origin, prepare, kind, None, told))

    def _put(self, id: Id, submission: Submission) -> None:
        queue = self._waiting.get(id)
        if queue is None:
            self._waiting[id] = [submission]
            self._serve_soon(id)
        else:
            queue.append(submission)

    async def read(self, id: Id, origin: Origin, *, keeps: bool = False) -> Aggregate:
        """The aggregate as last committed; another tenant's is not found. Who reads it often `keeps` it in memory."""
        cached = self._cache.get(id)
        stored = await self._store.load(id)
        if stored is None or stored.tenant != origin.tenant:
            raise RejectedError(Rejection("not_found", "find", "call", id_text(id), "there is no such call"))
        if cached is None or cached.version != stored.version:
            cached = await self._revive(stored)
        if keeps and (self._cache.get(id) or cached).version <= cached.version:
            self._remember(cached)
        return cached

    async def recall(self, id: Id, origin: Origin, suits: Callable[[Any], bool] | None = None) -> Aggregate:
        """Like `read`, but what this process last committed is good enough: for addressing, never for answers.

        Where what is remembered does not suit, as with a step that others have added since, it is read.
        """
        cached = self._cache.get(id)
        if cached is None or (suits is not None and not suits(cached.state)):
            cached = await self.read(id, origin)
            self._remember(cached)
        if cached.tenant != origin.tenant:
            raise RejectedError(Rejection("not_found", "find", "call", id_text(id), "there is no such call"))
        return cached

    def newer(self, known: Aggregate) -> Aggregate:
        """What this process has committed since, where it has; else as known."""
        cached = self._cache.get(known.id)
        return cached if cached is not None and cached.version > known.version else known

    async def append(
        self,
        kind: str,
        id: Id,
        origin: Origin,
        entries: Sequence[Any],
        source: SourcePosition,
        at: Micros,
        brought: Attachments | None = None,
        *,
        begins: bool = False,
    ) -> Answer:
        """Append entries that a carrier decided elsewhere, with what they bring; answers `appended` or `known`.

        The table in `kernel.external_entries` says what becomes of each position. Entries that `begins` says begin the
        aggregate are refused where it began here.
        """
        return await self._sourced.append(kind, id, origin, Sourced(tuple(entries), source, at, brought, begins))

    async def drain(self) -> None:
        """Wait until nothing is under way."""
        while self._waiting or self._commits or self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if self._commits:
                self._quiet = self._quiet or asyncio.get_running_loop().create_future()
                await asyncio.shield(self._quiet)
            await asyncio.sleep(0)

    def forget(self) -> None:
        self._cache.clear()

    # --- serving at once -----------------------------------------------------------------------------------------

    def _serve_soon(self, id: Id) -> None:
        if not self._due:
            # Not in the next turn of the loop but the one after it: who is about to ask gets into the same unit.
            loop = asyncio.get_running_loop()
            loop.call_soon(loop.call_soon, self._serve_due)
        self._due.append(id)

    def _serve_due(self) -> None:
        due, self._due = self._due, []
        for id in due:
            self._serve(id)

    def _serve(self, id: Id) -> None:
        folded = self._take(id)
        try:
            committing = self._prepared(id, folded)
            if committing is None:
                self._spawn(self._serve_slowly(id, folded))
            else:
                self._submit(committing, partial(self._served, committing))
        except Exception as error:
            self._fail(id, folded, error)

    def _prepared(self, id: Id, submissions: list[Submission]) -> Committing | None:
        """What the commands lead to when all of them can be decided from memory, and all of them change something."""
        current = self._cache.get(id)
        if current is None:
            return None
        kind, tenant = current.kind, current.tenant
        for each in submissions:
            if each.kind != kind or each.origin.tenant != tenant or each.is_settled:
                return None
        machine = self._machines[kind]
        if len(submissions) > 1:
            made = self._decider.decisions(machine, current, submissions)
            if made.quiet or made.refused or (len(made.decided) > 1 and twin(made.decided)):
                return None
            return self._decider.unit(machine, current, made.decided)
        try:
            alone = self._decider.decide(machine, current, submissions[0])
        except Exception:
            return None  # the long way decides again from what is stored, and tells whatever is raised there
        if type(alone) is not Decided or alone.is_quiet:
            return None  # never refused from memory
        return self._decider.unit(machine, current, [alone])

    def _served(self, committing: Committing, verdict: Verdict) -> None:
        self._ended()
        id = committing.after.id
        if verdict is None:
            try:
                self._committed(committing)
            finally:
                self._go_on(id)
        elif isinstance(verdict, BaseException):
            self._fail(id, [each.submission for each in committing.decided], verdict)
        else:
            self._cache.pop(id, None)
            if verdict.what == "silent":
                self._decider.watched.add(committing.after.tenant)
            self._spawn(self._serve_slowly(id, [each.submission for each in committing.decided]))

    def _submit(self, committing: Committing, told: Told) -> None:
        self._commits += 1
        try:
            self._store.submit(committing.unit, told)
        except BaseException:
            self._ended()
            raise

    def _ended(self) -> None:
        self._commits -= 1
        if self._quiet is not None and not self._commits:
            self._quiet.set_result(None)
            self._quiet = None

    def _fail(self, id: Id, submissions: list[Submission], error: BaseException) -> None:
        for submission in submissions:
            self._renew_or_refuse(id, submission, error, self._put)
        self._go_on(id)

    def _go_on(self, id: Id) -> None:
        if self._waiting[id]:
            self._serve_soon(id)
        else:
            del self._waiting[id]

    def _committed(self, committing: Committing) -> None:
        after = committing.after
        self._remember(after, is_over=committing.unit.ended_at > 0)
        try:
            self._tell(committing)
        finally:
            for each in committing.decided:
                each.submission.settle(each.told(after))

    # --- serving the long way ------------------------------------------------------------------------------------

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve_slowly(self, id: Id, folded: list[Submission]) -> None:
        """For what is not in memory, was refused, or met someone else's commit: loads, decides again, splits."""
        try:
            while folded:
                try:
                    await self._run(id, folded)
                except BaseException as error:
                    for submission in folded:
                        self._renew_or_refuse(id, submission, error, self._put)
                    if not isinstance(error, Exception):
                        raise
                folded = self._take(id)
        finally:
            for submission in self._waiting.pop(id):
                submission.settle(asyncio.CancelledError())

    def _take(self, id: Id) -> list[Submission]:
        """Those that wait longest, at most so many as one unit may hold."""
        queue = self._waiting[id]
        self._waiting[id] = queue[MAX_FOLDED:]
        return queue[:MAX_FOLDED]

    async def _run(self, id: Id, submissions: list[Submission]) -> None:
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
            if conflict.what == "silent":
                self._decider.watched.add(current.tenant)
            if conflict.what in ("version", "silent"):
                continue
            if len(submissions) == 1:
                submissions[0].settle(Answer(current, "conflict", (), conflict))
                return
            for submission in submissions:
                await self._run(id, [submission])
            return
        raise InvariantBroken("commit", "call", id_text(id), f"it changed {MAX_REDECISIONS} times while deciding")

    def _is_open(self, id: Id, submission: Submission, current: Aggregate | None) -> bool:
        if submission.is_settled:
            return False
        if current is None or current.tenant != submission.origin.tenant:
            missing = Rejection("not_found", "find", "call", id_text(id), "there is no such call")
            self._refuse(submission, RejectedError(missing))
            return False
        return True

    async def _attempt(self, current: Aggregate, is_fresh: bool, submissions: list[Submission]) -> Conflict | None:
        machine = self._machines[current.kind]
        made = self._decider.decisions(machine, current, submissions)
        decided, quiet, refused = made.decided, made.quiet, made.refused
        if len(decided) > 1 and (repeated := twin(decided)):
            return Conflict("inbox", repeated)  # copies of one message: each by itself, so that all learn of the first
        if (quiet or refused) and not is_fresh:
            return Conflict("version")  # another process may have moved on: never refuse from memory
        after = current
        committing = self._decider.unit(machine, current, decided) if decided else None
        if committing is not None:
            conflict = await self._store.commit(committing.unit)
            if conflict is not None:
                return conflict
            after = committing.after
            self._remember(after, is_over=committing.unit.ended_at > 0)
        try:
            if committing is not None:
                self._tell(committing)
        finally:
            for each in (*decided, *quiet):
                each.submission.settle(each.told(after))
            for submission, error in refused:
                self._refuse(submission, error)
        return None

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
            parted = self._decider.parted.get(stored.kind)
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

    def _remember(self, aggregate: Aggregate, *, is_over: bool = False) -> None:
        cache, id = self._cache, aggregate.id
        cache[id] = aggregate
        cache.move_to_end(id)
        if is_over:
            self._ended_last.append(id)
            if len(self._ended_last) == ENDED_KEPT + 1:
                # However many end at once: who waited for one is told before it leaves.
                loop = asyncio.get_running_loop()
                loop.call_soon(loop.call_soon, self._dismiss_ended)
        if len(cache) > CACHED_AGGREGATES:
            cache.popitem(last=False)

    def _dismiss_ended(self) -> None:
        while len(self._ended_last) > ENDED_KEPT:
            id = self._ended_last.popleft()
            self._cache.pop(id, None)
            for leaving in self._leaving:
                leaving(id)

    def _tell(self, committing: Committing) -> None:
        after, hearing = committing.after, self._hearing
        if after.rows.timers:
            for arms in self._arming:
                arms(after)
        listening = self._listening.get(after.kind) or self._listening_to(after.kind)
        for each in committing.decided:
            entries = each.decision.entries
            for listener in listening:
                listener(after, entries)
            for entry in self._heard.sifted(entries) if type(entries) is Entries else entries:
                for hears in hearing.get(type(entry), ()):
                    hears(after, entry)
        if committing.unit.notices:
            for notices in self._noticing:
                notices(after, committing.unit.notices)

    def _listening_to(self, kind: str) -> list[Listener]:
        found = self._listening[kind] = [listener for wanted, listener in self._listeners if wanted in ("", kind)]
        return found

    def _renew_or_refuse(
        self, id: Id, submission: Submission, error: BaseException, put: Callable[[Id, Submission], None]
    ) -> None:
        if isinstance(error, FencedError) and self.renew is not None and not submission.is_settled:
            self._spawn(self._put_again(id, submission, error, self.renew, put))
        else:
            self._refuse(submission, error)

    async def _put_again(
        self, id: Id, submission: Submission, lost: FencedError, renew: Renew, put: Callable[[Id, Submission], None]
    ) -> None:
        try:
            prepare = await renew(lost, submission.prepare)
            if prepare is None:
                raise lost
            submission.prepare = prepare
            put(id, submission)
        except BaseException as error:
            self._refuse(submission, error)
            if not isinstance(error, Exception):
                raise

    def _refuse(self, submission: Submission, error: BaseException) -> None:
        if not submission.is_settled:
            submission.settle(error)
            self._tell_refusal(error)

    def _tell_refusal(self, error: BaseException) -> None:
        for listener in self._refusing:
            listener(error)

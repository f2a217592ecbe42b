"""Runs machines: loads, decides, commits, and answers when the commit is durable."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, NamedTuple

import msgspec

from perdure.errors import (
    InvariantBroken,
    PerdureError,
    QuarantinedError,
    RejectedError,
    Rejection,
    UnreadableFormError,
)
from perdure.journal import NO_ROWS, Machine, Origin, PartedMachine, Rows, genesis, link
from perdure.kernel.ports import Attachments, Conflict, Loaded, RecordRow, Unit, Units
from perdure.sources import Id, Sources, id_text

CACHED_AGGREGATES = 1024
MAX_FOLDED = 256
MAX_REDECISIONS = 64


class Aggregate(NamedTuple):
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


class Prepared(NamedTuple):
    """A command together with what it brings along."""

    command: Any
    attachments: Attachments | None = None


Preparation = Callable[[Aggregate], Prepared | Rejection]


class Answer(NamedTuple):
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


class _Decided(NamedTuple):
    submission: _Submission
    answer: str
    entries: tuple[Any, ...]
    state: Any = None


Listener = Callable[[Aggregate, tuple[Any, ...]], None]


class Kernel:
    """One per process. `listen` is told of every commit after it is durable."""

    def __init__(self, store: Units, machines: Mapping[str, Machine[Any, Any, Any]], sources: Sources) -> None:
        self._store = store
        self._machines = machines
        self._parted = {kind: each for kind, each in machines.items() if isinstance(each, PartedMachine)}
        self._sources = sources
        self._cache: OrderedDict[bytes, Aggregate] = OrderedDict()
        self._waiting: dict[bytes, deque[_Submission]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._listeners: list[Listener] = []

    def machine(self, kind: str) -> Machine[Any, Any, Any]:
        return self._machines[kind]

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    async def start(self, kind: str, id: Id, origin: Origin, prepared: Prepared) -> Answer:
        """Begin an aggregate with its first command, in one commit."""
        machine = self._machines[kind]
        empty = Aggregate(id, origin.tenant, kind, 0, None, genesis(origin.tenant, kind, id), NO_ROWS)
        submission = _Submission(origin, prepared, asyncio.get_running_loop().create_future(), kind)
        decided = self._decide(machine, empty, submission)
        if isinstance(decided, PerdureError):
            raise decided
        # A caller may give up waiting at any moment; what it began is committed and told all the same.
        self._spawn(self._begin(machine, empty, decided))
        return await submission.future

    async def _begin(self, machine: Machine[Any, Any, Any], empty: Aggregate, decided: _Decided) -> None:
        try:
            unit, after = self._unit(machine, empty, [decided])
            conflict = await self._store.commit(unit)
        except BaseException as error:
            if not decided.submission.future.done():
                decided.submission.future.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        if conflict is not None:
            self._settle(decided.submission, Answer(None, "conflict", (), conflict))
            return
        self._remember(after)
        self._tell(after, decided.entries)
        self._settle(decided.submission, Answer(after, decided.answer, decided.entries))

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def ask(
        self, kind: str, id: Id, origin: Origin, prepare: Preparation | Prepared, *, serves: bool = False
    ) -> Answer:
        """Put a command to an aggregate; answers when its effect is durable, raises a rejection otherwise.

        Who `serves` does the work in its own task, also for those who ask meanwhile: it must not give up waiting.
        """
        submission = _Submission(origin, prepare, asyncio.get_running_loop().create_future(), kind)
        queue = self._waiting.get(id)
        if queue is None:
            queue = self._waiting[id] = deque((submission,))
            if serves:
                await asyncio.sleep(0)  # whoever asks in the same turn of the loop is folded in
                await self._serve(id, queue)
            else:
                self._spawn(self._serve(id, queue))
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
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def forget(self) -> None:
        self._cache.clear()

    async def _serve(self, id: Id, queue: deque[_Submission]) -> None:
        try:
            while queue:
                folded = self._take(queue)
                try:
                    await self._run(id, folded)
                except BaseException as error:
                    for submission in folded:
                        if not submission.future.done():
                            submission.future.set_exception(error)
                    if not isinstance(error, Exception):
                        raise
        finally:
            del self._waiting[id]
            for submission in queue:
                submission.future.cancel()

    @staticmethod
    def _take(queue: deque[_Submission]) -> list[_Submission]:
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
        decided: list[_Decided] = []
        quiet: list[_Decided] = []
        refused: list[tuple[_Submission, Exception]] = []
        running = current
        for submission in submissions:
            result = self._decided(machine, running, submission)
            if isinstance(result, Exception):
                refused.append((submission, result))
            elif not result.entries and self._brings(result.submission) is None:
                quiet.append(result)
            else:
                decided.append(result)
                if result.entries and len(submissions) > 1:
                    running = running._replace(state=_after(machine, running.state, result))
        if len(decided) > 1 and (twin := _twin(decided)):
            return Conflict("inbox", twin)  # copies of one message: each by itself, so that all learn of the first
        if (quiet or refused) and not is_fresh:
            return Conflict("version")  # another process may have moved on: never refuse from memory
        after = current
        if decided:
            unit, after = self._unit(machine, current, decided)
            conflict = await self._store.commit(unit)
            if conflict is not None:
                return conflict
            self._remember(after)
        for each in (*decided, *quiet):
            self._settle(each.submission, Answer(after, each.answer, each.entries))
        for submission, error in refused:
            self._refuse(submission, error)
        for each in decided:
            self._tell(after, each.entries)
        return None

    def _decided(
        self, machine: Machine[Any, Any, Any], aggregate: Aggregate, submission: _Submission
    ) -> _Decided | Exception:
        """A command that cannot be decided fails alone: those folded with it are none of its business."""
        try:
            return self._decide(machine, aggregate, submission)
        except Exception as error:
            return error

    def _decide(
        self, machine: Machine[Any, Any, Any], aggregate: Aggregate, submission: _Submission
    ) -> _Decided | PerdureError:
        prepared = submission.prepare
        if not isinstance(prepared, Prepared):
            try:
                made = prepared(aggregate)
            except PerdureError as error:
                return error  # what it brings does not fit; those it is folded with are not to blame
            if isinstance(made, Rejection):
                return RejectedError(made)
            prepared = made
        # Kept on the submission so that the unit carries the attachments of the command as decided.
        decision = machine.decide(
            aggregate.id, aggregate.state, prepared.command, submission.origin, self._sources.now(),
            self._sources.random(),
        )  # fmt: skip
        if isinstance(decision, Rejection):
            return RejectedError(decision)
        if not decision.keeps and prepared.attachments is not None:
            prepared = Prepared(prepared.command, prepared.attachments.arrival())
        return _Decided(_with(submission, prepared), decision.answer, decision.entries, decision.state)

    @staticmethod
    def _brings(submission: _Submission) -> Attachments | None:
        assert isinstance(submission.prepare, Prepared)
        return submission.prepare.attachments

    def _unit(
        self, machine: Machine[Any, Any, Any], current: Aggregate, decided: list[_Decided]
    ) -> tuple[Unit, Aggregate]:
        state, head, version = current.state, current.head, current.version
        records: list[RecordRow] = []
        attachments: list[Attachments] = []
        notices: list[Any] = []
        now = self._sources.now()
        for each in decided:
            prepared = each.submission.prepare
            assert isinstance(prepared, Prepared)
            if prepared.attachments is not None:
                attachments.append(prepared.attachments)
            if not each.entries:
                continue
            state = _after(machine, state, each)
            body = machine.records.encode(now, type(prepared.command).__name__, each.submission.origin, each.entries)
            head = link(head, body)
            version += 1
            records.append(RecordRow(version, body, head))
            notices.extend(machine.notices(current.id, state, each.entries))
        before, rows, parts = self._derived(machine, current, state)
        status, ended_at = machine.status(state)
        unit = Unit(
            current.tenant, current.id, current.kind, current.version, version, status, ended_at,
            machine.encode(state), head, records, before, rows, notices, attachments, now, parts,
        )  # fmt: skip
        return unit, Aggregate(current.id, current.tenant, current.kind, version, state, head, rows)

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

    def _tell(self, aggregate: Aggregate, entries: tuple[Any, ...]) -> None:
        for listener in self._listeners:
            listener(aggregate, entries)

    @staticmethod
    def _settle(submission: _Submission, answer: Answer) -> None:
        if not submission.future.done():
            submission.future.set_result(answer)

    @staticmethod
    def _refuse(submission: _Submission, error: Exception) -> None:
        if not submission.future.done():
            submission.future.set_exception(error)


def _twin(decided: list[_Decided]) -> str:
    """A message id that more than one of the commands brings; empty when there is none."""
    seen: set[str] = set()
    for each in decided:
        prepared = each.submission.prepare
        inbox = prepared.attachments.inbox if isinstance(prepared, Prepared) and prepared.attachments else None
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


def _with(submission: _Submission, prepared: Prepared) -> _Submission:
    return _Submission(submission.origin, prepared, submission.future, submission.kind, submission.is_alone)

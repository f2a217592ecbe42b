"""The completion inbox: completions, progress and dead letters, each a row.

| what arrives | what becomes of it |
|---|---|
| a completion for a waiting token | applied, once, whatever number of times it is delivered |
| the same message id again | `duplicate`, with what the first one led to; a dead letter that now fits is delivered |
| a message id that was used for something else | refused: nobody may think it was taken |
| another completion for a token that ended | recorded in the call's journal, not applied |
| a key nobody ever waited under | dead letter `unknown_key` |
| the same, from a call whose handler still runs | dead letter until the call parks, then applied |
| a key several verbs wait under, and no verb named | dead letter `ambiguous_key` |
| a completion for a call with an open incident | dead letter `blocked` |
| a result that does not fit the verb's schema | refused at the door, nothing recorded |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, assert_never, get_args

import msgspec

from perdure.errors import InvariantBroken, PerdureError, RejectedError, Rejection, UnreadableFormError
from perdure.human_tasks import HumanTask, Person, is_last, joint_groups, unanswerable
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Preparation, Prepared
from perdure.kernel.ports import APPLIED, DEAD, Attachments, Found, InboxRow, Unit
from perdure.payload import canonical, digest
from perdure.runbooks.executor.agent_questions import question_at
from perdure.runbooks.executor.call_executor import KIND, CallExecutor, index_rows
from perdure.runbooks.executor.completion_fan_out import FanOut, derived_id
from perdure.runbooks.executor.plan_decisions import decision_in
from perdure.runbooks.executor.plan_executor import MAX_TRIES
from perdure.runbooks.executor.step_launcher import Known
from perdure.runbooks.executor.wait_names import name_of, read_name
from perdure.runbooks.machine import commands as c
from perdure.runbooks.machine.dag_progress import base_of
from perdure.runbooks.machine.human_tasks import seen_by_asked
from perdure.runbooks.machine.runbook_machine import NOTICE, token_key
from perdure.runbooks.machine.state import WAITING, Failure, Runbook, Step, has_step
from perdure.runbooks.ports import DeadLetter
from perdure.sources import ID_LENGTH, Id, Sources, id_text, parse_id
from perdure.verb_contract import FAILURE_CLASSES, FailureClass
from perdure.work.agents.questions import Question, check_answer
from perdure.work.dead_letter_limit import check_room

CompletionStatus = Literal["completed", "failed", "expired"]
MAX_TEXT = 4000


class Completion(msgspec.Struct, frozen=True, omit_defaults=True):
    """What ends a wait, as it arrived."""

    key: str
    status: CompletionStatus = "completed"
    result: Any = None
    error: str = ""
    code: str = "completion.failed"
    failure_class: FailureClass = "permanent_business"
    verb: str = ""
    override: str = ""
    """Why an administrator answers a human task for others."""
    accepts: bool = False
    """It is what an agent proposed there."""
    wait: str = ""
    """The name of the wait it is for; empty for whichever the key stands for."""
    seen: str = ""
    """What somebody saw who answers a human task."""


class Planned(msgspec.Struct, frozen=True):
    """What a completion means to the plan its step belongs to."""

    known: Known
    change: c.Change | None = None
    payloads: list[tuple[bytes, bytes]] = []
    data: Any = None
    is_decision: bool = False


class Receipt(NamedTuple):
    """What became of something that arrived."""

    answer: str
    message_id: str
    aggregate: Aggregate | None
    reason: str = ""


_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(Completion)


def read_completion(message_id: str, body: bytes) -> Completion:
    """A completion as it was kept; UnreadableFormError when its bytes are none."""
    try:
        return _decoder.decode(body)
    except (ValueError, RecursionError) as error:
        fact = f"its bytes cannot be read ({type(error).__name__}: {error})"
        hint = "Discard it, and have it sent again under a new message id."
        raise UnreadableFormError("read", "dead letter", message_id, fact[:300], hint) from error


class Inbox:
    """At least once in, exactly once out."""

    def __init__(self, conductor: CallExecutor, sources: Sources) -> None:
        self._conductor = conductor
        self._kernel = conductor.kernel
        self._store = conductor.store
        self._sources = sources
        self.fan_out = FanOut(conductor.store, conductor.catalogue, sources, self._reach)
        conductor.claim(self._claim_early)

    async def complete(self, completion: Completion, origin: Origin, message_id: str = "") -> Receipt:
        """End a wait. The message id defaults to one derived from content and wait, so a repeat is recognised."""
        _check(completion, message_id)
        return await self._deliver(completion, origin, message_id, is_replay=False)

    async def _deliver(self, completion: Completion, origin: Origin, message_id: str, is_replay: bool) -> Receipt:
        found, trouble = await self._find(completion, origin)
        if found is None and (shared := await self._shared(completion, origin, message_id)) is not None:
            return shared
        message_id = message_id or _derived_id(completion, found, await self._joint_answer(found, origin))
        if found is None:
            return await self._bury(completion, origin, message_id, trouble, is_replay)
        try:
            answer = await self._answer(completion, origin, message_id, found, is_replay)
        except RejectedError as error:
            if error.rejection.code != "blocked" or error.rejection.thing == "task" or is_replay:
                raise
            return await self._bury(completion, origin, message_id, f"blocked: {error}", is_replay)
        if answer.conflict is not None and answer.conflict.what != "inbox":
            fact = f"'{answer.conflict.key}' is taken"
            raise RejectedError(Rejection("blocked", "complete", "key", completion.key, fact))
        if answer.conflict is not None:
            return await self._known(completion, origin, message_id, found)
        return Receipt(answer.answer, message_id, answer.aggregate)

    async def _joint_answer(self, found: Found | None, origin: Origin) -> str:
        """Who answers, where the same answer of somebody else is another message: several people are asked."""
        if found is None:
            return ""
        state: Runbook = (await self._kernel.recall(found.aggregate, origin, has_step(found.step))).state
        step = state.steps[found.step - 1]
        task = step.tokens[found.token - 1].task if found.token <= len(step.tokens) else None
        if task is None or not joint_groups(task.groups):
            return ""
        return f"{origin.principal} {len(task.given)}"

    async def _shared(self, completion: Completion, origin: Origin, message_id: str) -> Receipt | None:
        """Ends every wait that shares the key; None when none does."""
        verbs = self.fan_out.verbs(completion.verb)
        names = sorted({verb.name for verb in verbs})
        upto = await self.fan_out.upto(names, completion.key, origin.tenant) if names else 0
        if upto and completion.wait:
            upto = min(upto, read_name(completion.wait).upto)
            upto = upto if await self.fan_out.has_any(names, completion.key, origin.tenant, upto) else 0
        if not upto:
            return None
        if completion.status == "completed":
            for verb in verbs:
                self._conductor.router.outgoing(verb, {} if completion.result is None else completion.result)
        body = _encode(completion)
        message_id = message_id or derived_id(body, upto)
        reached = await self.fan_out.send(completion.key, body, names, upto, origin, message_id)
        if reached is None:
            return await self._known(completion, origin, message_id, None)
        return Receipt("applied", message_id, None, f"{reached} waits ended")

    async def _reach(self, body: bytes, found: Found, origin: Origin, message_id: str) -> None:
        await self._answer(_decoder.decode(body), origin, message_id, found, False)

    async def _answer(
        self, completion: Completion, origin: Origin, message_id: str, found: Found, is_replay: bool
    ) -> Answer:
        """Put it to the call; a decision is read against the plan as it is, and again when that changed meanwhile."""
        for _ in range(MAX_TRIES):
            aggregate = await self._kernel.recall(found.aggregate, origin, has_step(found.step))
            planned, question = None, await self._asked(aggregate, found.step)
            if aggregate.state.course is not None and question is None:
                planned = await self._planned(completion, found, aggregate)
            documents = await self.documents_shown(aggregate, found.step)
            prepare = self._preparation(completion, origin, message_id, found, is_replay, planned, documents, question)
            try:
                return await self._kernel.ask(KIND, found.aggregate, origin, prepare)
            except RejectedError:
                change = planned.change if planned is not None else None
                if change is None or not change.added or not await self._has_changed(found, origin, change.base):
                    raise
        raise RejectedError(Rejection("blocked", "complete", "key", completion.key, "its plan kept changing"))

    async def _asked(self, aggregate: Aggregate, number: int) -> Question | None:
        """What the agent of a step asks, when that is what is answered."""
        state: Runbook = aggregate.state
        if not 1 <= number <= len(state.steps):
            return None
        return await question_at(self._store, aggregate.id, state.steps[number - 1])

    async def documents_shown(self, aggregate: Aggregate, number: int) -> bytes:
        """The hash of the documents that the arguments of a waiting step, or what it proposes, refer to."""
        shown, state = self._conductor.launcher.shown_documents, aggregate.state
        step: Step | None = state.steps[number - 1] if 1 <= number <= len(state.steps) else None
        if shown is None or step is None or state.erased_at or all(token.task is None for token in step.tokens):
            return b""

        async def read() -> list[Any]:
            hashes = [each for each in (step.input, step.proposal) if each]
            found = [await self._store.payload(aggregate.id, each) for each in hashes]
            return [msgspec.json.decode(each) for each in found if each is not None]

        return await shown(aggregate.tenant, read)

    async def _has_changed(self, found: Found, origin: Origin, base: bytes) -> bool:
        state = (await self._kernel.read(found.aggregate, origin)).state
        return state.course is not None and base_of(state) != base

    async def _planned(self, completion: Completion, found: Found, aggregate: Aggregate) -> Planned:
        """What a completion means to a plan: what follows from it, and what a person decided."""
        plans, known = self._conductor.plans, Known()
        if found.step <= len(aggregate.state.steps):
            known = await plans.foresee(aggregate, found.step)
            step: Step = aggregate.state.steps[found.step - 1]
            verb = self._conductor.texts.find(step.verb, step.version, step.definition)
            if verb is not None and verb.execution.decision and completion.status == "completed":
                data, decision = decision_in(completion.result)
                brought = Attachments()
                change = await self._conductor.decisions.change(aggregate, decision, brought)
                return Planned(known, change, brought.payloads, data, True)
        return Planned(known)

    async def _find(self, completion: Completion, origin: Origin) -> tuple[Found | None, str]:
        tokens = await (self._named(completion, origin) if completion.wait else self.tokens(completion.key, origin))
        if completion.verb:
            tokens = [token for token in tokens if _same(token.name, completion.verb)]
        waiting = [token for token in tokens if token.status == WAITING]
        if len(waiting) > 1:
            names = ", ".join(sorted(token.name for token in waiting))
            return None, f"ambiguous_key: several verbs wait under it ({names}); name one"
        if not tokens:
            return None, "unknown_key: nothing waits or ever waited under it"
        return (waiting or tokens)[0], ""

    async def name(self, key: str, origin: Origin) -> str:
        """The name of what waits under a key now; of what waited last where nothing does."""
        tokens = await self.tokens(key, origin)
        waiting = [token for token in tokens if token.status == WAITING]
        names = sorted({verb.name for verb in self.fan_out.verbs("")})
        upto = await self.fan_out.upto(names, key, origin.tenant) if names else 0
        return name_of(waiting or tokens[:1], upto)

    async def tokens(self, key: str, origin: Origin) -> list[Found]:
        """What waits or waited under a key."""
        return await self._own_tokens(key, origin) or list(await self._store.find_tokens(origin.tenant, key))

    async def _named(self, completion: Completion, origin: Origin) -> list[Found]:
        """The waits a completion is for, whatever waits under its key by now."""
        found: list[Found] = []
        for place in read_name(completion.wait).places:
            try:
                state: Runbook = (await self._kernel.read(place.aggregate, origin)).state
            except RejectedError:
                continue
            tokens = state.steps[place.step - 1].tokens if place.step <= len(state.steps) else ()
            for token in tokens[place.token - 1 : place.token]:
                found.append(Found(place.aggregate, place.step, place.token, token.name, token.status))
        return found

    async def _own_tokens(self, key: str, origin: Origin) -> list[Found]:
        """Tokens under a call's own id or a step's: found without looking the key up."""
        letters, _, rest = key.partition(":")
        if len(letters) != ID_LENGTH:
            return []
        try:
            if rest:
                found = own_tokens(await self._kernel.recall(parse_id(letters), origin), key)
                if any(token.status == WAITING for token in found):
                    return found
            # Another process may have parked it since: memory may say where a wait is, never that there is none.
            return own_tokens(await self._kernel.read(parse_id(letters), origin), key)
        except RejectedError:
            return []

    def _preparation(
        self,
        completion: Completion,
        origin: Origin,
        message_id: str,
        found: Found,
        is_replay: bool,
        planned: Planned | None,
        documents: bytes,
        question: Question | None = None,
    ) -> Preparation:
        def prepare(aggregate: Aggregate) -> Prepared | Rejection:
            state: Runbook = aggregate.state
            place = _place(aggregate, completion, found)
            step = state.steps[place.step - 1]
            who = Person(origin.principal, origin.groups, completion.override, origin.behind)
            if refused := refusal(step, place, who, id_text(aggregate.id)):
                return refused
            verb = self._conductor.texts.find(step.verb, step.version, step.definition)
            if verb is None:
                return Rejection(
                    "blocked", "complete", "call", id_text(aggregate.id),
                    f"its verb '{step.verb}' version {step.version} is not loaded here",
                    "Complete it where the verb's definition is loaded.",
                )  # fmt: skip
            brought = Attachments()
            result, failure, is_expired = None, None, False
            token = step.tokens[place.token - 1] if place.token <= len(step.tokens) else None
            match completion.status:
                case "completed" if step.question and token is not None and token.status != WAITING:
                    result = digest(canonical(completion.result))  # an answer that comes too late changes nothing
                case "completed" if question is not None and step.is_asking:
                    told = canonical(check_answer(question, completion.result))
                    result = digest(told)
                    brought.payloads.append((result, told))
                case "completed":
                    value = planned.data if planned is not None and planned.is_decision else completion.result
                    cargo = self._conductor.router.outgoing(verb, {} if value is None else value)
                    result = cargo.hash
                    brought.payloads.append((cargo.hash, cargo.data))
                    brought.index.extend(index_rows(verb, cargo.value))
                case "failed":
                    failure = _failure(completion)
                case "expired":
                    is_expired = True
                case _:
                    assert_never(completion.status)
            given = _given(token.task if token is not None else None, completion)
            brought.payloads.extend(given)
            answer = "applied" if token is not None and token.status == WAITING else "duplicate"
            # A dead letter has its row already; another one says that it was sent on, so that this happens once.
            arrival, kind = (f"{message_id}/replay", "replay") if is_replay else (message_id, "completion")
            brought.settles = (origin.tenant, message_id) if is_replay else None
            brought.inbox = InboxRow(
                origin.tenant, arrival, kind, completion.key, self._sources.now(), APPLIED, answer, aggregate.id, None,
            )  # fmt: skip
            command = c.Complete(
                place.step,
                place.token,
                result,
                failure,
                is_expired,
                message_id,
                who=who,
                accepts=completion.accepts,
                seen=completion.seen,
                answer=given[0][0] if given else b"",
                documents=documents,
            )
            if token is not None and token.task is not None and not is_last(token.task, seen_by_asked(step, documents)):
                return Prepared(command, Attachments(payloads=given, inbox=brought.inbox, settles=brought.settles))
            if question is not None and self._conductor.router.can_run(verb):
                command = msgspec.structs.replace(command, worker=self._conductor.number)
            if planned is None:
                return Prepared(command, brought)
            if result is not None:
                self._conductor.documents.keep(result, cargo.value, len(cargo.data))
            brought.payloads.extend(planned.payloads)
            command = msgspec.structs.replace(command, worker=self._conductor.number, change=planned.change)
            return self._conductor.launcher.together(aggregate.id, state, command, origin, brought, planned.known)

        return prepare

    async def _bury(
        self, completion: Completion, origin: Origin, message_id: str, reason: str, is_replay: bool
    ) -> Receipt:
        if is_replay:
            raise RejectedError(Rejection("blocked", "replay", "dead letter", message_id, reason))
        await check_room(self._store, origin.tenant, message_id)
        row = InboxRow(
            origin.tenant, message_id, "completion", completion.key, self._sources.now(), DEAD, reason, None,
            _encode(completion),
        )  # fmt: skip
        conflict = await self._store.commit(Unit(origin.tenant, None, attachments=[Attachments(inbox=row)]))
        if conflict is not None:
            return await self._known(completion, origin, message_id, None)
        await self._erase_with_call(row, origin)
        return Receipt("dead_letter", message_id, None, reason)

    async def _erase_with_call(self, letter: InboxRow, origin: Origin) -> None:
        """A letter that came before its call was erased goes with it: who commits second sees what the other did."""
        try:
            id = parse_id(letter.key[:ID_LENGTH])
            state = (await self._kernel.read(id, origin)).state
        except PerdureError:
            return
        if getattr(state, "erased_at", 0) > letter.received_at:
            await self._store.erase_around(origin.tenant, id)

    async def _known(self, completion: Completion, origin: Origin, message_id: str, found: Found | None) -> Receipt:
        """The message id is known: what became of it, unless it was a dead letter that can be delivered by now."""
        message = await self._store.message(origin.tenant, message_id)
        if message is None:
            raise InvariantBroken("find", "message", message_id, "the store says that it came and does not have it")
        aggregate = None
        if message.key != completion.key and (found is None or message.aggregate != found.aggregate):
            fact = f"that message id arrived before under the key '{message.key}'"
            hint = "Give every message an id of its own."
            raise RejectedError(Rejection("already_exists", "complete", "key", completion.key, fact, hint))
        if found is not None and message.status == DEAD:
            return await self._deliver(completion, origin, message_id, is_replay=True)
        if message.aggregate is not None:
            aggregate = await self._kernel.read(Id(message.aggregate), origin)
        return Receipt("duplicate", message_id, aggregate, message.answer)

    async def _claim_early(self, aggregate: Aggregate, steps: Sequence[int]) -> None:
        """What a handler asked for outside may be answered before its call has parked: such an answer is not lost."""
        state: Runbook = aggregate.state
        letters, origin = id_text(aggregate.id), Origin(aggregate.tenant, "perdure")
        for number in steps:
            step = state.steps[number - 1]
            for token in step.tokens:
                own = (letters,) if step.links is None else ()
                keys = (token_key(letters, number, token), *own) if token.status == WAITING else ()
                for key in keys:
                    await self._claim_letters(key, state.started_at, origin)

    async def _claim_letters(self, key: str, since: int, origin: Origin) -> None:
        try:
            for message_id in await self._store.early_letters(origin.tenant, key, since):
                await self.replay(message_id, origin)
        except PerdureError:
            return  # it stays among the dead letters, where a person finds it

    async def progress(self, key: str, text: str, origin: Origin, wait: str = "") -> Receipt:
        """Say how it goes; shown, never resumes. A named wait must not be over."""
        text = text.strip()
        if not text or len(text) > MAX_TEXT:
            fact = "it is empty" if not text else f"it has {len(text)} characters and may have {MAX_TEXT}"
            raise RejectedError(Rejection("invalid", "post progress to", "key", key, fact))
        check_key("post progress to", "key", key)
        found, trouble = await self._find(Completion(key, wait=wait), origin)
        if found is None:
            raise RejectedError(Rejection("not_found", "post progress to", "key", key, trouble))
        if wait and found.status != WAITING:
            raise RejectedError(Rejection("wrong_state", "post progress to", "key", key, "its wait is over"))
        answer = await self._kernel.ask(KIND, found.aggregate, origin, Prepared(c.PostProgress(found.step, text)))
        return Receipt(answer.answer, "", answer.aggregate)

    async def dead_letters(self, origin: Origin, most: int = 1000) -> list[DeadLetter]:
        return await self._store.dead_letters(origin.tenant, most)

    async def replay(self, message_id: str, origin: Origin, key: str = "") -> Receipt:
        """Deliver a dead letter again, perhaps under a corrected key."""
        completion = read_completion(message_id, await self._dead(message_id, origin, "replay"))
        if key:
            check_key("replay to", "key", key)
            completion = msgspec.structs.replace(completion, key=key, wait="")
        return await self._deliver(completion, origin, message_id, is_replay=True)

    async def discard(self, message_id: str, reason: str, origin: Origin) -> None:
        """Close a dead letter without acting on it."""
        await self._dead(message_id, origin, "discard")
        answer = f"discarded by {origin.principal}: {reason}"
        if not await self._store.discard_message(origin.tenant, message_id, answer):
            raise _dealt_with("discard", message_id)

    async def _dead(self, message_id: str, origin: Origin, do: str) -> bytes:
        message = await self._store.message(origin.tenant, message_id)
        if message is None:
            raise RejectedError(
                Rejection(
                    "not_found", do, "dead letter", message_id, "there is none", "See `perdure dead-letters list`."
                )
            )
        if message.status != DEAD or message.body is None:
            raise _dealt_with(do, message_id)
        return message.body


def _failure(completion: Completion) -> Failure:
    return Failure(completion.failure_class, completion.code, completion.error[:MAX_TEXT])


def _same(name: str, other: str) -> bool:
    return name.replace("_", "-") == other.replace("_", "-")


def _dealt_with(do: str, message_id: str) -> RejectedError:
    return RejectedError(Rejection("wrong_state", do, "dead letter", message_id, "it was dealt with already"))


def _check(completion: Completion, message_id: str) -> None:
    """Refuse at the door what could not be stored, or not be read again."""
    check_key("complete", "key", completion.key)
    fact = ""
    if completion.status == "completed" and completion.error:
        fact = "both a result and an error were given"
    elif completion.status not in get_args(CompletionStatus):
        fact = f"'{completion.status}' is not one of {', '.join(get_args(CompletionStatus))}"
    elif completion.failure_class not in FAILURE_CLASSES:
        fact = f"'{completion.failure_class}' is not one of {', '.join(FAILURE_CLASSES)}"
    elif message_id.startswith(NOTICE):
        fact = f"message ids that begin with '{NOTICE}' are the platform's own"
    if fact:
        raise RejectedError(Rejection("invalid", "complete", "key", completion.key, fact))
    if message_id:
        check_key("take", "message id", message_id)


def own_tokens(aggregate: Aggregate, key: str) -> list[Found]:
    """The tokens of a call that its own id or a step's stands for, the newest of each step first."""
    if aggregate.kind != KIND:
        return []
    letters = id_text(aggregate.id)
    named = key[len(letters) + 1 :].partition("/")[0] if key.startswith(f"{letters}:") else ""
    steps = aggregate.state.steps
    if named.isdecimal():
        numbered = [(int(named), steps[int(named) - 1])] if 1 <= int(named) <= len(steps) else []
    else:
        numbered = list(enumerate(steps, 1))
    return [
        Found(aggregate.id, number, position, token.name, token.status)
        for number, step in numbered
        for position, token in reversed(list(enumerate(step.tokens, 1)))
        if key.lower() == letters or token_key(letters, number, token) == key
    ]


def _place(aggregate: Aggregate, completion: Completion, found: Found) -> Found:
    """The wait as it is now: a call addressed by its own id may have come to another one since it was looked up."""
    if completion.wait or len(completion.key) != ID_LENGTH:
        return found
    waiting = [each for each in own_tokens(aggregate, completion.key) if each.status == WAITING]
    named = [each for each in waiting if not completion.verb or _same(each.name, completion.verb)]
    return named[0] if len(named) == 1 else found


def _derived_id(completion: Completion, found: Found | None, by: str = "") -> str:
    """The same content for the same wait is the same message; for a later wait under the same key it is another."""
    wait = [completion.key, completion.verb] if found is None else [id_text(found.aggregate), found.step, found.token]
    wait = [*wait, by] if by else wait
    content = canonical([
        *wait, completion.status, completion.result, completion.error, completion.code,
    ])  # fmt: skip
    return "auto-" + digest(content)[:16].hex()


def _given(task: HumanTask | None, completion: Completion) -> list[tuple[bytes, bytes]]:
    """The answer as a payload of its own, where several people have to give the same."""
    if task is None or not joint_groups(task.groups):
        return []
    result: dict[str, Any] = {"data": {} if completion.result is None else completion.result}
    ended = {"status": completion.status, "error": completion.error, "code": completion.code}
    told = canonical(result if completion.status == "completed" else ended)
    return [(digest(told), told)]


def refusal(step: Step, place: Found, who: Person, letters: str) -> Rejection | None:
    """Whoever may not answer a human task is not told either what would be wrong with the answer."""
    token = step.tokens[place.token - 1] if place.token <= len(step.tokens) else None
    if token is None or token.task is None or token.status != WAITING:
        return None
    return unanswerable(token.task, who, f"{letters}:{place.step}")

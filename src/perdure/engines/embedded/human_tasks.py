"""Human tasks are claimed, handed on and completed; incidents are retried or resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from perdure.bpmn.contract.mirrors import STATE_WRITER
from perdure.bpmn.machine.aggregate_ids import INSTANCE
from perdure.bpmn.machine.commands import (
    ClaimTask,
    Command,
    CompleteTask,
    DelegateTask,
    ReassignTask,
    ResolveIncident,
    RetryIncident,
    UnclaimTask,
)
from perdure.bpmn.machine.human_tasks import seen_in
from perdure.bpmn.machine.journal_entries import TaskCompleted
from perdure.engine import Flags, InstanceName, Until
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.messages.message_payload import Brought, MessageIntake
from perdure.errors import InvariantBroken, RejectedError, Rejection
from perdure.human_tasks import Person, is_last, joint_groups, over, unanswerable, unseen_question
from perdure.identifiers import check_key
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Answer, Prepared
from perdure.kernel.ports import APPLIED, Attachments, InboxRow
from perdure.overrides import Guard
from perdure.payload import canonical, digest
from perdure.processes.called_process_tasks import tasks_below
from perdure.processes.instance_reader import instance_id
from perdure.runbooks.machine.runbook_machine import NOTICE
from perdure.sources import Id, id_text
from perdure.typed_reading import read_json
from perdure.verb_contract import ConsequenceTier
from perdure.work.agents.questions import Question, check_answer, stored_question


class HumanTasks:
    """What only a person decides."""

    def __init__(self, instances: Instances, arrivals: MessageIntake) -> None:
        self._instances = instances
        self._arrivals = arrivals

    async def claim_task(
        self, instance: InstanceName, node: int, origin: Origin, *, release: bool = False, override: str = ""
    ) -> Aggregate:
        """Take a task, or give it back."""
        who = person(origin, override)
        command = UnclaimTask(node=node, who=who) if release else ClaimTask(node=node, who=who)
        return await self._act(instance, node, origin, command)

    async def delegate_task(
        self, instance: InstanceName, node: int, origin: Origin, *, to: str, override: str = ""
    ) -> Aggregate:
        """Hand a task to another person."""
        command = DelegateTask(node=node, who=person(origin, override), to=to)
        return await self._act(instance, node, origin, command)

    async def reassign_task(
        self, instance: InstanceName, node: int, origin: Origin, *, to: str = "", groups: str = "", override: str = ""
    ) -> Aggregate:
        """Give a task to another person or to groups."""
        command = ReassignTask(node=node, who=person(origin, override), to=to, groups=groups)
        return await self._act(instance, node, origin, command)

    async def _act(self, instance: InstanceName, node: int, origin: Origin, command: Command) -> Aggregate:
        id = instance_id(instance)
        try:
            return _told(await self._instances.ask(id, origin, Prepared(command)))
        except RejectedError as error:
            raise await self._told_why(error, id, node, origin) from None

    async def _told_why(self, error: RejectedError, id: Id, node: int, origin: Origin) -> RejectedError:
        """A task that is gone was perhaps completed: then the refusal says by whom."""
        if error.rejection.code != "wrong_state":
            return error
        for told in await self._instances.history(id, origin):
            for entry in told.entries:
                if isinstance(entry, TaskCompleted) and entry.number == node:
                    return RejectedError(over(error.rejection.do, f"{id_text(id)}:{node}", by=entry.by))
        return error

    async def complete_task(
        self,
        instance: InstanceName,
        node: int,
        origin: Origin,
        *,
        data: Mapping[str, Any] | None = None,
        flags: Flags | None = None,
        writer: str = "",
        message_id: str = "",
        override: str = "",
        until: Until = "committed",
        seen: str = "",
    ) -> Aggregate:
        """End a task; under one message id it ends once, however often that is sent.

        The instance is followed `until` it has come that far.
        """
        id = instance_id(instance)
        if message_id:
            _check_message_id(message_id, id)

        who, key = person(origin, override), f"{id_text(id)}:{node}"
        documents, asked = await self._documents(id, origin), await self._asked(id, node, origin)

        def make(aggregate: Aggregate) -> Prepared | Rejection:
            if refused := _strange(aggregate, node, who, key):
                return refused
            told = _to_agent(aggregate, node, asked, data, key)
            if isinstance(told, Rejection):
                return told
            brought = told or self._arrivals.of_task(aggregate, node, data, by=origin.principal, key=message_id or key)
            given, is_last = _given(aggregate, node, data, flags, writer, documents)
            attached = Attachments(payloads=[*(brought.payloads if is_last else ()), *given])
            if message_id:
                attached.inbox = self._arrival(message_id, id, node, origin)
            command = CompleteTask(
                node=node, who=who, head=brought.head, message=brought.message,
                flags={**(flags or {}), **brought.flags}, writer=STATE_WRITER if brought.flags else writer,
                message_id=message_id, worker=self._instances.worker_of(aggregate), seen=seen,
                answer=given[0][0] if given else b"", documents=documents,
            )  # fmt: skip
            return Prepared(command, attached)

        try:
            if until == "committed":
                answer = await self._instances.ask(id, origin, make)
            else:
                answer = await self._instances.ask_until(id, origin, make, until)
        except RejectedError as error:
            if message_id and await self._is_known(message_id, id, node, origin):
                return await self._instances.read_until(id, origin, until)
            raise await self._told_why(error, id, node, origin) from None
        if answer.conflict is None:
            return _told(answer)
        if await self._is_known(message_id, id, node, origin):
            return await self._instances.read_until(id, origin, until)
        fact, hint = "that message id arrived before for something else", "Give every message an id of its own."
        raise RejectedError(Rejection("already_exists", "complete a task of", "instance", id_text(id), fact, hint))

    async def _asked(self, id: Id, node: int, origin: Origin) -> Question | None:
        """What the agent of a job asks, when that is what is answered."""
        known = self._instances.kernel.remembered(id)
        found = known.state.nodes.get(node) if known is not None and known.kind == INSTANCE else None
        if found is not None and found.job is None:
            return None  # a user task of the model
        found = (await self._instances.read(id, origin)).state.nodes.get(node)
        if found is None or found.job is None or not found.job.is_asking:
            return None
        data = await self._instances.store.payload(id, found.job.question)
        return read_json(data, Question) if data is not None else None

    async def _documents(self, id: Id, origin: Origin) -> bytes:
        """The documents that the payload of an instance refers to, as they are now."""
        reader = self._instances.reader
        if reader.shown_documents is None:
            return b""

        async def read() -> Any:
            return await reader.data(await self._instances.read(id, origin))

        return await reader.shown_documents(origin.tenant, read)

    async def _is_known(self, message_id: str, id: Id, node: int, origin: Origin) -> bool:
        """Whether this completion came before under the same message id."""
        message = await self._instances.store.message(origin.tenant, message_id)
        return message is not None and (message.kind, message.key) == ("task", f"{id_text(id)}:{node}")

    def _arrival(self, message_id: str, id: Id, node: int, origin: Origin) -> InboxRow:
        now = self._instances.sources.now()
        return InboxRow(
            origin.tenant, message_id, "task", f"{id_text(id)}:{node}", now, APPLIED, "applied", id, None
        )  # fmt: skip

    async def retry_incident(
        self, instance: InstanceName, node: int, origin: Origin, *, flags: Flags | None = None, reason: str = "",
        agreed: ConsequenceTier | Literal[""] = "",
    ) -> Aggregate:  # fmt: skip
        """Try again what is stuck; `agreed` is the consequence that somebody agreed to who was asked."""
        unseen: tuple[Guard, ...] = ()
        if flags:
            before = await self._instances.read(instance, origin)
            unseen = await tasks_below(self._instances.reader, before, (), (), origin, flags)

        def make(aggregate: Aggregate) -> Prepared:
            worker = self._instances.worker_of(aggregate)
            return Prepared(RetryIncident(
                node=node, flags=dict(flags or {}), reason=reason, worker=worker, unseen=unseen, agreed=agreed,
            ))  # fmt: skip

        return _told(await self._instances.ask(instance_id(instance), origin, make))

    async def resolve_incident(
        self,
        instance: InstanceName,
        node: int,
        origin: Origin,
        *,
        data: Mapping[str, Any] | None = None,
        flags: Flags | None = None,
        error: str = "",
        reason: str = "",
    ) -> Aggregate:
        """End what is stuck by hand: as if it had completed with these, or with a business error."""

        before = await self._instances.read(instance, origin)
        unseen = await tasks_below(self._instances.reader, before, (node,), (), origin, flags)
        given = digest(canonical(dict(data))) if data is not None else b""

        def make(aggregate: Aggregate) -> Prepared:
            brought = self._arrivals.by_hand(aggregate, node, data, by=origin.principal)
            command = ResolveIncident(
                node=node, head=brought.head, flags={**(flags or {}), **brought.flags}, error=error, reason=reason,
                worker=self._instances.worker_of(aggregate), data=given, unseen=unseen,
            )  # fmt: skip
            return Prepared(command, Attachments(payloads=list(brought.payloads)))

        return _told(await self._instances.ask(instance_id(instance), origin, make))


def person(origin: Origin, override: str = "") -> Person:
    """Who acts, with the groups that the caller vouches for."""
    return Person(origin.principal, origin.groups, override, origin.behind)


def _to_agent(
    aggregate: Aggregate, node: int, asked: Question | None, data: Mapping[str, Any] | None, key: str
) -> Brought | Rejection | None:
    """What an answer brings to the agent that asked; None where no agent did."""
    found = aggregate.state.nodes.get(node)
    if found is None or found.job is None or not found.job.is_asking:
        return None
    if asked is None or stored_question(asked)[0] != found.job.question:
        return unseen_question(key)
    told = canonical(check_answer(asked, dict(data or {})))
    return Brought(message=digest(told), payloads=((digest(told), told),))


def _strange(aggregate: Aggregate, node: int, who: Person, key: str) -> Rejection | None:
    """Whoever may not answer is not told either what would be wrong with the answer."""
    found = aggregate.state.nodes.get(node)
    if found is None or found.kind != "task" or found.task is None:
        return None
    return unanswerable(found.task, who, key)


def _given(
    aggregate: Aggregate, node: int, data: Mapping[str, Any] | None, flags: Flags | None, writer: str, documents: bytes
) -> tuple[tuple[tuple[bytes, bytes], ...], bool]:
    """The answer as a payload of its own where several people give it, and whether it is the last that is awaited."""
    found = aggregate.state.nodes.get(node)
    task = found.task if found is not None else None
    if task is None or not joint_groups(task.groups):
        return (), True
    told = canonical(dict(data=dict(data or {}), **({"flags": dict(flags), "writer": writer} if flags else {})))
    return ((digest(told), told),), is_last(task, seen_in(aggregate.state, node, documents))


def _told(answer: Answer) -> Aggregate:
    if answer.aggregate is None:
        raise InvariantBroken("answer", "command", "?", "nothing was committed and nothing was refused")
    return answer.aggregate


def _check_message_id(message_id: str, id: Id) -> None:
    check_key("take", "message id", message_id)
    if message_id.startswith(NOTICE):
        fact = f"message ids that begin with '{NOTICE}' are the platform's own"
        raise RejectedError(Rejection("invalid", "complete a task of", "instance", id_text(id), fact))

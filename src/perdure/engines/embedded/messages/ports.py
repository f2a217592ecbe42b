"""Ports of messages: the calls by which messages and signals reach instances and processes."""

from __future__ import annotations

from perdure.bpmn.contract.mirrors import STATE_WRITER
from perdure.bpmn.machine.commands import Correlate
from perdure.bpmn.machine.process_machine import ProcessState
from perdure.engine import StartRequest
from perdure.engines.embedded.instances.instances import Instances
from perdure.engines.embedded.messages.envelope import MessageEnvelope
from perdure.engines.embedded.messages.message_payload import MessageIntake
from perdure.errors import MergeConflictError, PayloadTooLargeError, RejectedError, Rejection, SchemaViolationError
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import Attachments, WaitFound
from perdure.sources import Id


class MessageTargets:
    """Letters become commands; what does not fit is refused with the reason."""

    def __init__(self, instances: Instances, arrivals: MessageIntake) -> None:
        self._instances = instances
        self._arrivals = arrivals

    def merge(self, aggregate: Aggregate, watch: int, letter: MessageEnvelope) -> Prepared | Rejection:
        """The command that ends a wait, with what the letter brings merged or kept for the wait's intake."""
        try:
            brought = self._arrivals.of_watch(
                aggregate, watch, letter.data, by=letter.principal or letter.name, key=letter.message_id
            )  # fmt: skip
        except (SchemaViolationError, PayloadTooLargeError, MergeConflictError) as error:
            fact = error.fact or str(error)
            return Rejection("invalid", "accept", "message", letter.name, f"what it brings does not fit: {fact}")
        command = Correlate(
            watch=watch, message_id=letter.message_id, head=brought.head, message=brought.message,
            flags={**letter.flags, **brought.flags},
            writer=STATE_WRITER if brought.flags else letter.writer, worker=self._instances.worker_of(aggregate),
        )  # fmt: skip
        return Prepared(command, Attachments(payloads=list(brought.payloads)))

    async def start(
        self, found: WaitFound, id: Id, letter: MessageEnvelope, origin: Origin, brought: Attachments
    ) -> Aggregate:
        """Begin an instance of the process whose start event waited; under an id that exists it is that one."""
        state: ProcessState = (await self._instances.kernel.read(found.aggregate, origin)).state
        version = state.latest()
        if version is None or found.step >= len(version.starts):
            fact = "no version of it starts instances any more"
            raise RejectedError(Rejection("wrong_state", "start", "process", state.process, fact))
        request = StartRequest(
            process=state.process, version=version.number, data=letter.data, flags=letter.flags,
            start=version.starts[found.step].event, business_key=letter.correlation_key,
        )  # fmt: skip
        try:
            return await self._instances.start(
                request, origin, id=id, brought=brought, message_id=letter.message_id, is_pinned=True
            )  # fmt: skip
        except (SchemaViolationError, PayloadTooLargeError) as error:
            raise RejectedError(Rejection("invalid", "start", "process", state.process, error.fact)) from error

"""The workflow client: dispatches to workflows of instances, and the errors of the server in our words."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
from temporalio.client import (
    Client,
    RPCError,
    WithStartWorkflowOperation,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCStatusCode, TLSConfig

from perdure.bpmn.machine.commands import StartInstance
from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.engines.temporal.address import TemporalAddress
from perdure.engines.temporal.instance_workflow import UNANSWERED
from perdure.engines.temporal.payload_codec import HashedPayloads, data_converter
from perdure.engines.temporal.payload_keys import read_keys
from perdure.engines.temporal.wire import (
    DECIDE,
    SHADOW,
    STATUS,
    WORKFLOW,
    Begun,
    Dispatch,
    Reply,
    ShadowJournal,
    encode,
    read_reply,
)
from perdure.errors import EngineSettingError, EngineUnavailableError, PayloadIntegrityError
from perdure.sources import Id, id_text

ANSWER_SECONDS = 20.0
"""How long an update may take; without a worker of the namespace nobody answers."""
CONNECT_SECONDS = 5.0
MAX_DECISIONS = 800
"""Decisions after which a run of a workflow is continued as a new one."""
BUSINESS_KEY = SearchAttributeKey.for_keyword("PerdureBusinessKey")


class WorkflowGone(Exception):
    """The workflow of an instance does not run."""


def workflow_id(id: bytes, run: str = "") -> str:
    """The workflow of an instance; one that was moved there has a run's name of its own behind it."""
    return f"perdure-{id_text(Id(id))}" + (f"-{run}" if run else "")


class WorkflowClient:
    """One per process; connected when first needed, and again after the server was away."""

    def __init__(self, address: TemporalAddress, engine: str) -> None:
        self.address = address
        self._engine = engine
        self._codec = HashedPayloads(read_keys(address.encryption, address.text) if address.encryption else None)
        self.queue = ""
        self.has_attributes = False
        self.grace_seconds = 5.0
        self.max_decisions = MAX_DECISIONS
        self._client: Client | None = None
        self._connecting = asyncio.Lock()
        self.last_failure = ""
        """Why the server did not answer the last time; empty when it did."""

    @property
    def is_encrypted(self) -> bool:
        """Whether payloads are; then no search attribute holds what a process waits for or is about."""
        return self._codec.is_sealing

    async def connected(self) -> Client:
        async with self._connecting:
            if self._client is None:
                self._client = await self._connect()
        return self._client

    async def _connect(self) -> Client:
        address = self.address
        try:
            tls: Any = _tls(address) if address.is_tls else bool(address.api_key)
            return await asyncio.wait_for(
                Client.connect(
                    address.target, namespace=address.namespace, tls=tls, api_key=address.api_key,
                    data_converter=data_converter(self._codec),
                ),
                CONNECT_SECONDS,
            )  # fmt: skip
        except OSError as error:
            fact = f"a file it needs cannot be read: {error}"
            raise EngineSettingError("open", "engine", address.text, fact) from error
        except (RuntimeError, TimeoutError, RPCError) as error:
            raise self._unavailable("reach", str(error) or "it does not answer") from error

    def _unavailable(self, do: str, fact: str) -> EngineUnavailableError:
        if self._codec.refused is not None:  # by the worker of this process: why the workflow does not answer
            self.last_failure = self._codec.refused.fact
            return self._codec.refused
        self.last_failure = fact = " ".join(fact.split())[:300]
        hint = "Dispatches are kept and sent again until it answers."
        return EngineUnavailableError(do, "engine", self.address.text, fact, hint)

    async def start(self, id: Id, tenant: str, dispatch: Dispatch, command: StartInstance) -> Reply:
        """Begin the workflow of an instance with its first command; one that runs already is asked."""
        client = await self.connected()
        begun = Begun(
            instance=id, tenant=tenant, semantics=InstanceMachine.semantics, has_attributes=self.has_attributes,
            is_encrypted=self.is_encrypted, grace_seconds=self.grace_seconds,
            max_decisions=self.max_decisions, engine=self._engine,
        )  # fmt: skip
        operation: Any = WithStartWorkflowOperation(
            WORKFLOW, encode(begun), id=workflow_id(id), task_queue=self.queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            static_summary=f"{command.process} {command.process_version}",
            search_attributes=self._attributes(command),
        )  # fmt: skip

        async def send() -> bytes:
            answer: bytes = await client.execute_update_with_start_workflow(
                DECIDE, encode(dispatch), start_workflow_operation=operation, id=_update_id(dispatch),
                result_type=bytes, rpc_timeout=timedelta(seconds=ANSWER_SECONDS),
            )  # fmt: skip
            return answer

        return await self._answered(send)

    def _attributes(self, command: StartInstance) -> TypedSearchAttributes:
        if not self.has_attributes or not command.business_key or self.is_encrypted:
            return TypedSearchAttributes.empty
        return TypedSearchAttributes([SearchAttributePair(BUSINESS_KEY, command.business_key[:255])])

    async def begin(self, run: str, begun: Begun) -> None:
        """Begin the workflow of an instance that was moved; one of this name begins once, for good."""
        client = await self.connected()
        begun = msgspec.structs.replace(
            begun, has_attributes=self.has_attributes, is_encrypted=self.is_encrypted, grace_seconds=self.grace_seconds,
            max_decisions=self.max_decisions,
        )  # fmt: skip

        async def send() -> bytes:
            await client.start_workflow(
                WORKFLOW, encode(begun), id=workflow_id(begun.instance, run), task_queue=self.queue,
                id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
                rpc_timeout=timedelta(seconds=ANSWER_SECONDS),
            )  # fmt: skip
            return b""

        with suppress(WorkflowGone):  # it has begun, and has ended since
            await self._sent(send)

    async def shadow(self, id: Id, journal: ShadowJournal) -> bytes:
        """The hash of the state that a journal leads to, replayed by a worker of the namespace."""
        client = await self.connected()

        async def send() -> bytes:
            found: bytes = await client.execute_workflow(
                SHADOW, encode(journal), id=f"{workflow_id(id)}-shadow", task_queue=self.queue, result_type=bytes,
                id_conflict_policy=WorkflowIDConflictPolicy.TERMINATE_EXISTING,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
                execution_timeout=timedelta(seconds=ANSWER_SECONDS), rpc_timeout=timedelta(seconds=ANSWER_SECONDS),
            )  # fmt: skip
            return found

        try:
            return await self._sent(send)
        except WorkflowFailureError as error:
            raise self._unavailable("replay on", f"the shadow run failed: {error.cause}") from error

    async def ask(self, id: Id, dispatch: Dispatch, run: str = "") -> Reply:
        """Bring a command to the workflow of an instance; WorkflowGone when it does not run."""
        client = await self.connected()
        handle = client.get_workflow_handle(workflow_id(id, run))

        async def send() -> bytes:
            answer: bytes = await handle.execute_update(
                DECIDE, encode(dispatch), id=_update_id(dispatch), result_type=bytes,
                rpc_timeout=timedelta(seconds=ANSWER_SECONDS),
            )  # fmt: skip
            return answer

        return await self._answered(send)

    async def end(self, id: Id, reason: str) -> None:
        """Terminate the workflow of an instance that it must not decide; one that does not run is left."""
        handle = (await self.connected()).get_workflow_handle(workflow_id(id))
        try:
            await handle.terminate(reason=reason, rpc_timeout=timedelta(seconds=ANSWER_SECONDS))
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise self._unavailable("ask", f"{error.status.name.lower()}: {error.message}") from error

    async def is_running(self, id: Id, run: str = "") -> bool:
        """Whether the workflow of an instance runs now, whichever run of it."""
        handle = (await self.connected()).get_workflow_handle(workflow_id(id, run))
        try:
            found = await handle.describe(rpc_timeout=timedelta(seconds=ANSWER_SECONDS))
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise self._unavailable("ask", f"{error.status.name.lower()}: {error.message}") from error
        return found.status is WorkflowExecutionStatus.RUNNING

    async def status(self, id: Id) -> tuple[int, int, int]:
        """The version of a workflow, the decisions it keeps for us, and its runs."""
        client = await self.connected()
        handle = client.get_workflow_handle(workflow_id(id))

        async def send() -> bytes:
            answer: bytes = await handle.query(STATUS, result_type=bytes, rpc_timeout=timedelta(seconds=ANSWER_SECONDS))
            return answer

        return msgspec.msgpack.decode(await self._sent(send), type=tuple[int, int, int])

    async def _answered(self, send: Any) -> Reply:
        try:
            return read_reply(await self._sent(send))
        except WorkflowUpdateFailedError as error:
            cause = error.cause
            if isinstance(cause, ApplicationError) and cause.type == UNANSWERED:
                return read_reply(cause.details[0])
            if isinstance(cause, ApplicationError) and cause.type == "AcceptedUpdateCompletedWorkflow":
                raise WorkflowGone("it ended meanwhile") from error
            raise self._unavailable("ask", f"its workflow refused: {cause}") from error

    async def _sent(self, send: Any) -> bytes:
        try:
            # The server's own limit may lie beyond ours: a caller is told in time.
            answer: bytes = await asyncio.wait_for(send(), ANSWER_SECONDS + 5)
        except WorkflowAlreadyStartedError as error:
            raise WorkflowGone("it has ended") from error
        except (WorkflowUpdateRPCTimeoutOrCancelledError, TimeoutError) as error:
            fact = f"nobody answered within {ANSWER_SECONDS:.0f} seconds: task queue '{self.queue}' needs a worker"
            raise self._unavailable("ask", fact) from error
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                raise WorkflowGone(error.message) from error
            raise self._unavailable("ask", f"{error.status.name.lower()}: {error.message}") from error
        except PayloadIntegrityError as error:
            raise self._unavailable("ask", f"its answer cannot be read: {error.fact}") from error
        self.last_failure = ""
        return answer


def _update_id(dispatch: Dispatch) -> str:
    return dispatch.id.rpartition("/")[2]


def _tls(address: TemporalAddress) -> TLSConfig:
    def read(path: str) -> bytes | None:
        return Path(path).read_bytes() if path else None

    return TLSConfig(
        server_root_ca_cert=read(address.ca), client_cert=read(address.cert), client_private_key=read(address.key)
    )

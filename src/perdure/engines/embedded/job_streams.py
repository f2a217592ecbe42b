"""Job streams: jobs of some types handed to a worker outside the handlers of this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Self, assert_never

from perdure.engine import Flags
from perdure.engines.embedded.instances.instances import Instances
from perdure.errors import BusinessError, ContractError, Transient, TransientInfrastructure
from perdure.verb_contract import FailureClass
from perdure.verbs import Call, Result

FAILED = "job.failed"
GONE = "The worker that had it is gone."


class StreamedJob:
    """A job whose attempt waits for the answer."""

    def __init__(self, call: Call) -> None:
        self.type = call.verb
        self.key = call.idempotency_key
        self.instance = call.call_id
        self.attempt = call.attempt
        self.args: Mapping[str, Any] = call.args
        self.answer: asyncio.Future[Result] = asyncio.get_running_loop().create_future()

    async def complete(self, data: Mapping[str, Any] | None = None, flags: Flags | None = None) -> None:
        self._answer(Result(dict(data or {}), dict(flags or {})))

    async def fail(self, message: str, kind: FailureClass = "transient_external") -> None:
        self._answer(_failure(message, kind))

    async def throw(self, code: str, message: str = "") -> None:
        self._answer(BusinessError(code, message))

    def _answer(self, answer: Result | Exception) -> None:
        """The first answer counts, and none when the attempt was given up."""
        if self.answer.done():
            return
        if isinstance(answer, Result):
            self.answer.set_result(answer)
        else:
            self.answer.set_exception(answer)


class EmbeddedJobStream:
    """Takes the place of handlers while it is open."""

    def __init__(self, instances: Instances, types: Sequence[str]) -> None:
        self._ready: asyncio.Queue[StreamedJob] = asyncio.Queue()
        self._given: set[StreamedJob] = set()
        self._instances = instances
        self._types = types
        instances.lend(types, self._offer)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamedJob:
        return await self._ready.get()

    async def close(self) -> None:
        self._instances.lend(self._types, None)
        for job in self._given:
            job._answer(Transient(GONE))

    async def _offer(self, call: Call) -> Result:
        job = StreamedJob(call)
        self._given.add(job)
        self._ready.put_nowait(job)
        try:
            return await job.answer
        finally:
            self._given.discard(job)


def _failure(message: str, kind: FailureClass) -> Exception:
    """What a handler would have raised for a failure of that class."""
    match kind:
        case "transient_external":
            return Transient(message)
        case "transient_infrastructure":
            return TransientInfrastructure(message)
        case "permanent_business":
            return BusinessError(FAILED, message)
        case "permanent_contract":
            return ContractError(message)
        case _:
            assert_never(kind)

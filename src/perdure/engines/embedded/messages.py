"""Messages, provisionally: to the one wait that fits."""

from __future__ import annotations

from typing import Any

from perdure.bpmn.machine.commands import Correlate
from perdure.engine import Flags, MessageOutcome
from perdure.engines.embedded.arrivals import Arrivals
from perdure.engines.embedded.instances import Instances
from perdure.journal import Origin
from perdure.kernel.kernel import Aggregate, Prepared
from perdure.kernel.ports import Attachments


class Messages:
    def __init__(self, instances: Instances, arrivals: Arrivals) -> None:
        self._instances = instances
        self._arrivals = arrivals

    async def publish(
        self, name: str, key: str, origin: Origin, *, message_id: str = "", ttl_seconds: float = 0,
        data: Any = None, flags: Flags | None = None, writer: str = "",
    ) -> MessageOutcome:  # fmt: skip
        found = await self._instances.store.find_waits(origin.tenant, "message", name, key)
        for wait in found:

            def make(aggregate: Aggregate, wait: Any = wait) -> Prepared:
                brought = self._arrivals.of_watch(aggregate, wait.token, data, by=origin.principal, key=message_id)
                command = Correlate(
                    watch=wait.token, message_id=message_id, head=brought.head, message=brought.message,
                    flags=dict(flags or {}), writer=writer, worker=self._instances.worker_of(aggregate),
                )  # fmt: skip
                return Prepared(command, Attachments(payloads=list(brought.payloads)))

            await self._instances.ask(wait.aggregate, origin, make)
            return "correlated"
        return "no_subscription"

    async def correlate(self, name: str, key: str, origin: Origin, **more: Any) -> MessageOutcome:
        return await self.publish(name, key, origin, **more)

    async def signal(
        self, name: str, origin: Origin, *, message_id: str = "", data: Any = None, flags: Flags | None = None
    ) -> int:
        return 0

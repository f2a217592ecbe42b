"""The shadow workflow: replays the journal of an instance where it is to be moved, and decides nothing."""

from __future__ import annotations

from temporalio import workflow

from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.cron import next_cron
from perdure.engines.move_certificates import replayed
from perdure.engines.temporal.wire import SHADOW, read_shadow
from perdure.payload import digest


@workflow.defn(name=SHADOW)
class ShadowWorkflow:
    """Ends with the hash of the state that the journal leads to."""

    @workflow.run
    async def run(self, body: bytes) -> bytes:
        machine = InstanceMachine({}, next_cron)
        state = replayed(machine, list(read_shadow(body).records))
        return digest(machine.encode(state)) if state is not None else b""

"""A workflow of the name of ours that asks for other things, as a release that forgot old histories would bring."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow

from perdure.engines.temporal.wire import DECIDE, WORKFLOW


@workflow.defn(name=WORKFLOW)
class OtherWorkflow:
    @workflow.run
    async def run(self, body: bytes) -> bytes:
        await workflow.execute_activity("perdure.other", start_to_close_timeout=timedelta(seconds=1))
        return body

    @workflow.update(name=DECIDE)
    async def decide(self, body: bytes) -> bytes:
        return body

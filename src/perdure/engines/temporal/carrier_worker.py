"""The carrier worker: it hosts workflows and runs activities as long as our process works."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from temporalio.client import RPCError
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from perdure.engines.temporal.instance_workflow import InstanceWorkflow
from perdure.engines.temporal.server_check import check_namespace, check_permissions, has_attributes, lacking_attributes
from perdure.engines.temporal.shadow_workflow import ShadowWorkflow
from perdure.engines.temporal.worker_build import WorkerBuild, build_id, deployment_config
from perdure.engines.temporal.workflow_client import WorkflowClient
from perdure.errors import EngineSettingError, EngineUnavailableError
from perdure.sources import SECOND, Sources

PASSED_THROUGH = ("perdure", "msgspec", "cronsim")
"""Modules that the sandbox shares: msgspec looks annotations up in `sys.modules` at the first decoding."""
WORKFLOWS = [InstanceWorkflow, ShadowWorkflow]
PAUSE = 2 * SECOND
MAX_JOBS = 200
STOP_SECONDS = timedelta(0)
"""Attempts of jobs end before the worker does; what is left of activities is tried elsewhere."""

log = logging.getLogger("perdure")


class CarrierWorker:
    """Begun with our process; a server that is away is tried again."""

    def __init__(self, client: WorkflowClient, activities: Sequence[Callable[..., Any]], sources: Sources) -> None:
        self._client = client
        self._activities = activities
        self._sources = sources
        self._task: asyncio.Task[None] | None = None
        self._worker: Worker | None = None
        self._build: WorkerBuild | None = None

    async def open(self) -> None:
        """Check the server and begin; a server that cannot be reached keeps nobody from opening."""
        try:
            self._worker = await self._made()
        except EngineUnavailableError as error:
            log.warning("%s", error)
        self._task = asyncio.create_task(self._serve())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _made(self) -> Worker:
        client = await self._client.connected()
        address = self._client.address
        await check_namespace(client, address)
        await check_permissions(client, address, self._client.queue)
        self._client.has_attributes = await has_attributes(client, address)
        if not self._client.has_attributes:
            log.info("%s", lacking_attributes(address))
        self._build = WorkerBuild(self._client.queue, build_id(address.build), self._sources)
        is_pinned = await self._build.look(client)
        runner = SandboxedWorkflowRunner(
            restrictions=SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH)
        )
        return Worker(
            client, task_queue=self._client.queue, workflows=WORKFLOWS, activities=self._activities,
            workflow_runner=runner, max_concurrent_activities=MAX_JOBS, graceful_shutdown_timeout=STOP_SECONDS,
            max_cached_workflows=address.cached,
            deployment_config=deployment_config(self._build.queue, self._build.build) if is_pinned else None,
        )  # fmt: skip

    async def _settle_build(self) -> None:
        if self._build is not None and self._build.is_known_to_server:
            await self._build.settle(await self._client.connected())

    async def _serve(self) -> None:
        while True:
            try:
                worker = self._worker or await self._made()
                self._worker = None
                settling = asyncio.create_task(self._settle_build())
                try:
                    await worker.run()
                finally:
                    settling.cancel()
                    await asyncio.gather(settling, return_exceptions=True)
            except EngineUnavailableError as error:
                log.debug("%s", error)
            except EngineSettingError as error:  # somebody mends it, there or here, and nobody else waits for that
                log.warning("%s", error)
            except (RPCError, RuntimeError) as error:
                log.warning("the worker of %s ended and begins again: %s", self._client.address.text, error)
            await self._sources.sleep(PAUSE)

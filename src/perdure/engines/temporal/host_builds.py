"""Host builds on Temporal: which build each workflow is pinned to, and whether its history replays with this code.

| asked | of |
|---|---|
| the build of a workflow | the server, workflow by workflow |
| whether workers of a build ask for work | the server, by the pollers of the queue |
| whether this code could host it | its recorded history, replayed here with the workflow code of this process |
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client, RPCError
from temporalio.service import RPCStatusCode
from temporalio.worker import Replayer
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from perdure.engine import HostBuild, HostBuilds
from perdure.engines.embedded.ports import EngineStore
from perdure.engines.instance_carrier import MARK, PLATFORM
from perdure.engines.temporal.carrier_worker import PASSED_THROUGH, WORKFLOWS
from perdure.engines.temporal.worker_build import build_id
from perdure.engines.temporal.workflow_client import WorkflowClient, workflow_id
from perdure.errors import EngineUnavailableError
from perdure.kernel.kernel import Aggregate
from perdure.sources import id_text

MAX_LOOKED = 500
"""Workflows that are asked about, the newest."""
REPLAYED = 5
"""Histories of each build that are replayed."""
EXAMPLES = 5
ANSWER = timedelta(seconds=5)


class WorkflowBuilds:
    """Of one engine; nothing is changed by looking."""

    def __init__(self, name: str, client: WorkflowClient, store: EngineStore) -> None:
        self._name, self._client, self._store = name, client, store

    async def look(self, instances: Sequence[Aggregate]) -> HostBuilds:
        mark = await self._store.message(PLATFORM, MARK)
        if mark is None or not instances:
            return HostBuilds()
        try:
            client = await self._client.connected()
            return await self._looked(client, f"perdure-{mark.key}", instances)
        except EngineUnavailableError as error:
            return HostBuilds((), (f"engine '{self._name}' cannot be reached: {error.fact}",))
        except RPCError as error:
            return HostBuilds((), (f"engine '{self._name}' does not tell its builds: {error.message}",))

    async def _looked(self, client: Client, queue: str, instances: Sequence[Aggregate]) -> HostBuilds:
        found: dict[str, list[Aggregate]] = {}
        unknown, gone = [], 0
        for each in instances[:MAX_LOOKED]:
            build = await self._build_of(client, each)
            if build is not None:
                found.setdefault(build, []).append(each)
            else:
                gone += 1
        working = await self._working(client, queue)
        builds = [await self._build(client, queue, build, each, working) for build, each in sorted(found.items())]
        if gone:
            unknown.append(f"{gone:,} instances have no workflow in '{self._name}'")
        if len(instances) > MAX_LOOKED:
            told = f"only the newest {MAX_LOOKED} of {len(instances):,} workflows of '{self._name}' were asked about"
            unknown.append(told)
        return HostBuilds(tuple(builds), tuple(unknown))

    def _workflow(self, instance: Aggregate) -> str:
        state = instance.state
        return workflow_id(instance.id, state.carrier_run if state.carrier == self._name else "")

    async def _build_of(self, client: Client, instance: Aggregate) -> str | None:
        """The build that a workflow is pinned to; None of one that the server does not know."""
        try:
            found = await client.get_workflow_handle(self._workflow(instance)).describe(rpc_timeout=ANSWER)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise
        info = found.raw_description.workflow_execution_info
        return str(info.versioning_info.deployment_version.build_id)

    async def _working(self, client: Client, queue: str) -> set[str]:
        """The builds of the workers that ask for work of the queue."""
        request = DescribeTaskQueueRequest(namespace=client.namespace, task_queue=TaskQueue(name=queue))
        answer = await client.workflow_service.describe_task_queue(request, timeout=ANSWER)
        return {each.deployment_options.build_id for each in answer.pollers}

    async def _build(
        self, client: Client, queue: str, build: str, instances: Sequence[Aggregate], working: set[str]
    ) -> HostBuild:  # fmt: skip
        replayed, failure = 0, ""
        for each in instances[:REPLAYED]:
            failure = await self._replay(client, self._workflow(each))
            replayed += 1
            if failure:
                break
        return HostBuild(
            engine=self._name, build=build, current=build_id(self._client.address.build), deployment=queue,
            count=len(instances), instances=tuple(id_text(each.id) for each in instances[:EXAMPLES]),
            is_working=bool(working) if not build else build in working, replayed=replayed, failure=failure,
        )  # fmt: skip

    async def _replay(self, client: Client, workflow: str) -> str:
        """What differs when a workflow's history is replayed with this code; empty when nothing does."""
        history = await client.get_workflow_handle(workflow).fetch_history()
        restrictions = SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH)
        replayer = Replayer(
            workflows=WORKFLOWS, data_converter=client.data_converter,
            workflow_runner=SandboxedWorkflowRunner(restrictions=restrictions),
        )  # fmt: skip
        found = await replayer.replay_workflow(history, raise_on_replay_failure=False)
        return " ".join(str(found.replay_failure or "").split())[:300]

"""The build of a carrier worker: instances stay with the code that began them, new ones go to the newest.

| this build | current build of the store | what a worker does |
|---|---|---|
| any | none | makes its build the current one |
| never seen | another | makes its build the current one: new instances begin there |
| seen before | another | serves what began with it, and says how it is made current again |

A server without worker deployments gives every instance to any worker.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from temporalio.api.workflowservice.v1 import DescribeWorkerDeploymentRequest, SetWorkerDeploymentCurrentVersionRequest
from temporalio.client import Client, RPCError
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.service import RPCStatusCode
from temporalio.worker import WorkerDeploymentConfig

from perdure.bpmn.machine.instance_machine import InstanceMachine
from perdure.errors import EngineUnavailableError
from perdure.sources import SECOND, Sources

HOST = 1
"""The version of the workflow that hosts the machine. It is raised with every change that a replay would notice."""
ANSWER = timedelta(seconds=5)
PAUSE = SECOND
MAX_TRIES = 60
AWAY = frozenset({RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED})

log = logging.getLogger("perdure")


def build_id(own: str = "") -> str:
    """The build of this release: what decides (`semantics`), what hosts it, and a name of the user's own."""
    return f"h{HOST}-s{InstanceMachine.semantics}" + (f"-{own}" if own else "")


def deployment_config(queue: str, build: str) -> WorkerDeploymentConfig:
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(queue, build), use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )  # fmt: skip


class WorkerBuild:
    """The build of one worker, in the deployment of its store."""

    def __init__(self, queue: str, build: str, sources: Sources) -> None:
        self.queue = queue
        self.build = build
        self._sources = sources
        self.current = ""
        """The build that begins instances now; empty as long as none does."""
        self.is_new = True
        self.is_known_to_server = False

    async def look(self, client: Client) -> bool:
        """Learn which builds there are; whether the server has worker deployments at all."""
        request = DescribeWorkerDeploymentRequest(namespace=client.namespace, deployment_name=self.queue)
        try:
            found = await client.workflow_service.describe_worker_deployment(request, timeout=ANSWER)
        except RPCError as error:
            if error.status in AWAY:
                raise EngineUnavailableError("reach", "engine", client.namespace, error.message) from error
            self.is_known_to_server = error.status is RPCStatusCode.NOT_FOUND
            return self.is_known_to_server
        info = found.worker_deployment_info
        self.is_known_to_server = True
        self.current = info.routing_config.current_deployment_version.build_id
        self.is_new = self.build not in {each.deployment_version.build_id for each in info.version_summaries}
        return True

    async def settle(self, client: Client) -> None:
        """Make this build the current one where it is to be; else say which one is."""
        if self.current == self.build:
            return
        if self.current and not self.is_new:
            log.warning("%s", self.older)
            return
        for _ in range(MAX_TRIES):  # until the server has seen the worker ask for work
            try:
                await self._make_current(client)
            except RPCError as error:
                failure = error
            else:
                log.info("new instances begin with build %s", self.build)
                self.current = self.build
                return
            await self._sources.sleep(PAUSE)
        log.warning("build %s could not be made the current one: %s. %s", self.build, failure.message, self.hint)

    async def _make_current(self, client: Client) -> None:
        request = SetWorkerDeploymentCurrentVersionRequest(
            namespace=client.namespace, deployment_name=self.queue, build_id=self.build, identity=client.identity,
            version=f"{self.queue}.{self.build}",
        )  # fmt: skip
        await client.workflow_service.set_worker_deployment_current_version(request, timeout=ANSWER)

    @property
    def older(self) -> str:
        return (
            f"New instances begin with build {self.current}; this process has build {self.build} and serves only what "
            f"began with it. {self.hint}"
        )

    @property
    def hint(self) -> str:
        return (
            f"Make it current: temporal worker deployment set-current-version --deployment-name {self.queue} "
            f"--build-id {self.build}."
        )

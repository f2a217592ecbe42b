"""A cluster that counts its keys from the beginning: what a key stands for already is taken for nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.engines.camunda.address import read_address
from perdure.engines.camunda.job_worker import JobWorker
from perdure.engines.camunda.key_rows import Frame, KeyRows
from perdure.engines.camunda.wire import ActivatedJob, Request
from perdure.errors import InvariantBroken
from perdure.sources import Id, SystemSources
from perdure.testing import Sandbox


class Commands:
    """Commands of an engine that carries every instance."""

    async def is_foreign(self, id: Id) -> bool:
        return False


class Client:
    def __init__(self) -> None:
        self.address = read_address("camunda://localhost:8080")
        self.sent: list[Request] = []

    async def send(self, request: Request) -> dict[str, Any]:
        self.sent.append(request)
        return {}


class Worker(JobWorker):
    """A worker whose journal has every instance, and nothing that waits for a job."""

    async def _state(self, *given: Any) -> Any:
        return given

    async def _standing(self, *given: Any) -> None:
        return None

    async def _replay(self, *given: Any) -> None:
        raise AssertionError("nothing of another instance is sent")


async def test_a_key_of_another_instance_is_bound_to_none_and_told() -> None:
    async with Sandbox.open("sqlite://") as sandbox:
        keys, sources = KeyRows(sandbox.runtime.store, SystemSources(), "camunda"), SystemSources()
        first, second = sources.new_id(), sources.new_id()
        assert await keys.bind(first, "1") == "1"
        assert await keys.bind(first, "2") == "1", "a twin is told by the key of the first"
        with pytest.raises(InvariantBroken, match="stands for another instance already"):
            await keys.bind(second, "1")
        assert await keys.key_of(second) == ""


async def test_a_job_whose_key_stands_for_a_job_of_another_instance_is_refused() -> None:
    async with Sandbox.open("sqlite://") as sandbox:
        sources, client, nothing = SystemSources(), Client(), None
        keys = KeyRows(sandbox.runtime.store, sources, "camunda")
        first, second = sources.new_id(), sources.new_id()
        await keys.bind_job("9", Frame(first, 7, 1))
        await keys.bind(second, "2")
        parts: list[Any] = [nothing, nothing, Commands(), keys, client, sources]
        job = ActivatedJob("9", "t.one", "2", "5", "one", "6", 3, {})
        await Worker(*parts).take(job)
        (refused,) = client.sent
        assert refused.path == "/jobs/9/failure"
        assert "is it the same cluster?" in refused.body["errorMessage"]

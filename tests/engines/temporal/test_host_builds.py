"""Builds that nobody can tell of are said to be unknown, never taken for granted."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from perdure.app.deployments.carrier_builds import carrier_impact
from perdure.engine import HostBuild
from perdure.engines.temporal.address import read_address
from perdure.engines.temporal.host_builds import WorkflowBuilds
from perdure.engines.temporal.workflow_client import WorkflowClient
from perdure.testing.server_process import free_ports

BUILD = HostBuild(
    engine="temporal", build="h1-s1", current="h2-s1", deployment="perdure-x", count=3, instances=("a",),
    is_working=True, replayed=3,
)  # fmt: skip


class Marked:
    """A store that was opened with Temporal once."""

    async def message(self, tenant: str, name: str) -> Any:
        return SimpleNamespace(key="x")


@pytest.mark.req("V13")
async def test_a_server_that_does_not_answer_leaves_its_builds_unknown() -> None:
    (port,) = free_ports(1)
    client = WorkflowClient(read_address(f"temporal://127.0.0.1:{port}/default"), "temporal")
    store: Any = Marked()
    instance: Any = SimpleNamespace()
    found = await WorkflowBuilds("temporal", client, store).look([instance])
    assert found.builds == ()
    assert found.unknown[0].startswith("engine 'temporal' cannot be reached: ")
    assert (await WorkflowBuilds("temporal", client, store).look([])).unknown == ()


@pytest.mark.req("V13")
@pytest.mark.parametrize(
    ("changes", "verdict", "why"),
    [
        ({}, "migrates", "--versioning-override-build-id h2-s1"),
        ({"failure": "no such activity"}, "stays_pinned", "(no such activity): keep workers of h1-s1"),
        ({"is_working": False}, "migrates", "no worker of build h1-s1 asks for work now"),
        ({"build": "h2-s1"}, "goes_on", ""),
        ({"build": ""}, "goes_on", ""),
        ({"build": "", "failure": "other"}, "stays_pinned", "keep workers of the release before"),
        ({"build": "", "is_working": False}, "goes_on", "no worker of any build asks for work now"),
    ],
)
def test_the_verdict_on_a_build_follows_from_whose_it_is_and_whether_it_replays(
    changes: dict[str, Any], verdict: str, why: str
) -> None:
    found = carrier_impact(replace(BUILD, **changes))
    assert found.verdict == verdict
    assert why in found.reason and bool(why) == bool(found.reason)

"""The router: however a handler ends, the attempt ends too."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure import Perdure
from perdure.errors import Transient
from tests.runbooks.world import catalogue

DEFINITIONS = """
- name: odd.handler
  description: Ends in an odd way
  execution: {kind: sync}
"""


def stops(call: Any) -> dict[str, Any]:
    return next(iter([]))


async def waits_for_something_cancelled(call: Any) -> dict[str, Any]:
    other = asyncio.get_running_loop().create_future()
    other.cancel()
    return await other


@pytest.mark.req("V16")
@pytest.mark.parametrize("handler", [stops, waits_for_something_cancelled])
async def test_a_handler_that_ends_oddly_has_failed(sqlite_url: str, handler: Any) -> None:
    async with Perdure.open(sqlite_url, definitions=catalogue(DEFINITIONS), handlers={"odd.handler": handler}) as it:
        async with asyncio.timeout(30):
            view = await it.call("odd.handler")
        assert view.error is not None and (view.state, view.error.code) == ("failed", "handler.error")


@pytest.mark.req("V16")
async def test_an_outcome_that_cannot_be_recorded_is_an_incident_not_a_job_that_runs_for_ever(sqlite_url: str) -> None:
    retries = DEFINITIONS.replace("kind: sync", "kind: sync, retry: {max_attempts: 3}")

    async def odd(call: Any) -> dict[str, Any]:
        raise Transient("later", after=float("inf"))

    async with Perdure.open(sqlite_url, definitions=catalogue(retries), handlers={"odd.handler": odd}) as it:
        view = await it.call("odd.handler")
        assert view.waiting_for is not None and view.waiting_for.code == "attempt.unrecorded"

"""A durable verb's call is carried by a process: begun once, ended once, whatever happens in between."""

from __future__ import annotations

import pytest

from tests.engine.models import line, message, service, wait
from tests.engine.world import ORIGIN, opened

CARRIED = line(
    "carried", service("a", "t.one"), wait("answer", "m"), service("b", "t.two"), messages=(message("m", key="k"),)
)  # fmt: skip


@pytest.mark.req("V17")
@pytest.mark.req("V25")
async def test_a_call_ends_with_what_its_process_made_of_its_arguments(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(CARRIED)
        call = await world.sandbox.call("t.carried", {"given": 7})
        assert call.state == "parked"
        await world.sandbox.run_until_idle()

        assert await world.engine.publish("m", "k", ORIGIN, data={"extra": "x"}) == "correlated"
        await world.sandbox.run_until_idle()
        call = await world.sandbox.status(call.id)
        assert (call.state, call.result) == ("completed", {"t_one": 1, "extra": "x"})
        assert world.handlers.runs == {"t.one": 1, "t.two": 1}

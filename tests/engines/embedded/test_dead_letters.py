"""Messages nobody could take are listed with the others, and a person delivers or closes them."""

from __future__ import annotations

import pytest

from perdure.errors import RejectedError
from perdure.sources import id_text
from tests.engines.embedded.engine_world import opened
from tests.engines.embedded.process_models import line, message, wait

pytestmark = pytest.mark.both_stores

MODEL = line("waiting", wait("asked", "m"), messages=(message("m", key="k-1"),))


@pytest.mark.req("V19")
async def test_a_message_several_instances_wait_for_is_given_to_one_by_hand(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(MODEL)
        first, second = [await world.start("waiting") for _ in range(2)]
        assert await world.sandbox.publish("m", "k-1", message_id="news") == "ambiguous"
        (letter,) = await world.sandbox.dead_letters()
        assert (letter["message_id"], letter["kind"], letter["key"]) == ("news", "message", "k-1")
        with pytest.raises(RejectedError, match="ambiguous"):
            await world.sandbox.replay("news")
        assert (await world.sandbox.replay("news", instance=id_text(second.id))).answer == "correlated"
        assert (await world.now(first)).state.status == "active"
        assert (await world.now(second)).state.status == "completed"
        assert await world.sandbox.dead_letters() == []


@pytest.mark.req("V19")
async def test_a_message_nobody_waits_for_is_closed_by_hand(store_url: str) -> None:
    async with opened(store_url) as world:
        await world.deploy(MODEL)
        await world.sandbox.publish("m", "k-1", message_id="news")
        await world.sandbox.discard("news", "sent by mistake")
        assert await world.sandbox.dead_letters() == []
        with pytest.raises(RejectedError, match="dealt with already"):
            await world.sandbox.replay("news")

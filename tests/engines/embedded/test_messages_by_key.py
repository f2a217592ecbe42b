"""What a sender sees: a message ends the wait of its name and key, once, and is kept where it comes early."""

from __future__ import annotations

import pytest

from tests.engines.embedded.engine_world import opened
from tests.engines.embedded.process_models import line, message, wait

VERBS = """
- name: d.ask
  input_schema: {required: [case], properties: {case: {type: string}}}
  output_schema: {properties: {page: {type: integer}}}
  execution:
    kind: durable
    process: asking
    flags: {orch_case: {type: string, once: true, initial: $case}}
"""


@pytest.mark.both_stores
@pytest.mark.req("V19")
async def test_a_message_ends_the_one_wait_of_its_name_and_key_at_once_or_when_it_opens(store_url: str) -> None:
    async with opened(store_url, verbs=VERBS) as world:
        await world.deploy(line("asking", wait("asked", "m"), messages=(message("m", flag="orch_case"),)))
        sandbox, ids = world.sandbox, {}
        for case in ("c-1", "c-2"):
            ids[case] = (await sandbox.call("d.ask", {"case": case})).id
        await sandbox.run_until_idle()
        sent = [await sandbox.publish("m", "c-1", {"page": 1}, message_id="one") for _ in range(2)]
        assert sent == ["correlated", "duplicate"]
        assert await sandbox.publish("m", "c-3", {"page": 3}, message_id="early", ttl_seconds=60) == "buffered"
        assert await sandbox.publish("m", "c-4", {"page": 4}, message_id="too early", ttl_seconds=60) == "buffered"
        ids["c-3"] = (await sandbox.call("d.ask", {"case": "c-3"})).id
        await sandbox.run_until_idle()
        await sandbox.advance("PT2M")
        ids["c-4"] = (await sandbox.call("d.ask", {"case": "c-4"})).id
        await sandbox.run_until_idle()
        ends = {case: await sandbox.status(id) for case, id in ids.items()}
        assert {case: end.state for case, end in ends.items()} == {
            "c-1": "completed", "c-2": "parked", "c-3": "completed", "c-4": "parked",
        }  # fmt: skip
        assert (ends["c-1"].result["page"], ends["c-3"].result["page"]) == (1, 3)
        assert [each["message_id"] for each in await sandbox.dead_letters()] == ["too early"]

"""A message finds its wait by the id of the call or of the step, and no verb copies an id for that."""

from __future__ import annotations

import pytest

from perdure.errors import DefinitionError
from perdure.verbs import load_text
from tests.engines.embedded.engine_world import opened
from tests.engines.embedded.process_models import line, message, wait

pytestmark = pytest.mark.both_stores

VERBS = """
- name: d.ask
  execution:
    kind: durable
    process: asking
    flags:
      orch_call: {type: string, once: true, initial: $call_id}
      orch_step: {type: string, once: true, initial: $step_id}
"""


@pytest.mark.req("V38", "V19")
@pytest.mark.parametrize(("flag", "key"), [("orch_call", "{}"), ("orch_step", "{}:2")])
async def test_a_message_is_correlated_by_the_id_of_the_call_or_of_the_step(
    store_url: str, flag: str, key: str
) -> None:
    async with opened(store_url, verbs=VERBS) as world:
        await world.deploy(line("asking", wait("asked", "m"), messages=(message("m", flag=flag),)))
        run = await world.sandbox.runbooks.start("(d.ask :as @a)\n(d.ask :as @b :after [@a])")
        await world.sandbox.run_until_idle()
        first = key.format(run.id).replace(":2", ":1")
        assert await world.sandbox.correlate("m", first) == "correlated"
        await world.sandbox.run_until_idle()
        assert await world.sandbox.correlate("m", key.format(run.id)) == "correlated"
        await world.sandbox.run_until_idle()
        assert (await world.sandbox.runbooks.show(run.id)).state == "completed"


def test_a_flag_that_holds_no_text_cannot_hold_an_id() -> None:
    with pytest.raises(DefinitionError, match="cannot hold the call_id"):
        load_text(VERBS.replace("orch_call: {type: string, once: true,", "orch_call: {type: integer,"))

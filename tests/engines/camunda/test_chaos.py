"""A hundred instances under way while broker, worker and bridge are killed, and the wire doubles and delays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines.camunda.conftest import Cluster
from tests.engines.temporal.conftest import OurProcess

pytestmark = pytest.mark.deep
COUNT = 100


def recorded(shown: dict[str, list[list[str]]]) -> list[list[str]]:
    """What a journal records but for leases, of which a killed worker leaves more than one."""
    return [entries for entries in shown["entries"] if entries != ["JobStarted"]]


@pytest.mark.timeout(400)
@pytest.mark.req("V13")
def test_a_hundred_instances_survive_kills_of_broker_worker_and_bridge(
    cluster: Cluster, opened: Callable[..., OurProcess], tmp_path: Path
) -> None:
    bridge = opened()
    bridge.ask("deploy")
    calm = bridge.ask("start", process="short", key="calm", n=0)
    assert bridge.ask("reached", instance=calm, element="completed") == "completed"
    undisturbed = bridge.ask("show", instance=calm)

    bridge.ask("disturb")
    ids = bridge.ask("starts", process="short", count=COUNT)
    worker = opened()
    worker.ask("disturb")
    bridge.kill()
    assert worker.ask("starts", process="short", count=COUNT) == ids, "asked again, each start is the same instance"
    cluster.broker.kill()
    bridge = opened()
    worker.kill()
    cluster.broker.start()
    bridge.ask("disturb")
    for id in ids:
        assert bridge.ask("reached", instance=id, element="completed") == "completed"

    ran = Counter((tmp_path / "runs.log").read_text().splitlines())
    assert set(ran) == {f"{id}/{element}/1" for id in (calm, *ids) for element in ("a", "b")}, "each under its key"
    for n, id in enumerate(ids):
        shown = bridge.ask("show", instance=id)
        assert recorded(shown) == recorded(undisturbed), "results are recorded once"
        assert (shown["data"], shown["sequence"]) == ({**undisturbed["data"], "n": n}, sorted(shown["sequence"]))
        assert not cluster.is_open(bridge.ask("key", instance=id)), "it has ended in Camunda as well"
    assert bridge.ask("disturbances") > COUNT, "the wire did double and delay"
    assert bridge.ask("audit") == []

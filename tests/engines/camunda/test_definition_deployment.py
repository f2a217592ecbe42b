"""A definition that a cluster was sent stays known as sent, whatever the settings are later."""

from __future__ import annotations

from typing import Any

from perdure.engines.camunda.address import read_address
from perdure.engines.camunda.definition_deployment import DefinitionDeployment
from perdure.engines.camunda.key_rows import KeyRows
from perdure.sources import SystemSources
from perdure.testing import Sandbox
from tests.engines.camunda.test_carried_model import deployed
from tests.engines.embedded.process_models import line, user

PROCESS = deployed(line("p", user("review")))
TAILED = "camunda://localhost:8080?tail=127.0.0.1:9200"
CHANGED = ("camunda://localhost:8080", "camunda://other:8080?tail=127.0.0.1:9200", TAILED + "&release=8.8")


class Cluster:
    """A client whose cluster takes every model."""

    def __init__(self, url: str) -> None:
        self.address = read_address(url)
        self.sent: list[str] = []

    async def deploy(self, name: str, xml: str) -> dict[str, Any]:
        self.sent.append(xml)
        return {"deployments": [{"processDefinition": {"processDefinitionId": "p", "processDefinitionKey": "7"}}]}


def deployment(sandbox: Sandbox, url: str) -> DefinitionDeployment:
    client: Any = Cluster(url)
    nothing: Any = None
    return DefinitionDeployment(nothing, KeyRows(sandbox.runtime.store, SystemSources(), "camunda"), client)


async def test_what_was_sent_is_served_after_the_settings_changed() -> None:
    """Instances of it run on: somebody must poll for their jobs."""
    async with Sandbox.open("sqlite://") as sandbox:
        assert not await deployment(sandbox, TAILED).is_sent(PROCESS)
        assert await deployment(sandbox, TAILED).send(PROCESS) == "7"
        for url in CHANGED:
            assert await deployment(sandbox, url).is_sent(PROCESS), url


async def test_what_an_earlier_release_sent_is_served_as_well() -> None:
    async with Sandbox.open("sqlite://") as sandbox:
        before = deployment(sandbox, TAILED)
        await before._keys.write((before._name(PROCESS)[0], "7"))
        assert not await deployment(sandbox, CHANGED[0]).is_sent(PROCESS), "nothing tells of it yet"
        assert await deployment(sandbox, TAILED).is_sent(PROCESS)
        assert await deployment(sandbox, CHANGED[0]).is_sent(PROCESS), "it was seen once under the settings of then"


async def test_a_changed_model_is_sent_again_and_the_same_one_is_not() -> None:
    async with Sandbox.open("sqlite://") as sandbox:
        first, changed = deployment(sandbox, TAILED), deployment(sandbox, CHANGED[0])
        for _ in range(2):
            assert await first.send(PROCESS) == "7"
            assert await changed.send(PROCESS) == "7"
        clients: list[Any] = [first._client, changed._client]
        assert [len(each.sent) for each in clients] == [1, 1]

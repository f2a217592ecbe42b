"""A real Camunda broker for the session, and processes of ours that use it."""

from __future__ import annotations

import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure.testing.camunda_broker import CamundaBroker
from perdure.testing.server_process import free_ports
from perdure.testing.service_availability import ServiceUnavailable
from tests.conftest import unavailable
from tests.engines.temporal.conftest import OurProcess


class OurCamundaProcess(OurProcess):
    program = "tests.engines.camunda.carried_process"


class Cluster:
    """A broker, the address that its records go to, and what somebody does to it in Operate."""

    def __init__(self, broker: CamundaBroker, tail: str) -> None:
        self.broker = broker
        self.tail = tail
        self.url = f"{broker.url}?tail={tail}&lock=5&poll=2"

    def request(self, method: str, path: str, body: Any = None) -> Any:
        return self.broker.request(method, path, body)

    def status(self, method: str, path: str, body: Any = None) -> int:
        """The status of an answer, whatever it is."""
        try:
            self.broker.request(method, path, body)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        return 200

    def is_open(self, key: str) -> bool:
        """Whether a process instance runs in Camunda: only one that does can be given a variable."""
        return self.status("PUT", f"element-instances/{key}/variables", {"variables": {"probe": 1}}) != 404

    def set_variables(self, key: str, **values: Any) -> None:
        self.request("PUT", f"element-instances/{key}/variables", {"variables": values, "local": False})


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One broker for all tests of a session: each has a store, and thus instances, of its own."""
    tail = f"127.0.0.1:{free_ports(1)[0]}"
    try:
        broker = CamundaBroker(f"http://{tail}")
    except ServiceUnavailable as error:
        unavailable(str(error))
    try:
        broker.start()
        yield Cluster(broker, tail)
    finally:
        broker.remove()


@pytest.fixture
def opened(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., OurProcess]]:
    """Opens processes of ours on one store."""
    children: list[OurProcess] = []

    def open_process(engine: str = "") -> OurProcess:
        children.append(OurCamundaProcess(f"sqlite:///{tmp_path / 'p.db'}", engine or cluster.url, tmp_path))
        return children[-1]

    yield open_process
    for each in children:
        each.end()
    if any(each.first == "ready" for each in children):
        last = open_process()
        last.ask("cancel_all")
        last.end()

"""The check of the cluster: it answers, its partitions have leaders, and its release is the one that was said."""

from __future__ import annotations

from perdure.bpmn.lint.findings import RELEASES
from perdure.engines.camunda.address import CamundaAddress
from perdure.engines.camunda.rest_client import Gone, Refused, RestClient, WrongState
from perdure.engines.camunda.wire import gateway_version, is_healthy
from perdure.errors import EngineSettingError, EngineUnavailableError


async def check_cluster(client: RestClient) -> str:
    """The version of the gateway; EngineSettingError for a release we do not know, or an older one than was said."""
    address = client.address
    try:
        topology = await client.topology()
    except (Gone, WrongState, Refused) as error:
        hint = "Name the port of Camunda's REST API, 8080 by default."
        fact = f"what answers there has no `/v2/topology`: {error}"
        raise EngineSettingError("open", "engine", address.text, fact, hint) from error
    version = gateway_version(topology)
    _check_release(address, version)
    if not is_healthy(topology):
        fact = "not every partition of it has a leader that works"
        raise EngineUnavailableError("reach", "engine", address.text, fact)
    return version


def _check_release(address: CamundaAddress, version: str) -> None:
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    if not major.isdecimal() or not minor.isdecimal():
        fact = f"it says that its version is '{version}'"
        raise EngineSettingError("open", "engine", address.text, fact)
    if (int(major), int(minor)) < _pair(RELEASES[0]):
        fact = f"it is Camunda {version}, and {RELEASES[0]} is the oldest that carries processes"
        raise EngineSettingError("open", "engine", address.text, fact)
    if (int(major), int(minor)) < _pair(address.release):
        fact = f"it is Camunda {version}, and the url says release {address.release}"
        raise EngineSettingError("open", "engine", address.text, fact, f"Write release={major}.{minor}.")


def _pair(release: str) -> tuple[int, int]:
    major, minor = release.split(".")
    return int(major), int(minor)

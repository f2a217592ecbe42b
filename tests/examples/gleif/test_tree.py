"""Groups as GLEIF reports them: found whole over a socket and from the folder, circles and limits included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from casework.gleif.client import Gleif
from casework.gleif.recordings import Recordings
from casework.gleif.transports import Answer, FileTransport, HttpTransport
from casework.gleif.tree import Group, chain, discover
from casework.sources import DATA

from tests.examples.gleif.service import serving

HOLDING, CAPITAL, LUXEMBOURG = "DEMO00NORDLYSHOLD050", "DEMO00NORDLYSCAP0045", "DEMO00NORDLYSLUX0062"
CIRCLE = ("DEMO00OUROBBETEIL032", "DEMO00OUROBINVEST032")


@pytest.fixture(params=["socket", "folder"])
def gleif(request: pytest.FixtureRequest) -> Iterator[Gleif]:
    if request.param == "folder":
        yield Gleif(FileTransport(Recordings(DATA / "gleif")))
    else:
        with serving() as service:
            yield Gleif(Anew(service.address), page_size=1)


class Anew:
    """A connection for each request."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def get(self, target: str, parameters: Mapping[str, str]) -> Answer:
        async with HttpTransport(self._address) as transport:
            return await transport.get(target, parameters)


def depths(group: Group) -> dict[str, int]:
    return {node.name: node.depth for node in group.nodes}


@pytest.mark.req("X24")
async def test_a_group_is_found_from_its_head_to_its_funds(gleif: Gleif) -> None:
    group = await discover(gleif, CAPITAL, 5)
    assert depths(group) == {
        "Nordlys Holding AS": -1,
        "Nordlys Capital AS": 0,
        "Nordlys Luxembourg S.A.": 1,
        "Nordlys Advisors Limited": 1,
        "Nordlys Capital Fund LP": 1,
        "Nordlys SICAV": 2,
        "Nordlys SICAV - Nordic Equity": 2,
        "Nordlys SICAV - Green Bond": 2,
    }
    assert group.is_whole and group.cycles == () and group.head.exception == "NATURAL_PERSONS"
    managers = {node.name: node.manager for node in group.nodes if node.manager}
    assert managers["Nordlys SICAV"] == LUXEMBOURG and managers["Nordlys Capital Fund LP"] == CAPITAL


async def test_what_is_told_of_a_group_begins_with_the_entity_asked_about(gleif: Gleif) -> None:
    told: dict[str, Any] = (await discover(gleif, LUXEMBOURG, 5)).told()
    assert [each["name"] for each in told["subsidiaries"]] == [
        "Nordlys Luxembourg S.A.", "Nordlys SICAV", "Nordlys SICAV - Nordic Equity", "Nordlys SICAV - Green Bond",
    ]  # fmt: skip
    assert told["ultimate_parent"] == {"lei": HOLDING, "name": "Nordlys Holding AS"}


async def test_funds_are_left_out_when_nobody_wants_them(gleif: Gleif) -> None:
    group = await discover(gleif, HOLDING, 5, has_funds=False)
    assert {node.category for node in group.nodes} == {"GENERAL"} and len(group.nodes) == 4


@pytest.mark.req("X24")
@pytest.mark.parametrize("start", CIRCLE)
async def test_a_circle_of_parents_is_found_once_and_not_followed(gleif: Gleif, start: str) -> None:
    group = await discover(gleif, start, 20)
    assert group.cycles == (CIRCLE,)
    assert {node.lei for node in group.nodes} == set(CIRCLE)


@pytest.mark.parametrize(("lei", "depth"), [(HOLDING, 1), (LUXEMBOURG, 1)], ids=["downward", "upward"])
async def test_a_limit_ends_the_search_and_is_told(gleif: Gleif, lei: str, depth: int) -> None:
    group = await discover(gleif, lei, depth)
    assert not group.is_whole
    assert max(abs(node.depth) for node in group.nodes if not node.manager) == depth


async def test_a_chain_goes_up_to_where_it_ends(gleif: Gleif) -> None:
    line, cycles, is_whole = await chain(gleif, LUXEMBOURG, 10)
    assert [node.lei for node in line] == [LUXEMBOURG, CAPITAL, HOLDING]
    assert (line[-1].exception, cycles, is_whole) == ("NATURAL_PERSONS", [], True)

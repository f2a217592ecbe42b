"""Looking a name up: exact ones first, all words must be there, nothing is chosen for anyone."""

from __future__ import annotations

import asyncio

import pytest

from perdure import Perdure
from perdure.errors import RejectedError
from tests.surfaces.repl.project import CLIENTS, catalogue


async def _found(text: str) -> list[str]:
    async with Perdure.open("sqlite://", definitions=catalogue(), role="caller") as perdure:
        for lei, name, country in CLIENTS:
            await perdure.call("client.register", {"lei": lei, "name": name, "country": country})
        return [each.label for each in await perdure.look_up("client", text)]


@pytest.mark.req("V28")
@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Allianz", ["Allianz Global Investors GmbH", "Allianz SE"]),
        ("allianz se", ["Allianz SE"]),
        ("529900K9B0N5BT694847", ["Allianz SE"]),
        ("global inv", ["Allianz Global Investors GmbH"]),
        ("Nordlys Capital A/S", ["Nordlys Capital A/S"]),
        ("Allianz Nordlys", []),
        ("", []),
    ],
)
def test_a_name_finds_the_records_that_hold_all_its_words(text: str, labels: list[str]) -> None:
    assert asyncio.run(_found(text)) == labels


def test_an_entity_that_is_not_declared_is_refused_with_the_nearest() -> None:
    async def look() -> None:
        async with Perdure.open("sqlite://", definitions=catalogue(), role="reader") as perdure:
            await perdure.look_up("clint", "x")

    with pytest.raises(RejectedError, match="Did you mean 'client'"):
        asyncio.run(look())

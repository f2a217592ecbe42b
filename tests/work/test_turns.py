"""Turns at a record: single file, forgotten when empty, never waited for without end."""

from __future__ import annotations

import asyncio

import pytest

from perdure.work import turns
from perdure.work.turns import Turns


@pytest.mark.req("X3")
async def test_those_at_one_place_go_one_after_the_other_and_others_do_not_wait() -> None:
    file, inside, most = Turns(), 0, 0

    async def go(place: str) -> None:
        nonlocal inside, most
        async with file.at(place):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(go("a") for _ in range(5)))
    assert most == 1
    await asyncio.gather(go("a"), go("b"))
    assert most == 2
    assert not file._queues, "places where nobody is are forgotten"


@pytest.mark.req("X3")
async def test_whoever_waits_for_itself_goes_on_without_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURN_SECONDS", 0.0)
    file = Turns()
    async with file.at("a"), file.at("a"):
        pass
    assert not file._queues

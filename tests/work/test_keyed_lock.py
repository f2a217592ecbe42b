"""Turns at a record: single file, forgotten when empty, never waited for without end."""

from __future__ import annotations

import asyncio

import pytest

from perdure.work import keyed_lock
from perdure.work.keyed_lock import KeyedLock


async def test_those_at_one_place_go_one_after_the_other_and_others_do_not_wait() -> None:
    file, inside, most = KeyedLock(), 0, 0

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


async def test_whoever_waits_for_itself_goes_on_without_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyed_lock, "TURN_SECONDS", 0.0)
    file = KeyedLock()
    async with file.at("a"), file.at("a"):
        pass
    assert not file._queues

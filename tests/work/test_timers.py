"""Timers: who can no longer read them must not go on as if there were none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.testing.virtual_clock import VirtualSources
from perdure.work.timers import Timers


class Broken:
    async def timers_within(self, *asked: Any) -> list[Any]:
        raise ZeroDivisionError


async def test_timers_that_can_no_longer_be_read_are_the_end_of_their_duty() -> None:
    store: Any = Broken()
    lease: Any = None
    timers = Timers(store, VirtualSources(), lease, lambda timer: asyncio.sleep(0))
    async with asyncio.timeout(30):
        with pytest.raises(ZeroDivisionError):
            await timers.run()

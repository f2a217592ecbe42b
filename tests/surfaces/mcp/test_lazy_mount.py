"""What agents use is loaded when the first of them comes."""

from __future__ import annotations

import asyncio
from typing import Any

from perdure.surfaces.http.mcp_mount import _WhenAsked


async def test_agents_that_come_together_meet_in_one_application() -> None:
    made: list[int] = []
    answered: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        answered.append(scope)

    def make() -> Any:
        made.append(len(made))
        return app

    late: Any = _WhenAsked(make)
    assert made == []
    await asyncio.gather(*(late(number, None, None) for number in range(5)))
    assert made == [0]
    assert sorted(answered) == [0, 1, 2, 3, 4]

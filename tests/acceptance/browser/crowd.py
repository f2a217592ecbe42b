"""Fills a store with many runbooks, as fast as it goes: python -m tests.acceptance.browser.crowd STORE COUNT"""

from __future__ import annotations

import asyncio
import sys

from perdure import Perdure

AT_ONCE = 200


async def fill(store: str, count: int) -> None:
    """So many drafts, each of a case of its own."""
    async with Perdure.open(store, role="caller") as perdure:
        for first in range(0, count, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, count))
            await asyncio.gather(*(perdure.runbooks.open_draft({}, case=f"CROWD-{number}") for number in numbers))


if __name__ == "__main__":
    asyncio.run(fill(sys.argv[1], int(sys.argv[2])))

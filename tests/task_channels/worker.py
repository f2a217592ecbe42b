"""A worker that shows tasks on GitHub, until somebody kills it: `python -m tests.task_channels.worker STORE API`."""

from __future__ import annotations

import asyncio
import sys

from tests.task_channels.github_stand_in import Github
from tests.task_channels.reviews import opened


async def main(store: str, port: int) -> None:
    github = Github()
    github.port = port
    async with opened(store, github) as reviews:
        acting = reviews.perdure.acting(principal="carl")
        data = {"author": "carl", "risk": "high"}
        view = await acting.instances.start("pr_review", data, until="rest", idempotency_key="only-one")
        print(view.id, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))

"""Histories of workflows: recorded from a server once for each release, and replayed with today's code.

python -m tests.engines.temporal.recorded_history record
python -m tests.engines.temporal.recorded_history replay FILE.json
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from perdure.app.perdure import Perdure
from perdure.engines.temporal.carrier_worker import PASSED_THROUGH
from perdure.engines.temporal.instance_workflow import InstanceWorkflow
from perdure.engines.temporal.payload_codec import data_converter
from perdure.testing.temporal_server import TemporalServer, real_server
from perdure.verbs import load_text
from tests.engines.temporal.carried_process import VERBS, Carried, handlers

FEW, MANY = 2, 800
"""Decisions in one run of a workflow."""


async def record(folder: Path) -> None:
    """Play an instance of each shape on a server of our own, and keep its history."""
    server = real_server()
    try:
        server.start()
        with TemporaryDirectory() as place:
            await _played(server, Path(place), folder)
    finally:
        server.remove()


async def _played(server: TemporalServer, place: Path, folder: Path) -> None:
    definitions, given = load_text(VERBS), handlers(place)
    async with Perdure.open(
        f"sqlite:///{place}/p.db", definitions=definitions, handlers=given, engine=server.url
    ) as ours:
        carried = Carried(ours)
        client = carried._carrier.client
        await carried.deploy()
        for shape, play in SHAPES.items():
            client.max_decisions = FEW if shape == "continued" else MANY
            id = await play(carried)
            assert await carried.reached(id, "completed") == "completed", shape
            handle = (await client.connected()).get_workflow_handle(f"perdure-{id}")
            text = json.dumps((await handle.fetch_history()).to_json_dict(), separators=(",", ":"))
            (folder / f"{shape}.json").write_text(text + "\n", "utf-8")
            print(shape, flush=True)


async def _journey(carried: Carried) -> str:
    id = await carried.start("journey", given=1)
    await carried.reached(id, "await")
    await carried.publish(f"m-{id}")
    await carried.reached(id, "review")
    await carried.complete(id, ok=True)
    return id


async def _flagged(carried: Carried) -> str:
    id = await carried.start("flagged")
    await carried.reached(id, "await")
    await carried.publish(f"m-{id}", "told")
    return id


async def _undone(carried: Carried) -> str:
    id = await carried.start("undone")
    await carried.reached(id, "ask")
    await carried.complete(id, ok=True)
    return id


SHAPES: dict[str, Callable[[Carried], Awaitable[str]]] = {
    "service-and-retry": lambda carried: carried.start("retried"),
    "message-and-flag": _flagged,
    "timer": lambda carried: carried.start("short"),
    "user-task": _journey,
    "compensation": _undone,
    "parallel": lambda carried: carried.start("branches"),
    "continued": _journey,
}


async def replay(text: str) -> str:
    """Replay a history; what differs is the answer, nothing when it is the same."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules(*PASSED_THROUGH)
    replayer = Replayer(
        workflows=[InstanceWorkflow], data_converter=data_converter(),
        workflow_runner=SandboxedWorkflowRunner(restrictions=restrictions),
    )  # fmt: skip
    history = WorkflowHistory.from_json("recorded", text)
    found = await replayer.replay_workflow(history, raise_on_replay_failure=False)
    return str(found.replay_failure or "")


def main(do: str, *args: str) -> None:
    if do == "record":
        asyncio.run(record(Path(__file__).parent / "histories"))
    else:
        print(f"@{asyncio.run(replay(Path(args[0]).read_text('utf-8')))}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)

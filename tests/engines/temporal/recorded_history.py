"""Histories of workflows: recorded from a server once for each release, and replayed with today's code.

python -m tests.engines.temporal.recorded_history record HOST:PORT WORKFLOW FILE.json
python -m tests.engines.temporal.recorded_history replay FILE.json
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from temporalio.client import Client, WorkflowHistory
from temporalio.worker import Replayer
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from perdure.engines.temporal.carrier_worker import PASSED_THROUGH
from perdure.engines.temporal.instance_workflow import InstanceWorkflow
from perdure.engines.temporal.payload_codec import data_converter


async def record(target: str, workflow: str) -> str:
    client = await Client.connect(target, data_converter=data_converter())
    return (await client.get_workflow_handle(workflow).fetch_history()).to_json()


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
        Path(args[2]).write_text(asyncio.run(record(args[0], args[1])) + "\n", "utf-8")
    else:
        print(f"@{asyncio.run(replay(Path(args[0]).read_text('utf-8')))}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)

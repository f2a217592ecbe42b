"""A process that uses a scaffolded project as its owner would, driven by lines of JSON.

python -m tests.scaffold.instance_driver PROJECT PACKAGE ADDRESS
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from temporalio.client import Client, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.converter import value_to_type
from temporalio.service import RPCError


class Driver:
    """Starts instances, delivers messages, answers user tasks, and tells what came of it."""

    def __init__(self, package: str, client: Client) -> None:
        self._package = package
        self._client = client

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self._package}.{name}")

    async def start(self, state: dict[str, Any]) -> str:
        data = value_to_type(self._module("generated.data").State, state)
        await self._module("generated.registry").prepare(self._client)
        handle = await self._module("client").start(self._client, data)
        return str(handle.id)

    async def accept(self, **envelope: Any) -> bool:
        """A message comes to the ingress."""
        made = self._module("generated.envelope").Envelope(**envelope)
        queue = self._module("generated.registry").TASK_QUEUE
        return bool(await self._module("generated.ingress").accept(self._client, queue, made))

    async def signal(self, id: str, **envelope: Any) -> None:
        made = self._module("generated.envelope").Envelope(**envelope)
        await self._client.get_workflow_handle(id).signal("message", made)

    async def answer(self, id: str, update: str, **answer: Any) -> str:
        """What the workflow says to an answer; empty when it took it."""
        try:
            await self._client.get_workflow_handle(id).execute_update(update, answer)
        except WorkflowUpdateFailedError as error:
            return str(error.cause)
        except RPCError as error:
            return str(error)
        return ""

    async def state(self, id: str) -> Any:
        return await self._client.get_workflow_handle(id).query("state")

    async def until_event(self, id: str, kind: str, count: int = 1) -> int:
        """Wait until so many events of a kind are in the history; how many there are."""
        while True:
            history = await self._client.get_workflow_handle(id).fetch_history()
            found = sum(kind in event.WhichOneof("attributes") for event in history.events)  # type: ignore[operator]
            if found >= count:
                return found
            await asyncio.sleep(0.05)

    async def attempts(self, id: str) -> list[int]:
        history = await self._client.get_workflow_handle(id).fetch_history()
        return [e.activity_task_started_event_attributes.attempt for e in history.events
                if e.WhichOneof("attributes") == "activity_task_started_event_attributes"]  # fmt: skip

    async def result(self, id: str) -> Any:
        try:
            return await self._client.get_workflow_handle(id).result()
        except WorkflowFailureError as error:
            cause = error.cause
            return {"failed": str(getattr(cause, "type", "") or cause)}

    async def record(self, id: str, file: str) -> None:
        history = await self._client.get_workflow_handle(id).fetch_history()
        await asyncio.to_thread(Path(file).write_text, history.to_json(), "utf-8")


async def main(package: str, address: str) -> None:
    driver = Driver(package, await Client.connect(address))
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        do, arguments = json.loads(line)
        answer = await getattr(driver, do)(**arguments)
        print(f"@{json.dumps(answer)}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(sys.argv[1]) / "src"))
    asyncio.run(main(sys.argv[2], sys.argv[3]))
    os._exit(0)

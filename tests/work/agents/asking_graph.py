"""A process that runs a graph which asks a person, and is killed at a moment of its life: run as a module.

Lives: `ask` ends when the question is stored, `answer` answers, `resume` is killed in the node after the answer and
`end` lets it end. Every node that runs is a line in a file.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from perdure import Perdure
from perdure.verbs import load_text
from tests.engines.embedded.process_models import line, service

VERBS = """
- name: ubo.judge
  description: Say whether an entity is well owned
  input_schema: {required: [entity], properties: {entity: {type: string}}}
  output_schema: {required: [verdict], properties: {verdict: {type: string}}}
  execution:
    kind: sync
    agent: {ask: compliance}
"""
MODEL = line("judged", service("judge", "ubo.judge"))


class State(TypedDict, total=False):
    """Of the graph."""

    entity: str
    owner: str
    verdict: str


def graph_of(note: Any) -> Any:
    """Find, ask, judge; `note` is told of every node before it does anything."""

    async def find(state: State) -> State:
        note("find")
        return {}

    async def ask(state: State) -> State:
        note("ask")
        owner = interrupt({"question": f"Who owns {state['entity']}?", "options": ["Ana", "Bo"], "found": 2})
        return {"owner": owner}

    async def judge(state: State) -> State:
        note("judge")
        return {"verdict": f"{state['entity']} of {state['owner']}"}

    made = StateGraph(State)
    nodes = {"find": find, "ask": ask, "judge": judge}
    for name, node in nodes.items():
        made.add_node(name, node)
    for before, after in zip((START, *nodes), (*nodes, END), strict=True):
        made.add_edge(before, after)
    return made.compile()


async def live(url: str, folder: Path, kind: str, life: str) -> None:
    """One life: what was begun under the key goes on."""

    def note(node: str) -> None:
        with (folder / "ran.txt").open("a") as file:
            file.write(f"{node}\n")
        if life == "resume" and node == "judge":
            os.kill(os.getpid(), signal.SIGKILL)

    async with Perdure.open(url, definitions=load_text(VERBS), handlers={"ubo.judge": graph_of(note)}) as perdure:
        if life == "ask":
            await _begin(perdure, kind)
            while not await perdure.tasks.list():
                await perdure.runtime.driver.changed(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
        rita = perdure.acting(principal="rita", groups=["compliance"])
        if life == "answer":
            (task,) = await rita.tasks.list(mine=True)
            perdure.runtime.router.lend("ubo.judge", _die)
            await rita.tasks.complete(task.key, {"answer": "Ana"}, message_id="rita-1")
            os.kill(os.getpid(), signal.SIGKILL)
        await perdure.runtime.driver.changed(0.05)
        while not await _has_ended(perdure, kind):
            await perdure.runtime.driver.changed(0.05)


async def _die(call: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def _begin(perdure: Any, kind: str) -> None:
    if kind == "call":
        await perdure.call("ubo.judge", {"entity": "Allianz"}, idempotency_key="one")
        return
    await perdure.processes.deploy(MODEL, profile="open")
    await perdure.instances.start("judged", {"entity": "Allianz"}, idempotency_key="one")


async def _has_ended(perdure: Any, kind: str) -> bool:
    if kind == "call":
        return bool(
            (await perdure.call("ubo.judge", {"entity": "Allianz"}, idempotency_key="one")).state == "completed"
        )
    (view,) = await perdure.instances.list()
    return bool(view.state == "completed")


if __name__ == "__main__":
    asyncio.run(live(sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4]))

"""A process that runs a graph of three nodes and is killed in the second, the first time: run as a module.

Every question to the model is a line in a file, written before the model answers.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import END, START, StateGraph
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
    agent: {max_cost: "1", prices: {judge-1: {input: "2", output: "10"}}}
"""
NODES = ("find", "read", "judge")


class Counted(BaseChatModel):
    """A model that writes down what it is asked, and answers always the same."""

    file: str

    @property
    def _llm_type(self) -> str:
        return "counted"

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None, **kwargs: Any,
    ) -> ChatResult:  # fmt: skip
        with Path(self.file).open("a") as file:
            file.write(f"{messages[-1].content}\n")
        usage = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
        said = AIMessage("good", usage_metadata=usage, response_metadata={"model_name": "judge-1"})  # type: ignore[arg-type]
        return ChatResult(generations=[ChatGeneration(message=said)])


class State(TypedDict, total=False):
    """Of the graph."""

    entity: str
    found: str
    verdict: str


def graph_of(folder: Path) -> Any:
    """Three nodes, each of which asks once; the second kills its process, the first time it is reached."""
    model = Counted(file=str(folder / "asked.txt"))

    def node(name: str) -> Any:
        async def ask(state: State) -> State:
            if name == "read" and not (folder / "killed").exists():
                (folder / "killed").touch()
                os.kill(os.getpid(), signal.SIGKILL)
            said = await model.ainvoke(f"{name} {state['entity']}")
            return {"verdict": str(said.content)} if name == "judge" else {"found": name}

        return ask

    made = StateGraph(State)
    for name in NODES:
        made.add_node(name, node(name))
    for before, after in zip((START, *NODES), (*NODES, END), strict=True):
        made.add_edge(before, after)
    return made.compile()


async def live(url: str, folder: Path, kind: str) -> None:
    """One life: what was begun under the key goes on."""
    handlers = {"ubo.judge": graph_of(folder)}
    async with Perdure.open(url, definitions=load_text(VERBS), handlers=handlers) as perdure:
        if kind == "call":
            call = await perdure.call("ubo.judge", {"entity": "Allianz"}, idempotency_key="one")
            await perdure.wait(call.id)
            return
        await perdure.processes.deploy(line("judged", service("judge", "ubo.judge")), profile="open")
        view = await perdure.instances.start("judged", {"entity": "Allianz"}, idempotency_key="one")
        while (await perdure.instances.get(view.id)).state == "active":
            await perdure.runtime.driver.changed(0.05)


if __name__ == "__main__":
    asyncio.run(live(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))

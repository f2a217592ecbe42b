"""Verbs and agents that the tests of agents share: real libraries with their own models for tests."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from typing_extensions import TypedDict

from perdure import Call, Decide
from perdure.testing.sandbox import Sandbox
from perdure.verbs import Catalogue, load_text

DEFINITIONS = """
- name: ubo.find
  description: Find the owners of an entity
  input_schema: {required: [entity], properties: {entity: {type: string}}}
  output_schema: {required: [owners], properties: {owners: {type: integer}}}
  execution: {kind: sync, effects: none}
- name: ubo.note
  description: Note something
  consequence: reviewable
  input_schema: {properties: {text: {type: string}}}
  output_schema: {properties: {noted: {type: string}}}
  execution: {kind: sync, effects: none}
- name: ubo.freeze
  description: Freeze an account
  consequence: requires_authorisation
  input_schema: {properties: {text: {type: string}}}
  execution: {kind: sync, effects: none}
- name: ubo.judge
  description: Say whether an entity is well owned
  input_schema: {required: [entity], properties: {entity: {type: string}}}
  output_schema: {required: [verdict], properties: {verdict: {type: string, enum: [good, bad]}}}
  execution:
    kind: sync
    retry: {max_attempts: 3, base_delay: PT1S}
    agent: AGENT
- name: ubo.decide
  description: Decide how to go on
  output_schema: {required: [verdict], properties: {verdict: {type: string}}}
  execution: {kind: sync, decision: true, agent: AGENT}
"""
PRICES = 'prices: {judge-1: {input: "2", output: "10"}}'


def catalogue(contract: str = "{}") -> Catalogue:
    return load_text(DEFINITIONS.replace("AGENT", contract))


def answer(input_tokens: int = 100, output_tokens: int = 20, text: str = "good") -> AIMessage:
    """What a chat model says, with what that used."""
    usage = {"input_tokens": input_tokens, "output_tokens": output_tokens, "total_tokens": input_tokens + output_tokens}
    return AIMessage(text, usage_metadata=usage, response_metadata={"model_name": "judge-1"})  # type: ignore[arg-type]


class State(TypedDict, total=False):
    """Of the graphs in these tests."""

    entity: str
    context: dict[str, Any]
    verdict: str
    confidence: float
    rounds: int


def graph(
    *answers: AIMessage, confidence: float | None = None, rounds: int = 1, model: Any = None, keeps: Any = None
) -> Any:
    """A graph with one node that asks a model, so many times in a row."""
    chat = model or GenericFakeChatModel(messages=iter(answers))

    async def judge(state: State) -> State:
        said = await chat.ainvoke(f"Is {state['entity']} well owned?")
        found: State = {"verdict": str(said.content), "rounds": state.get("rounds", 0) + 1}
        if confidence is not None:
            found["confidence"] = confidence
        return found

    made = StateGraph(State)
    made.add_node("judge", judge)
    made.add_edge(START, "judge")
    made.add_conditional_edges("judge", lambda state: END if state["rounds"] >= rounds else "judge")
    return made.compile(checkpointer=keeps)


class Verdict(BaseModel):
    """What a pydantic-ai agent gives back here."""

    verdict: str
    confidence: float = 1.0


class Decision(BaseModel):
    """What one that decides gives back."""

    verdict: str
    add: list[dict[str, Any]] = []
    skip: list[str] = []
    finish: bool = False
    reason: str = ""
    confidence: float = 1.0


class Asked:
    """A model that says what it is told to, and remembers what it was asked."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []

    async def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.prompts.append(str(messages[0].parts[-1].content))
        said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, said)])


def runner(asked: Asked, output: type[BaseModel] = Verdict) -> Any:
    """A pydantic-ai agent over that model."""
    return PydanticAgent(FunctionModel(asked, model_name="judge-1"), output_type=output, name="the judge")


async def find(call: Call) -> dict[str, Any]:
    return {"owners": 3}


async def note(call: Call) -> dict[str, Any]:
    return {"noted": call.args.get("text", "")}


async def freeze(call: Call) -> dict[str, Any]:
    return {}


async def decided(call: Call) -> Decide:
    return Decide({"verdict": "go on"})


def opened(url: str, contract: str = "{}", *, judge: Any = None, decide: Any = decided, **options: Any) -> Any:
    handlers = {
        "ubo.find": find, "ubo.note": note, "ubo.freeze": freeze, "ubo.judge": judge or graph(answer()),
        "ubo.decide": decide,
    }  # fmt: skip
    return Sandbox.open(url, definitions=catalogue(contract), handlers=handlers, **options)


async def entries(sandbox: Any, id: str, name: str) -> list[Any]:
    """The data of every entry of that name."""
    return [event.data async for event in sandbox.events(id) if event.entry == name]

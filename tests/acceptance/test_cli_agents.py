"""Agents through the command line: what they ask, may use and cost at worst, and which of them nobody asks now."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.bpmn.xml import write_model
from tests.acceptance.commands import Shell
from tests.engines.embedded.process_models import line, service

VERBS = """
- name: ubo.judge
  description: Judge an entity
  execution: {kind: sync, agent: {max_tokens: 100, attempt_tokens: 60, breaker: {calls: 1, open: PT1H}}}
- name: ubo.ask
  description: Ask who owns an entity
  output_schema: {properties: {owner: {type: string}}}
  execution: {kind: sync, agent: {ask: compliance}}
"""
CONFIG = "store: perdure.db\ndefinitions: [definitions]\nhandlers: [desk_agents]\n"
HANDLERS = """
from pathlib import Path

from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from typing_extensions import TypedDict

from perdure import Agent, Transient, agent


class Judge(Agent):
    name = "judge"

    async def decide(self, call):
        if Path("away").exists():
            raise Transient("the model is away")
        call.used("judge-1", input_tokens=60, output_tokens=0)
        return {}


class State(TypedDict, total=False):
    owner: str


async def ask(state):
    return {"owner": interrupt("Who owns it?")}


made = StateGraph(State)
made.add_node("ask", ask)
made.add_edge(START, "ask")
made.add_edge("ask", END)
judge = agent("ubo.judge", Judge(), name="judge")
asker = agent("ubo.ask", made.compile(), name="asker")
"""


@pytest.fixture
def desk(tmp_path: Path) -> Shell:
    (tmp_path / "definitions").mkdir()
    (tmp_path / "perdure.yaml").write_text(CONFIG)
    (tmp_path / "definitions" / "desk.yaml").write_text(VERBS)
    (tmp_path / "desk_agents.py").write_text(HANDLERS)
    twice = line("twice", service("one", "ubo.judge"), service("two", "ubo.judge"))
    (tmp_path / "twice.bpmn").write_text(write_model(twice))
    return Shell(tmp_path)


@pytest.mark.req("O13")
def test_a_budget_is_planned_used_up_and_loosened(desk: Shell) -> None:
    desk.run("deploy", "twice.bpmn", "--profile", "open")
    worst = desk.json("processes", "plan", "twice")
    assert (worst["calls"], worst["tokens"]) == (100, 100)
    assert "all together" in desk.run("processes", "plan", "twice").out
    begun = desk.json("instances", "start", "twice")["id"]
    shown = desk.json("budgets", "show", begun)
    assert (shown["max_tokens"], shown["waiting"]) == (100, ["two"])
    assert "waits" in desk.run("budgets", "show", begun).out
    assert "wider" in desk.run("budgets", "tighten", begun, "--max-tokens", "200", code=7).error
    assert "reason" in desk.run("budgets", "loosen", begun, "--max-tokens", "200", code=2).error
    desk.run("budgets", "loosen", begun, "--max-tokens", "200", "--reason", "worth it")
    assert desk.json("instances", "show", begun)["state"] == "completed"


@pytest.mark.req("O13")
def test_a_question_is_answered_and_the_graph_goes_on(desk: Shell) -> None:
    call = desk.json("call", "ubo.ask")
    (task,) = desk.json("tasks", "list", "--mine", "--as", "rita", "--group", "compliance")
    assert "Who owns it?" in desk.run("tasks", "show", task["key"]).out
    desk.run("tasks", "complete", task["key"], "--data", '{"answer": "Ana"}', "--as", "rita", "--group", "compliance")
    assert desk.json("status", call["id"])["result"] == {"owner": "Ana"}


@pytest.mark.req("O13")
def test_a_breaker_is_shown_and_closed(desk: Shell) -> None:
    (desk.folder / "away").touch()
    desk.run("call", "ubo.judge", code=None)
    (shown,) = desk.json("agents", "list")
    assert (shown["name"], shown["state"]) == ("agent:judge", "open")
    assert "agent:judge" in desk.run("agents", "list").out
    (desk.folder / "away").unlink()
    desk.run("agents", "close", "agent:judge", "--reason", "it is back")
    assert desk.json("call", "ubo.judge")["state"] == "completed"

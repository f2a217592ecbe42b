"""An office whose verbs agents use, and an agent at the other end of the real protocol."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import TextContent

from perdure.verbs import Catalogue, load_text

VERBS = """
- name: desk.find
  description: Find a client by name
  sentences: {step: "Find {name}"}
  search_phrases: [look up a customer]
  input_schema: {required: [name], properties: {name: {type: string, minLength: 1}}}
  output_schema: {required: [id], properties: {id: {type: string}}}
  consequence: benign
  execution: {kind: sync, effects: none}
- name: desk.letter
  description: Send a letter and wait for the answer
  sentences: {step: "Write to {client}"}
  input_schema: {required: [client], properties: {client: {type: string}}}
  output_schema: {properties: {accepted: {type: boolean}}}
  execution: {kind: durable, correlation: {key: "{client}/letter"}}
- name: desk.pay
  description: Pay money out
  sentences: {step: "Pay {amount} to {client}"}
  input_schema: {required: [amount], properties: {amount: {type: integer}, client: {type: string}}}
  consequence: requires_confirmation
  execution: {kind: sync, effects: none}
- name: desk.close
  description: Close the whole office
  consequence: requires_authorisation
  execution: {kind: sync, effects: none}
- name: desk.review
  description: Have somebody look at it
  input_schema: {properties: {what: {type: string}}}
  output_schema: {required: [verdict], properties: {verdict: {type: string, enum: [good, bad]}}}
  execution:
    kind: durable
    task: {title: "Look at {what}", groups: [reviewers]}
- name: desk.break
  description: Breaks until it is mended
  output_schema: {required: [done], properties: {done: {type: boolean}}}
  consequence: benign
  execution: {kind: sync, effects: none}
- name: desk.long
  description: Answers at length
  consequence: benign
  execution: {kind: sync, effects: none}
- name: desk.judge
  description: Decide how to go on
  consequence: requires_confirmation
  execution: {kind: durable, decision: true}
- name: desk.weigh
  description: Decide what to do next
  execution: {kind: durable, decision: true}
- name: vault.open
  description: Open the vault
  consequence: benign
  execution: {kind: sync, effects: none}
"""
WORK = '''
"""Handlers of the office; some print, as handlers do."""

import os
from pathlib import Path

from perdure import verb

print("printed while loading")


@verb("desk.find")
def find(call):
    print("printed while working")
    Path("pid").write_text(str(os.getpid()))
    return {"id": "id of " + call.args["name"]}


@verb("desk.letter")
def letter(call):
    return {}


@verb("desk.pay")
def pay(call):
    Path("paid").write_text(str(call.args["amount"]))
    return {}


@verb("desk.close")
def close(call):
    Path("closed").touch()
    return {}


@verb("desk.break")
def break_(call):
    return {"done": True} if Path("mended").exists() else {}


@verb("desk.long")
def long(call):
    return {"pages": ["x" * 1000] * 40}


@verb("vault.open")
def open_vault(call):
    return {"open": True}
'''


def make_office(folder: Path) -> Path:
    """A project in a folder."""
    (folder / "perdure.yaml").write_text("definitions: [verbs.yaml]\nhandlers: [work]\n", encoding="utf-8")
    (folder / "verbs.yaml").write_text(VERBS, encoding="utf-8")
    (folder / "work.py").write_text(WORK, encoding="utf-8")
    return folder


def verbs() -> Catalogue:
    return load_text(VERBS)


class Refused(Exception):
    """A tool said no: what it told."""

    def __init__(self, error: dict[str, Any], text: str) -> None:
        super().__init__(text)
        self.code: str = error["code"]
        self.error = error
        self.text = text


class Agent:
    """One at the other end: asks tools, gets what they gave, or Refused."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        answer = await self.client.call_tool(tool, arguments)
        [block] = answer.content
        assert isinstance(block, TextContent)
        if answer.is_error:
            raise Refused(answer.structured_content["error"], block.text)
        assert msgspec.json.decode(block.text) == answer.structured_content
        found: dict[str, Any] = answer.structured_content
        return found

    async def tools(self) -> set[str]:
        return {tool.name for tool in (await self.client.list_tools()).tools}


def command(folder: Path, store: str, *words: str) -> StdioServerParameters:
    """How a client starts the server."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PERDURE_")}
    return StdioServerParameters(
        command=str(Path(sys.executable).with_name("perdure")), args=["mcp", "--store", store, *words],
        env={**kept, "PERDURE_PRINCIPAL": "ana"}, cwd=folder,
    )  # fmt: skip


@asynccontextmanager
async def agent_of(folder: Path, store: str, *words: str, mode: str = "auto") -> AsyncIterator[Agent]:
    """An agent that started `perdure mcp` and talks to it over its stdin and stdout; what it logs is in a file."""
    with (folder / "stderr.txt").open("a", encoding="utf-8") as log:
        transport = stdio_client(command(folder, store, *words), errlog=log)
        async with Client(transport, mode=mode) as client:
            yield Agent(client)

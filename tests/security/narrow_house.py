"""A served house with verbs `pub.*` that a narrow key reaches and `sec.*` that it does not, and processes of both.

| process | carries | its tasks |
|---|---|---|
| `mixed` | nothing | `sec.echo`, then a person's, then the message `papers` |
| `calls-mixed` | nothing | calls `mixed` |
| `door` | `pub.door` | `sec.echo`, then a person's |
| `open` | nothing | `pub.note`, then a person's |
| `people` | nothing | a person's, of no verb at all |
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

from perdure.access.principal import Principal
from perdure.surfaces.mcp.tool import ToolSession, tool_session
from tests.surfaces.http.sandbox_server import Desk, Server, person, served

SECRET = "sesame"
VERBS = """
documents:
  form: {data_schema: {properties: {title: {type: string}}}}
verbs:
  - name: pub.note
    consequence: benign
    sentences: {step: "Note {text}"}
    input_schema: {properties: {text: {type: string}}}
    index: [text]
    execution: {kind: sync, effects: none}
  - name: pub.wait
    consequence: benign
    sentences: {step: "Wait for {text}"}
    input_schema: {properties: {text: {type: string}}}
    execution: {kind: durable, correlation: {key: "pub-{text}"}, policy: {timeout: P1D}}
  - name: pub.door
    consequence: benign
    input_schema: {properties: {text: {type: string}}}
    execution:
      {kind: durable, process: door, sub_verbs: [sec.echo, sec.break], payload: {in: {text: $text}, out: [text]}}
  - name: sec.echo
    consequence: benign
    sentences: {step: "Echo {text}"}
    input_schema: {properties: {text: {type: string}}}
    output_schema: {properties: {text: {type: string}}}
    index: [text]
    execution: {kind: sync, effects: none}
  - name: sec.wait
    consequence: benign
    sentences: {step: "Wait for {text}"}
    input_schema: {properties: {text: {type: string}}}
    execution: {kind: durable, correlation: {key: "sec-{text}"}, policy: {timeout: P1D}}
  - name: sec.break
    consequence: benign
    sentences: {step: "Break {text}"}
    input_schema: {properties: {text: {type: string}}}
    output_schema: {required: [done], properties: {done: {type: boolean}}}
    execution: {kind: sync, effects: external}
"""
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    ' targetNamespace="x"><message id="m" name="papers"><extensionElements><zeebe:subscription correlationKey="k"/>'
    '</extensionElements></message><message id="n" name="begin"/><signal id="g" name="begin"/>'
    '<message id="o" name="begin-pub"/><signal id="h" name="begin-pub"/>'
)
ECHO = (
    '<serviceTask id="a"><extensionElements><zeebe:taskDefinition type="sec.echo"/></extensionElements></serviceTask>'
)
NOTE = ECHO.replace("sec.echo", "pub.note")
LOOK = '<userTask id="b" name="Look at it"/>'
PAPERS = '<intermediateCatchEvent id="c"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>'
CALL = (
    '<callActivity id="a"><extensionElements><zeebe:calledElement processId="mixed"/></extensionElements>'
    "</callActivity>"
)
MODELS = {
    "door": (ECHO, LOOK),
    "mixed": (ECHO, LOOK, PAPERS),
    "calls-mixed": (CALL,),
    "open": (NOTE, LOOK),
    "people": (LOOK,),
}
NARROW = person("pub", "operator", "author", "reviewer", verbs=("pub.*",))
PEOPLE = [
    NARROW,
    person("agent:pub", "operator", "author", "reviewer", verbs=("pub.*",), kind="agent"),
    person("peer", "operator", "author", "reviewer", verbs=("pub.*", "sec.*")),
    person("spy", "operator", "author", "reviewer", tenant="other", verbs=("pub.*",)),
]


def model(process: str, *nodes: str, start: str = "") -> str:
    """A process of one row."""
    ids = ["s", *(node.partition('id="')[2].partition('"')[0] for node in nodes), "e"]
    flows = "".join(
        f'<sequenceFlow id="f{at}" sourceRef="{one}" targetRef="{other}"/>'
        for at, (one, other) in enumerate(pairwise(ids))
    )
    body = f'<startEvent id="s">{start}</startEvent>{"".join(nodes)}<endEvent id="e"/>{flows}'
    return f'{HEAD}<process id="{process}" isExecutable="true">{body}</process></definitions>'


class House:
    """The server with its processes deployed, and things that people with wide keys made."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.ada, self.pub, self.peer, self.eve = (server.of(name) for name in ("ada", "pub", "peer", "eve"))

    async def deployed(self, process: str, *nodes: str, start: str = "") -> None:
        body = {"xml": model(process, *nodes, start=start), "profile": "hollow" if process == "door" else "open"}
        answer = await self.ada.ask("POST", "/api/processes", json=body)
        assert answer.status_code == 201, answer.text

    async def begun(self, process: str, text: str = SECRET) -> str:
        body = {"process": process, "data": {"text": text}, "business_key": text}
        id = str((await self.ada.post("/api/instances", body, 201))["id"])
        await self.server.idle()
        return id

    async def run(self, *calls: dict[str, Any], **more: Any) -> str:
        given = {"calls": list(calls)} if calls else {}
        id = str((await self.ada.post("/api/runbooks", {**given, **more}, 201))["id"])
        await self.server.idle()
        return id

    async def called(self, verb: str, text: str = SECRET, desk: Desk | None = None) -> str:
        view = await (desk or self.ada).post(f"/api/verbs/{verb}/calls", {"args": {"text": text}}, 201)
        await self.server.idle()
        return str(view["id"])

    async def task(self, instance: str) -> str:
        tasks = (await self.ada.get("/api/tasks"))["items"]
        return next(str(each["key"]) for each in tasks if each["key"].startswith(instance))

    def agent(self, name: str = "agent:pub") -> ToolSession:
        return tool_session(self.server.sandbox, next(each for each in PEOPLE if each.name == name))

    async def twin(self, name: str, *verbs: str) -> Desk:
        """Another key of one person, `twin`."""
        made = await self.server.sandbox.access.create_key(
            name, principal="twin", kind="person", roles=("operator", "author", "reviewer"), verbs=verbs
        )

        async def credential() -> str:
            return f"Bearer {made.text}"

        return Desk(self.ada._client, credential)


@asynccontextmanager
async def narrow_house(url: str = "sqlite://", people: Sequence[Principal] = (), **more: Any) -> AsyncIterator[House]:
    """The house. `sec.echo` answers with the secret, `sec.break` with something that its schema refuses."""
    handlers = {"sec.echo": lambda call: {"text": SECRET}, "sec.break": lambda call: {"why": SECRET}}
    async with served(url, VERBS, people=[*PEOPLE, *people], handlers=handlers, **more) as server:
        house = House(server)
        for process, nodes in MODELS.items():
            await house.deployed(process, *nodes)
        yield house


async def pages(desk: Desk, path: str, **query: Any) -> list[Any]:
    """Every item of a list, two at a time; an empty last page would tell of something left out."""
    found: list[Any] = []
    after: dict[str, Any] = {}
    while True:
        page = await desk.get(path, limit=2, **query, **after)
        assert page["items"] or not after, "a page without anything says that something was left out"
        found += page["items"]
        if not page["next"]:
            return found
        after = {"after": page["next"]}


def tells(answer: Any) -> bool:
    """Whether an answer tells the secret."""
    return SECRET in (answer if isinstance(answer, str) else json.dumps(answer))

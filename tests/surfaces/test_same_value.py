"""One thing, one value: each operation gives the same through Python, HTTP, the client, MCP and the command line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest

from perdure.access.principal import local
from perdure.app import Perdure
from perdure.app.operations.calls import ShowCall, show_call
from perdure.app.operations.dead_letters import list_letters
from perdure.app.operations.deployments import CheckDeployment, ModelFile, check_deployment_impact
from perdure.app.operations.incidents import list_incidents
from perdure.app.operations.instances import ShowInstance, show_instance
from perdure.app.operations.operation import Context, Operation
from perdure.app.operations.operation_execution import perform
from perdure.app.operations.processes import ShowProcess, show_process
from perdure.app.operations.request_fields import Paged
from perdure.app.operations.runbooks import ListRunbooks, ShowRunbook, list_runbooks, show_runbook
from perdure.app.operations.tasks import ShowTask, show_task
from perdure.app.operations.verbs import ShowVerb, show_verb
from perdure.app.operations.waits import list_parked
from perdure.bpmn.xml import write_model
from perdure.client import AsyncClient
from tests.acceptance.commands import Shell
from tests.engines.embedded.process_models import line, user
from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P6")
PROGRAM = '(desk.note :text "a" :as @first) (desk.wait :who "ana" :as @second)'


class World(NamedTuple):
    """One thing of each kind, and everybody who may look at it."""

    perdure: Perdure
    http: httpx.AsyncClient
    client: AsyncClient
    agent: Any
    shell: Shell
    ids: dict[str, str]

    async def python(self, operation: Operation[Any, Any], request: Any) -> Any:
        return plain(await perform(Context(self.perdure, local()), operation, request))

    async def told(self, path: str) -> Any:
        return (await self.http.get(f"/api{path}")).raise_for_status().json()

    async def command(self, *words: str) -> Any:
        return await asyncio.to_thread(self.shell.json, *words)


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    mcp = pytest.importorskip("mcp")
    from perdure.surfaces.mcp.server import Protocol  # noqa: PLC0415  an extra that need not be installed
    from tests.surfaces.mcp.protocol_agent import Agent  # noqa: PLC0415  the same

    async with served(authentication=(), on_socket=True) as found:
        perdure, shell = found.perdure, Shell(folder)
        shell.environment["PERDURE_SERVER"] = found.base
        protocol = Protocol(perdure, lambda context: local()).server()
        async with found.client() as http, AsyncClient(found.base) as client, mcp.Client(protocol) as session:
            yield World(perdure, http, client, Agent(session), shell, await things(client))


async def things(client: AsyncClient) -> dict[str, str]:
    call = await client.call("desk.note", {"text": "hello"})
    runbook = await client.runbooks.start(PROGRAM, case="C-1", wait=True)
    await client.processes.deploy_text(write_model(line("review", user("look"))), profile="open")
    instance = await client.instances.start("review", until="rest")
    stuck = await client.call("desk.stuck")
    await client.complete("nobody", {}, message_id="m-1")
    (task,) = await client.tasks.list()
    return {"call": call.id, "runbook": runbook.id, "instance": instance.id, "task": task.key, "stuck": stuck.id}


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    return msgspec.json.decode(msgspec.json.encode(value))


async def test_a_call_is_the_same_value_everywhere(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        id = there.ids["call"]
        value = await there.told(f"/calls/{id}")
        assert (value["sentence"], value["result"]) == ("Note hello", {"noted": "hello"})
        assert await there.python(show_call, ShowCall(id)) == value
        assert plain(await there.perdure.status(id)) == value
        assert plain(await there.client.status(id)) == value
        assert await there.command("status", id) == value
        again = await there.http.post("/api/verbs/desk.note/calls", json={"args": {"text": "hello"}})
        assert again.json()["sentence"] == plain(await there.perdure.call("desk.note", {"text": "hello"}))["sentence"]
        agent = await there.agent("workflow_status", id=id)
        assert {name: value[name] for name in ("id", "state", "sequence", "started_at", "ended_at", "result")} == {
            name: agent[name] for name in ("id", "state", "sequence", "started_at", "ended_at", "result")
        }


async def test_a_runbook_is_the_same_value_everywhere(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        id = there.ids["runbook"]
        value = await there.told(f"/runbooks/{id}")
        assert [step["sentence"] for step in value["steps"]][:1] == ["Note a"]
        assert await there.python(show_runbook, ShowRunbook(id)) == value
        assert plain(await there.perdure.runbooks.show(id)) == value
        assert plain(await there.client.runbooks.show(id)) == value
        assert await there.command("runbook", "show", id) == value
        agent = await there.agent("runbook_status", id=id, detail="detailed")
        assert [(step["name"], step["state"], step["sentence"], step["args"]) for step in agent["steps"]] == [
            (step["name"], step["state"], step["sentence"], step["args"]) for step in value["steps"]
        ]
        rows = (await there.told("/runbooks"))["items"]
        assert (await there.python(list_runbooks, ListRunbooks()))["items"] == rows
        assert plain((await there.client.listing.runbooks()).items) == rows
        assert (await there.agent("list_runbooks"))["items"] == rows


async def test_an_instance_its_task_and_its_process_are_the_same_values_everywhere(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        id, key = there.ids["instance"], there.ids["task"]
        value = await there.told(f"/instances/{id}")
        assert await there.python(show_instance, ShowInstance(id)) == value
        assert plain(await there.perdure.instances.get(id)) == value
        assert plain(await there.client.instances.get(id)) == value
        assert await there.command("instances", "show", id) == value
        agent = await there.agent("workflow_status", id=id)
        assert (agent["state"], agent["sequence"]) == (value["state"], value["sequence"])

        task = await there.told(f"/tasks/{key}")
        assert await there.python(show_task, ShowTask(key)) == task
        assert plain(await there.perdure.tasks.get(key)) == plain(await there.client.tasks.get(key)) == task
        assert await there.command("tasks", "show", key) == task

        process = await there.told("/processes/review/versions/1")
        assert await there.python(show_process, ShowProcess("review", 1)) == process
        assert plain(await there.perdure.processes.show("review", 1)) == process
        assert plain(await there.client.processes.show("review", 1)) == process


async def test_a_verb_is_the_same_value_everywhere(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        value = await there.told("/verbs/desk.note")
        assert await there.python(show_verb, ShowVerb("desk.note")) == value
        assert plain(await there.client.verbs.get("desk.note")) == value
        agent = await there.agent("describe_verb", verb="desk.note")
        told = (agent["name"], agent["version"], agent["description"], agent["arguments"], agent["index"])
        assert told == (
            value["name"],
            value["version"],
            value["description"],
            value["input_schema"],
            value["index"],
        )


async def test_an_incident_a_wait_and_a_dead_letter_are_the_same_values_everywhere(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        (incident,) = (await there.told("/incidents"))["items"]
        assert (await there.python(list_incidents, Paged()))["items"] == [incident]
        assert plain((await there.client.listing.incidents()).items) == [incident]
        (agent,) = (await there.agent("list_incidents"))["items"]
        assert (agent["id"], agent["code"]) == (there.ids["stuck"], incident["code"])
        (listed,) = await there.command("incidents", "list")
        assert listed == await there.told(f"/calls/{there.ids['stuck']}")

        (wait,) = (await there.told("/parked"))["items"]
        assert (await there.python(list_parked, Paged()))["items"] == [wait]
        assert plain((await there.perdure.listing.parked()).items) == [wait]
        assert plain((await there.client.listing.parked()).items) == [wait]
        (outside,) = (await there.agent("pending_work", kind="waits"))["waits"]
        assert (outside["key"], outside["id"]) == (wait["key"], wait["id"])
        (parked,) = await there.command("parked")
        assert parked["waiting_for"] == wait["waiting_for"]

        (letter,) = (await there.told("/dead-letters"))["items"]
        assert (await there.python(list_letters, Paged()))["items"] == [letter]
        assert plain((await there.perdure.listing.dead_letters()).items) == [letter]
        assert plain((await there.client.listing.dead_letters()).items) == [letter]
        assert await there.command("dead-letters", "list") == [letter]


async def test_the_impact_of_a_deployment_is_the_same_value_everywhere_and_changes_nothing(tmp_path: Path) -> None:
    async with world(tmp_path) as there:
        text = write_model(line("review", user("look"), user("look-again")))
        file = there.shell.folder / "review.bpmn"
        file.write_text(text, encoding="utf-8")
        end = await there.perdure.feed.end()
        body = {"models": [{"xml": text, "file": str(file)}], "profile": "open"}
        value = (await there.http.post("/api/deployments/check", json=body)).raise_for_status().json()
        (state,) = value["processes"][0]["states"]
        assert (state["verdict"], state["examples"]) == ("migrates", [there.ids["instance"]])
        assert {each["verb"] for each in value["verbs"]} >= {"desk.stuck"}
        request = CheckDeployment([ModelFile(text, str(file))], profile="open")
        assert await there.python(check_deployment_impact, request) == value
        assert plain(await there.perdure.deployments.check([file], profile="open")) == value
        assert plain(await there.client.deployments.check([file], profile="open")) == value
        assert await there.command("deploy", "--check", str(file), "--profile", "open") == value
        assert await there.agent("deployment_impact", model=text, profile="open") == value
        assert await there.perdure.feed.end() == end, "nothing was written"

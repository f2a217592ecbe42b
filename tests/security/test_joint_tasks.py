"""A task for `compliance + risk` ends when one person of each has given the same answer on the same data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from perdure import Perdure
from perdure.access.principal import Principal
from perdure.app.audit.store_audit import verify_store
from perdure.bpmn.model import Value
from perdure.bpmn.proof import prove
from perdure.bpmn.xml import write_model
from perdure.surfaces.cli.renderers.process_tables import instance_picture, task_picture
from perdure.surfaces.mcp.pending_work_tools import PendingWork, pending_work
from perdure.surfaces.mcp.tool import tool_session
from perdure.surfaces.repl.platform_adapter import PlatformAdapter
from perdure.testing.scenarios.scenario import Scenario, Start, Task
from perdure.testing.scenarios.scenario_runner import run_scenario
from perdure.verbs import load_text
from tests.engines.embedded.process_models import END, START, flow, fork, model, user
from tests.security.office import Office
from tests.security.test_shown_overrides import printed

pytestmark = [pytest.mark.req("V36"), pytest.mark.both_stores]
VERBS = """
- name: desk.review
  consequence: benign
  args: [{name: case, type: string}]
  execution: {kind: durable, task: {title: "Review it", groups: [compliance + risk]}}
"""
JOINT = Value("compliance + risk")


class People(NamedTuple):
    """Keys: one asks, two are of compliance, one is of risk, one of both, one of neither."""

    asker: str
    sam: str
    sue: str
    tom: str
    rita: str
    eve: str


@asynccontextmanager
async def office(url: str) -> AsyncIterator[tuple[Office, People]]:
    async with Perdure.open(url, definitions=load_text(VERBS), handlers={}) as perdure:
        await perdure.runtime.recovered.wait()
        desk = Office(perdure)
        both = {"sam": ["compliance"], "sue": ["compliance"], "tom": ["risk"], "rita": ["compliance", "risk"]}
        yield (
            desk,
            People(
                await desk.key("ada"),
                *[await desk.key(name, groups=of) for name, of in both.items()],
                await desk.key("eve"),
            ),
        )


async def begun(desk: Office, credential: str, kind: str) -> str:
    """The key of the task of a process, or of a call."""
    if kind == "call":
        made = await desk.post(credential, "/api/verbs/desk.review/calls", args={"case": "7"})
        assert made.status_code == 201, made.text
        return f"{made.json()['id']}:1"
    nodes = (START, user("review", groups=JOINT), END)
    await desk.perdure.processes.deploy(
        model("joint", nodes, (flow("start", "review"), flow("review", "end"))), profile="open"
    )
    made = await desk.post(credential, "/api/instances", process="joint", until="rest", data={"amount": 10})
    assert made.status_code == 201, made.text
    (task,) = (await desk.get(credential, "/api/tasks")).json()["items"]
    return str(task["key"])


async def answer(desk: Office, credential: str, key: str, data: Any, **more: Any) -> tuple[int, str]:
    told = await desk.post(credential, f"/api/tasks/{key}/complete", data=data, **more)
    return told.status_code, told.text


async def entries(desk: Office, key: str, kind: str, of: str = "process") -> list[dict[str, Any]]:
    room = desk.perdure.instances if of == "process" else desk.perdure.runbooks
    return [each.data async for each in room.events(key.partition(":")[0]) if each.entry == kind]


@pytest.mark.parametrize("kind", ["process", "call"])
async def test_one_person_of_each_group_ends_it_with_the_same_answer(store_url: str, kind: str) -> None:
    async with office(store_url) as (desk, people):
        key = await begun(desk, people.asker, kind)
        assert (await answer(desk, people.eve, key, {"ok": True}))[0] == 403
        assert (await answer(desk, people.sam, key, {"ok": True}))[0] == 200
        task = (await desk.get(people.tom, f"/api/tasks/{key}")).json()
        assert (task["groups"], task["awaited"], task["state"]) == ("compliance + risk", ["risk"], "open")
        assert [(each["group"], each["by"], each["data"]) for each in task["given"]] == [
            ("compliance", "sam", {"ok": True})
        ]
        for who, fact in ((people.sam, "'sam' has answered for compliance"), (people.sue, "it is for one of risk")):
            code, text = await answer(desk, who, key, {"ok": True})
            assert (code, fact in text) == (403, True), text
        code, text = await answer(desk, people.tom, key, {"ok": False})
        assert (code, "'sam' of compliance gave another answer" in text) == (409, True), text
        assert (await answer(desk, people.tom, key, {"ok": True}))[0] == 200
        assert (await desk.get(people.tom, f"/api/tasks/{key}")).status_code == 404
        told = await entries(desk, key, "TaskAnswered", kind)
        assert [(each["by"], each["group"]) for each in told] == [("sam", "compliance"), ("tom", "risk")]
        assert told[0]["answer"] == told[1]["answer"] and told[0]["seen"] == told[1]["seen"]
        found = (await verify_store(desk.perdure, {}, is_dry=True)).findings
        assert [each for each in found if each.code != "AUD054"] == [], "no key of seals is given here"


async def test_nobody_answers_for_two_groups_nor_hands_a_group_on(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        key = await begun(desk, people.asker, "process")
        for act, body in (
            ("delegate", {"to": "eve"}),
            ("reassign", {"to": "eve"}),
            ("reassign", {"groups": "compliance"}),
        ):
            told = await desk.post(people.sam, f"/api/tasks/{key}/{act}", **body)
            assert (told.status_code, "nobody answers for another group" in told.text) == (403, True), told.text
        assert (await answer(desk, people.rita, key, {}))[0] == 200
        async with desk.client(people.rita) as client:
            made = await client.post("/api/keys", json={"name": "spare", "principal": "tim", "groups": ["risk"]})
        if made.status_code == 201:  # whom she may not make keys for cannot help her either
            assert (await answer(desk, made.json()["text"], key, {}))[0] == 403
        assert (await answer(desk, people.rita, key, {}))[0] == 403
        assert (await answer(desk, people.tom, key, {}))[0] == 200


async def test_the_inbox_lists_it_for_those_who_are_awaited(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        key = await begun(desk, people.asker, "process")

        async def mine() -> list[bool]:
            keys = (people.sam, people.sue, people.tom, people.eve)
            found = [(await desk.get(each, "/api/tasks?mine=true")).json()["items"] for each in keys]
            return [bool(each) for each in found]

        assert await mine() == [True, True, True, False]
        assert (await answer(desk, people.sam, key, {}))[0] == 200
        assert await mine() == [False, False, True, False]
        listed = (await desk.get(people.eve, "/api/tasks?group=risk")).json()["items"]
        assert [each["key"] for each in listed] == [key]


@pytest.mark.parametrize("kind", ["process", "call"])
async def test_an_answer_taken_back_makes_room_for_another(store_url: str, kind: str) -> None:
    async with office(store_url) as (desk, people):
        key = await begun(desk, people.asker, kind)
        assert (await answer(desk, people.sam, key, {"ok": True}))[0] == 200
        assert (await desk.post(people.eve, f"/api/tasks/{key}/unclaim")).json()["awaited"] == ["risk"]
        taken = await desk.post(people.sam, f"/api/tasks/{key}/unclaim")
        assert taken.json()["awaited"] == ["compliance", "risk"], taken.text
        assert (await answer(desk, people.tom, key, {"ok": False}))[0] == 200
        assert (await answer(desk, people.sam, key, {"ok": False}))[0] == 200
        assert (await desk.get(people.tom, f"/api/tasks/{key}")).status_code == 404


async def test_the_first_answer_counts_no_longer_once_the_data_have_changed(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        nodes = (START, fork("split"), user("review", groups=JOINT), user("other"), fork("join"), END)
        pairs = [("start", "split"), ("split", "review"), ("split", "other"), ("review", "join"), ("other", "join")]
        flows = tuple(flow(one, other) for one, other in [*pairs, ("join", "end")])
        await desk.perdure.processes.deploy(model("joint", nodes, flows), profile="open")
        await desk.post(people.asker, "/api/instances", process="joint", until="rest", data={"amount": 10})
        tasks = {each["element"]: each["key"] for each in (await desk.get(people.eve, "/api/tasks")).json()["items"]}
        key = tasks["review"]
        assert (await answer(desk, people.sam, key, {"ok": True}))[0] == 200
        assert (await answer(desk, people.eve, tasks["other"], {"limit": 99}))[0] == 200
        assert (await answer(desk, people.tom, key, {"ok": True}))[0] == 200
        task = (await desk.get(people.sam, f"/api/tasks/{key}")).json()
        assert (task["awaited"], [each["by"] for each in task["given"]]) == (["compliance"], ["tom"])
        (reopened,) = await entries(desk, key, "TaskReopened")
        assert (reopened["of"], reopened["changed"]) == (["sam"], ["payload"])
        assert (await answer(desk, people.sam, key, {"ok": True}))[0] == 200


async def test_an_act_around_it_needs_somebody_of_each_group(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        key = await begun(desk, people.asker, "process")
        path, body = f"/api/instances/{key.partition(':')[0]}/modify", {"cancel": [int(key.partition(":")[2])]}
        body |= {"start": ["end"], "reason": "the client left"}
        assert (await desk.post(people.asker, path, **body)).status_code == 423
        assert (await desk.post(people.sam, path, **body)).status_code == 423
        assert (await desk.post(people.sue, path, **body)).status_code == 403
        assert (await desk.post(people.tom, path, **body)).status_code == 200


async def test_every_surface_shows_who_has_answered_and_who_is_awaited() -> None:
    async with office("sqlite://") as (desk, people):
        key = await begun(desk, people.asker, "process")
        assert (await answer(desk, people.sam, key, {"verdict": "fine"}))[0] == 200
        told = "sam answered for compliance; one of risk is awaited"
        tom = desk.perdure.acting(principal="tom", groups=("risk",))
        instance = key.partition(":")[0]
        for shown in (task_picture(await tom.tasks.get(key)), instance_picture(await tom.instances.get(instance))):
            assert told in printed(shown)
        who = Principal("default", "tom", "person", frozenset({"admin"}), ("risk",))
        (task,) = (await pending_work(tool_session(desk.perdure, who), PendingWork("tasks"))).tasks
        assert (task.progress, task.given[0]["data"]) == (told, {"verdict": "fine"})
        (seen,) = await PlatformAdapter(tom, "tom").tasks()
        assert seen.who == told
        made = await desk.get(people.asker, f"/api/instances/{instance}/export")
        assert made.status_code == 200, made.text
        acts = [(each["what"], each["who"]) for each in made.json()["people"]]
        assert ("TaskAnswered", "sam") in acts


async def test_proof_and_scenarios_count_such_a_task_as_one(tmp_path: Path) -> None:
    nodes = (START, user("review", groups=JOINT), END)
    made = model("joint", nodes, (flow("start", "review"), flow("review", "end")))
    assert prove(made.definitions).findings == ()
    (tmp_path / "joint.bpmn").write_text(write_model(made), "utf-8")
    said = (
        Task(element="review", by="sam", groups=("compliance",)),
        Task(element="review", by="tom", groups=("risk",)),
    )
    for steps, state in (((Task(element="review"),), "completed"), (said, "completed"), (said[:1], "active")):
        scenario = Scenario(
            file="joint.yaml", model=tmp_path / "joint.bpmn", profile="open", steps=(Start(), *steps), lines=(1, 2, 3)
        )
        assert (await run_scenario(scenario)).actual.state == state

"""A decision binds the documents that were shown: another version asks for it anew."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure import BusinessError, Perdure
from perdure.bpmn.model import Value
from perdure.verbs import load_text
from tests.engines.embedded.process_models import END, START, flow, model, user
from tests.security.office import Office

pytestmark = [pytest.mark.req("V36"), pytest.mark.both_stores]
VERBS = """
documents:
  passport:
    data_schema: {properties: {name: {type: string}}}
verbs:
  - name: desk.review
    consequence: benign
    args: [{name: paper, type: string}]
    execution: {kind: durable, task: {title: "Review it", groups: [compliance]}}
  - name: desk.refused
    consequence: benign
    args: [{name: paper, type: string}]
    execution: {kind: sync, effects: none}
  - name: desk.pay
    consequence: benign
    args: [{name: paper, type: string}]
    execution: {kind: sync, effects: none}
"""


@asynccontextmanager
async def office(url: str, folder: Path) -> AsyncIterator[tuple[Office, str, str, str]]:
    """A desk, the keys of who asks and of two who decide, and a document."""

    def refuse(call: Any) -> Any:
        raise BusinessError("refused", "The bank said no.")

    handlers = {"desk.pay": lambda call: {"paid": True}, "desk.refused": refuse}
    blobs = str(folder)
    async with Perdure.open(url, definitions=load_text(VERBS), handlers=handlers, blobs=blobs) as perdure:
        await perdure.runtime.recovered.wait()
        desk = Office(perdure)
        yield (
            desk,
            await desk.key("ada"),
            await desk.key("sam", groups=["compliance"]),
            await desk.key("tom", groups=["risk"]),
        )


async def handed_in(desk: Office, credential: str, name: str) -> tuple[str, str]:
    made = await desk.post(credential, "/api/documents", type="passport", data={"name": name})
    assert made.status_code == 201, made.text
    return made.json()["id"], f"document://default/{made.json()['id']}"


async def corrected(desk: Office, credential: str, id: str) -> None:
    made = await desk.post(credential, f"/api/documents/{id}/versions", data={"name": "another"})
    assert made.status_code in (200, 201), made.text


async def answer(desk: Office, credential: str, key: str, **more: Any) -> tuple[int, str]:
    told = await desk.post(credential, f"/api/tasks/{key}/complete", **more)
    return told.status_code, told.text


@pytest.mark.parametrize("kind", ["process", "call"])
async def test_a_task_is_looked_at_again_when_a_document_it_shows_has_another_version(
    store_url: str, tmp_path: Path, kind: str
) -> None:
    async with office(store_url, tmp_path) as (desk, ada, sam, _):
        id, reference = await handed_in(desk, ada, "Anna")
        if kind == "call":
            made = await desk.post(ada, "/api/verbs/desk.review/calls", args={"paper": reference})
            key = f"{made.json()['id']}:1"
        else:
            nodes = (START, user("review", groups=Value("compliance")), END)
            one = model("seen", nodes, (flow("start", "review"), flow("review", "end")))
            await desk.perdure.processes.deploy(one, profile="open")
            await desk.post(ada, "/api/instances", process="seen", until="rest", data={"papers": [{"of": reference}]})
            key = (await desk.get(ada, "/api/tasks")).json()["items"][0]["key"]
        seen = (await desk.get(sam, f"/api/tasks/{key}")).json()["seen"]
        await corrected(desk, ada, id)
        code, text = await answer(desk, sam, key, seen=seen)
        assert (code, "it has changed since it was looked at: documents" in text) == (409, True), text
        fresh = (await desk.get(sam, "/api/tasks?mine=true")).json()["items"][0]["seen"]
        assert (await answer(desk, sam, key, seen=fresh))[0] == 200


async def test_several_groups_decide_on_the_same_versions(store_url: str, tmp_path: Path) -> None:
    async with office(store_url, tmp_path) as (desk, ada, sam, tom):
        id, reference = await handed_in(desk, ada, "Anna")
        nodes = (START, user("review", groups=Value("compliance + risk")), END)
        one = model("seen", nodes, (flow("start", "review"), flow("review", "end")))
        await desk.perdure.processes.deploy(one, profile="open")
        await desk.post(ada, "/api/instances", process="seen", until="rest", data={"paper": reference})
        key = (await desk.get(ada, "/api/tasks")).json()["items"][0]["key"]
        assert (await answer(desk, sam, key))[0] == 200
        await corrected(desk, ada, id)
        assert (await answer(desk, tom, key))[0] == 200
        task = (await desk.get(sam, f"/api/tasks/{key}")).json()
        assert (task["awaited"], [each["by"] for each in task["given"]]) == (["compliance"], ["tom"])
        assert (await answer(desk, sam, key))[0] == 200


async def test_a_gate_opens_again_when_a_document_changed_before_its_step_began(store_url: str, tmp_path: Path) -> None:
    async with office(store_url, tmp_path) as (desk, ada, sam, _):
        id, reference = await handed_in(desk, ada, "Anna")
        program = f'(desk.pay :as @p :paper "{reference}" :gate "compliance + risk")'
        made = (await desk.post(ada, "/api/runbooks", program=program)).json()["id"]
        seen = (await desk.get(sam, f"/api/tasks/{made}:1")).json()["seen"]
        await corrected(desk, ada, id)
        path = f"/api/runbooks/{made}/steps/p/answer"
        stale = await desk.post(sam, path, agree=True, seen=seen)
        assert (stale.status_code, "documents" in stale.text) == (409, True), stale.text
        assert (await desk.post(sam, path, agree=True)).status_code == 200
        await corrected(desk, ada, id)
        tom = await desk.key("tim", groups=["risk"])
        assert (await desk.post(tom, path, agree=True)).status_code == 200
        reopened = [each.data async for each in desk.perdure.runbooks.events(made) if each.entry == "GateReopened"]
        assert [each["changed"] for each in reopened] == [["documents"]]
        assert (await desk.post(sam, path, agree=True)).status_code == 200
        assert (await desk.perdure.runbooks.wait(made)).state == "completed"


async def test_a_step_that_is_retried_with_another_version_is_asked_for_anew(store_url: str, tmp_path: Path) -> None:
    async with office(store_url, tmp_path) as (desk, ada, sam, _):
        id, reference = await handed_in(desk, ada, "Anna")
        program = f'(desk.refused :as @f :paper "{reference}" :gate "compliance" :on-failure continue)'
        made = (await desk.post(ada, "/api/runbooks", program=program, sealed=False)).json()["id"]
        for state in ("failed", "parked"):
            path = f"/api/runbooks/{made}/steps/f"
            if state == "failed":
                assert (await desk.post(sam, f"{path}/answer", agree=True)).status_code == 200
            else:
                await corrected(desk, ada, id)
                assert (await desk.post(ada, f"{path}/retry")).status_code == 200
            assert (await desk.perdure.runbooks.rest(made, 10)).steps[0].state == state
        told = [each.data async for each in desk.perdure.runbooks.events(made) if each.entry == "GateReopened"]
        assert [each["changed"] for each in told] == [["documents"]]

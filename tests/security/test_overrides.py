"""No act goes around a human task of a group or of four eyes without somebody who could have answered it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx
import pytest

from perdure import Perdure
from perdure.bpmn.model import Value
from perdure.verbs import load_text
from tests.engines.embedded.process_models import call, line, message, service, user, wait
from tests.security.office import Office

pytestmark = [pytest.mark.req("V36"), pytest.mark.both_stores(one_in=6)]
VERBS = """
- name: desk.review
  consequence: benign
  args: [{name: case, type: string}]
  execution: {kind: durable, task: {title: "Review it", groups: [compliance], four_eyes: true}}
- name: desk.pay
  consequence: benign
  execution: {kind: sync, effects: none}
- name: desk.file
  consequence: benign
  args: [{name: verdict, type: string}]
  execution: {kind: sync, effects: none}
- name: desk.wait
  consequence: benign
  execution: {kind: durable}
- name: desk.carried
  consequence: benign
  execution: {kind: durable, process: reviewed}
"""
REVIEWED = ("review", {"groups": Value("compliance"), "properties": {"perdure:fourEyes": "true"}})
STEPS = '(desk.review :as @r :case "7") (desk.pay :as @p :after [@r])'
LATER = '(desk.wait :as @w) (desk.review :as @r :case "7" :after [@w]) (desk.pay :as @p :after [@r])'
PAPERS = message("papers", key="7")
GATED = '(desk.file :as @f :gate "compliance") (desk.pay :as @p :after [@f])'


class People(NamedTuple):
    """Ada asks and is of compliance, as Rita and the agent are; Otto and Olga operate."""

    ada: str
    otto: str
    olga: str
    rita: str
    bot: str


@asynccontextmanager
async def office(url: str) -> AsyncIterator[tuple[Office, People]]:
    def broken(call: Any) -> Any:
        raise RuntimeError("the cabinet is locked")

    handlers = {"desk.pay": lambda call: {"paid": True}, "desk.file": broken}
    async with Perdure.open(url, definitions=load_text(VERBS), handlers=handlers) as perdure:
        await perdure.runtime.recovered.wait()
        desk = Office(perdure)
        review = user(REVIEWED[0], **REVIEWED[1])
        models = (
            line("reviewed", review, service("pay", "desk.pay")),
            line("late", wait("arrival", "papers"), review, service("pay", "desk.pay"), messages=(PAPERS,)),
            line("caller", call("inner", "reviewed"), service("pay", "desk.pay")),
            line("taken", user("review", groups=Value("compliance"), properties={"intake": "desk.file"}),
                 service("pay", "desk.pay")),
        )  # fmt: skip
        for model in models:
            await perdure.processes.deploy(model, profile="open")
        compliance = {"groups": ["compliance"]}
        keys = [await desk.key("ada", **compliance), await desk.key("otto"), await desk.key("olga")]
        keys += [await desk.key("rita", **compliance), await desk.key("agent:bot", "agent", **compliance)]
        yield desk, People(*keys)


async def begun(desk: Office, who: str, process: str, until: str = "rest") -> dict[str, Any]:
    made = await desk.post(who, "/api/instances", process=process, until=until)
    assert made.status_code == 201, made.text
    return dict(made.json())


def token(view: dict[str, Any], element: str) -> int:
    return next(int(each["number"]) for each in view["tokens"] if each["element"] == element)


async def running(desk: Office, who: str, program: str) -> str:
    made = await desk.post(who, "/api/runbooks", program=program)
    assert made.status_code == 201, made.text
    await desk.perdure.runbooks.rest(made.json()["id"], 10)
    return str(made.json()["id"])


async def is_overridden_by_two(desk: Office, people: People, path: str, **act: Any) -> httpx.Response:
    """An act that an operator proposes, that neither she, nor another one, nor an agent, nor who asked can confirm."""
    missing = await desk.post(people.otto, path, **{**act, "reason": ""})
    assert missing.status_code == 422, missing.text
    proposed = await desk.post(people.otto, path, **{**act, "reason": "the reviewer is on leave"})
    assert proposed.status_code == 423, proposed.text
    assert "compliance" in proposed.text
    again = await desk.post(people.otto, path, **{**act, "reason": "and still is"})
    assert again.status_code == 423, again.text
    others = [await desk.post(each, path, **{**act, "reason": "yes"}) for each in (people.olga, people.ada, people.bot)]
    assert [each.status_code for each in others] == [403, 403, 403], [each.text for each in others]
    done = await desk.post(people.rita, path, **{**act, "reason": "I looked at it"})
    assert done.status_code == 200, done.text
    return done


async def events(desk: Office, id: str, kind: str) -> list[dict[str, Any]]:
    found = [each async for each in desk.perdure.runbooks.events(id)]
    return [each.data for each in found if each.entry == kind]


async def test_a_token_moves_past_a_task_only_with_somebody_who_could_have_answered_it(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await begun(desk, people.ada, "reviewed")
        act = {"cancel": [token(view, "review")], "start": ["pay"]}
        await is_overridden_by_two(desk, people, f"/api/instances/{view['id']}/modify", **act)


async def test_a_token_does_not_pass_a_task_before_it_opens(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await begun(desk, people.ada, "late")
        act = {"cancel": [token(view, "arrival")], "start": ["pay"]}
        await is_overridden_by_two(desk, people, f"/api/instances/{view['id']}/modify", **act)


async def test_a_token_is_put_behind_a_task_only_by_two(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await begun(desk, people.ada, "late")
        await is_overridden_by_two(desk, people, f"/api/instances/{view['id']}/modify", cancel=[], start=["pay"])


async def test_a_called_process_is_not_left_while_its_task_waits(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await begun(desk, people.ada, "caller", until="committed")  # what is called may go on: it never rests
        while not (await desk.perdure.listing.tasks()).items:
            await asyncio.sleep(0)
        act = {"cancel": [token(view, "inner")], "start": ["pay"]}
        await is_overridden_by_two(desk, people, f"/api/instances/{view['id']}/modify", **act)


async def test_a_token_that_comes_before_the_task_again_needs_nobody(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await begun(desk, people.ada, "late")
        path = f"/api/instances/{view['id']}/modify"
        moved = await desk.post(people.otto, path, cancel=[token(view, "arrival")], start=["review"])
        assert moved.status_code == 200, moved.text
        back = await desk.post(people.otto, path, cancel=[token(moved.json(), "review")], start=["arrival"])
        assert back.status_code == 200, back.text


async def test_somebody_who_could_answer_acts_alone_with_a_reason_and_is_shown(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await begun(desk, people.ada, "reviewed")
        path, act = f"/api/instances/{view['id']}/modify", {"cancel": [token(view, "review")], "start": ["pay"]}
        assert (await desk.post(people.rita, path, **act)).status_code == 422
        done = await desk.post(people.rita, path, reason="it was reviewed on paper", **act)
        assert done.status_code == 200, done.text
        (shown,) = done.json()["overrides"]
        assert (shown["by"], shown["state"], shown["reason"]) == ("rita", "used", "it was reviewed on paper")


async def test_an_answer_whose_intake_is_stuck_is_not_resolved_by_hand_by_one(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await begun(desk, people.ada, "taken")
        key = f"{view['id']}:{token(view, 'review')}"
        answered = await desk.post(people.rita, f"/api/tasks/{key}/complete", data={"verdict": "no"})
        assert answered.status_code == 200, answered.text
        stuck = await desk.perdure.instances.wait(view["id"], until="rest", timeout_seconds=10)
        assert stuck.incidents
        path, act = f"/api/instances/{view['id']}/resolve", {"data": {"verdict": "yes"}}
        proposed = await desk.post(people.otto, path, reason="she meant yes", **act)
        assert proposed.status_code == 423, proposed.text
        assert (await desk.post(people.rita, path, reason="I did", **act)).status_code == 200


@pytest.mark.parametrize("act", ["skip", "cancel"])
@pytest.mark.parametrize("program", [STEPS, GATED, LATER], ids=["task", "gate", "later"])
async def test_a_step_is_left_out_only_with_somebody_who_could_have_answered(
    store_url: str, program: str, act: str
) -> None:
    async with office(store_url) as (desk, people):
        id = await running(desk, people.ada, program)
        step = "f" if program == GATED else "r"
        await is_overridden_by_two(desk, people, f"/api/runbooks/{id}/steps/{step}/{act}")
        (override,) = await events(desk, id, "OverrideProposed")
        assert (override["by"], override["reason"]) == ("otto", "the reviewer is on leave")
        (agreed,) = await events(desk, id, "OverrideAgreed")
        assert (agreed["by"], agreed["reason"]) == ("rita", "I looked at it")
        shown = (await desk.get(people.otto, f"/api/runbooks/{id}")).json()["overrides"]
        assert [(each["by"], each["agreed_by"], each["state"]) for each in shown] == [("otto", ["rita"], "used")]


async def test_a_refusal_is_not_left_out_by_one(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        id = await running(desk, people.ada, GATED)
        refused = await desk.post(people.rita, f"/api/runbooks/{id}/steps/f/answer", agree=False)
        assert refused.status_code == 200
        skipped = await desk.post(people.otto, f"/api/runbooks/{id}/steps/f/skip", reason="go on")
        assert skipped.status_code == 423, skipped.text


async def test_a_step_whose_process_has_an_open_task_is_left_out_only_by_two(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        id = await running(desk, people.ada, "(desk.carried :as @c) (desk.pay :as @p :after [@c])")
        await is_overridden_by_two(desk, people, f"/api/runbooks/{id}/steps/c/skip")


async def test_data_of_a_decision_are_corrected_only_with_somebody_who_could_have_made_it(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        made = await desk.post(people.ada, "/api/verbs/desk.review/calls", args={"case": "7"})
        id, key = made.json()["id"], made.json()["waiting_for"]["key"]
        assert (await desk.post(people.rita, "/api/completions", key=key, result={})).status_code == 202
        proposed = await desk.post(people.otto, f"/api/calls/{id}/amend", data={"case": "8"}, reason="a slip")
        assert proposed.status_code == 200, proposed.text
        path = f"/api/calls/{id}/approve"
        answers = [await desk.post(each, path, amendment=1) for each in (people.otto, people.olga, people.ada)]
        assert [each.status_code for each in answers] == [403, 403, 403], [each.text for each in answers]
        assert (await desk.post(people.rita, path, amendment=1)).status_code == 200
        (approved,) = await events(desk, id, "AmendmentApproved")
        assert approved["overrides"] is True


async def test_operators_still_stop_the_whole(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view, id = await begun(desk, people.ada, "reviewed"), await running(desk, people.ada, GATED)
        assert (await desk.post(people.otto, f"/api/instances/{view['id']}/cancel")).status_code == 200
        assert (await desk.post(people.otto, f"/api/runbooks/{id}/cancel")).status_code == 200


async def test_python_finds_no_way_around(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await begun(desk, people.ada, "reviewed")
        otto = desk.perdure.acting(principal="otto")
        with pytest.raises(Exception, match="group compliance"):
            await otto.instances.modify(view["id"], cancel=[token(view, "review")], start=["pay"], reason="quick")
        seen = await otto.instances.get(view["id"])
        assert [each.element for each in seen.tokens] == ["review"]
        assert [(each.by, each.state, each.needs) for each in seen.overrides] == [
            ("otto", "proposed", "group compliance")
        ]

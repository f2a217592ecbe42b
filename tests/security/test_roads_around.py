"""No road leads around a human task: called processes that were stopped, flags set by hand, other versions."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from perdure.bpmn.model import Gateway, Value
from perdure.journal import Origin
from perdure.sources import id_text
from tests.engines.embedded.process_models import (
    END,
    START,
    call,
    flow,
    line,
    model,
    service,
    user,
    wait,
    when,
)
from tests.security.office import Office
from tests.security.test_overrides import PAPERS, REVIEWED, People, begun, is_overridden_by_two, office, running, token

pytestmark = [pytest.mark.req("V36"), pytest.mark.both_stores]
REVIEW = user(REVIEWED[0], **REVIEWED[1])
PAY = service("pay", "desk.pay")
ARRIVAL = wait("arrival", "papers")
SORT = Gateway(id="sort", kind="exclusive", default="sort-review")
NOTES = (START, ARRIVAL, SORT, REVIEW, PAY, END)
WAYS = (flow("start", "arrival"), flow("arrival", "sort"), flow("sort", "review"), flow("review", "pay"))
SORTED = model(
    "sorted", NOTES, (*WAYS, flow("sort", "pay", when("orch_small", True)), flow("pay", "end")), messages=(PAPERS,)
)
ASKED_BY_FLAG = line(
    "addressed", ARRIVAL, user("review", groups=Value("orch_group", "flag")), PAY, messages=(PAPERS,)
)  # fmt: skip


async def deployed(desk: Office, *models: Any) -> None:
    for each in models:
        await desk.perdure.processes.deploy(each, profile="open")


async def called_instance(desk: Office, people: People, process: str) -> str:
    (found,) = (await desk.get(people.otto, f"/api/instances?process={process}")).json()["items"]
    return str(found["id"])


async def calling(desk: Office, people: People, process: str) -> dict[str, Any]:
    """An instance whose called process has come to its task; the caller itself never rests."""
    view = await begun(desk, people.ada, process, until="committed")
    while not (await desk.perdure.listing.tasks()).items:
        await asyncio.sleep(0)
    return view


async def stopped(desk: Office, people: People, caller: dict[str, Any], process: str = "reviewed") -> None:
    """The instance that an instance called is cancelled, and the caller has heard it."""
    called = await called_instance(desk, people, process)
    assert (await desk.post(people.otto, f"/api/instances/{called}/cancel")).status_code == 200
    await desk.perdure.instances.wait(caller["id"], until="rest", timeout_seconds=10)


async def test_a_call_whose_process_was_stopped_is_resolved_only_by_two(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await calling(desk, people, "caller")
        await stopped(desk, people, view)
        done = await is_overridden_by_two(desk, people, f"/api/instances/{view['id']}/resolve")
        (shown,) = done.json()["overrides"]
        assert (shown["by"], shown["agreed_by"], shown["state"]) == ("otto", ["rita"], "used")


async def test_a_token_does_not_leave_a_call_whose_process_was_stopped(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await calling(desk, people, "caller")
        await stopped(desk, people, view)
        act = {"cancel": [token(view, "inner")], "start": ["pay"]}
        await is_overridden_by_two(desk, people, f"/api/instances/{view['id']}/modify", **act)


async def test_a_call_whose_process_never_began_is_resolved_only_by_two(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        await desk.perdure.processes.retire("reviewed", 1, "it is to be left out")
        view = await begun(desk, people.ada, "caller")
        stuck = await desk.perdure.instances.wait(view["id"], until="rest", timeout_seconds=10)
        assert stuck.incidents
        await is_overridden_by_two(desk, people, f"/api/instances/{view['id']}/resolve")


async def test_a_called_process_whose_task_was_answered_is_resolved_by_one(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        await deployed(desk, line("slow", REVIEW, ARRIVAL, messages=(PAPERS,)), line("patient", call("inner", "slow")))
        view = await calling(desk, people, "patient")
        called = await called_instance(desk, people, "slow")
        key = f"{called}:{token((await desk.get(people.otto, f'/api/instances/{called}')).json(), 'review')}"
        assert (await desk.post(people.rita, f"/api/tasks/{key}/complete")).status_code == 200
        await stopped(desk, people, view, "slow")
        assert (await desk.post(people.otto, f"/api/instances/{view['id']}/resolve")).status_code == 200


async def test_the_instance_that_carries_a_step_is_stopped_only_by_two(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        await running(desk, people.ada, "(desk.carried :as @c) (desk.pay :as @p :after [@c])")
        carrier = id_text((await anext(desk.perdure.runtime.instances.follow(Origin("default")))).instance)
        await desk.perdure.instances.wait(carrier, until="rest", timeout_seconds=10)
        await is_overridden_by_two(desk, people, f"/api/instances/{carrier}/cancel")


@pytest.mark.parametrize("road", ["modify", "retry"])
async def test_a_flag_that_leads_past_a_task_is_set_by_hand_only_by_two(store_url: str, road: str) -> None:
    async with office(store_url) as (desk, people):
        await deployed(desk, SORTED, line("broken", service("file", "desk.file"), SORT, REVIEW, PAY,
                                          flows=(flow("sort", "pay", when("orch_small", True)),)))  # fmt: skip
        view = await begun(desk, people.ada, "sorted" if road == "modify" else "broken")
        path, act = f"/api/instances/{view['id']}/{road}", {"flags": {"orch_small": True}}
        await is_overridden_by_two(desk, people, path, **act)


async def test_a_flag_that_says_whom_a_task_is_for_is_set_by_hand_only_by_two(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        await deployed(desk, ASKED_BY_FLAG)
        flags = {"orch_group": "compliance"}
        made = await desk.post(people.ada, "/api/instances", process="addressed", flags=flags, until="rest")
        path = f"/api/instances/{made.json()['id']}/modify"
        proposed = await desk.post(people.otto, path, flags={"orch_group": "friends"}, reason="they are nicer")
        assert proposed.status_code == 423, proposed.text
        assert (
            await desk.post(people.rita, path, flags={"orch_group": "friends"}, reason="so be it")
        ).status_code == 200


async def test_a_flag_that_leads_past_no_task_needs_nobody(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        await deployed(desk, SORTED)
        view = await begun(desk, people.ada, "sorted")
        done = await desk.post(people.otto, f"/api/instances/{view['id']}/modify", flags={"orch_colour": "blue"})
        assert done.status_code == 200, done.text
        assert done.json()["overrides"] == []


async def test_data_of_a_guarded_process_are_set_by_hand_only_by_two(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        await deployed(desk, line("slow", REVIEW, ARRIVAL, PAY, messages=(PAPERS,)))
        view = await begun(desk, people.ada, "slow")
        key = f"{view['id']}:{token(view, 'review')}"
        assert (await desk.post(people.rita, f"/api/tasks/{key}/complete")).status_code == 200
        # She agreed to what she saw: what is paid afterwards is no affair of one operator.
        path = f"/api/instances/{view['id']}/modify"
        await is_overridden_by_two(desk, people, path, data={"amount": 5000})
        assert (await desk.get(people.otto, f"/api/instances/{view['id']}")).json()["data"]["amount"] == 5000


async def test_who_agrees_to_data_agrees_to_those_data(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await begun(desk, people.ada, "reviewed")
        path = f"/api/instances/{view['id']}/modify"
        for amount in (5, 6):
            told = await desk.post(people.otto, path, data={"amount": amount}, reason="a typing error")
            assert told.status_code == 423, told.text
        assert (await desk.post(people.olga, path, data={"amount": 7}, reason="so be it")).status_code != 200
        done = await desk.post(people.rita, path, data={"amount": 6}, reason="I looked at it")
        assert done.status_code == 200, done.text
        assert done.json()["data"]["amount"] == 6


async def test_a_variable_of_a_guarded_process_is_set_only_by_two(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        view = await begun(desk, people.ada, "reviewed")
        path = f"/api/instances/{view['id']}/variables/amount"
        for person, status in ((people.otto, 423), (people.otto, 423), (people.olga, 403), (people.rita, 200)):
            told = await desk.put(person, path, value=5000, reason="as agreed")
            assert told.status_code == status, told.text


async def migrated(desk: Office, people: People, before: Any, after: Any, **more: Any) -> tuple[str, dict[str, Any]]:
    await deployed(desk, before)
    view = await begun(desk, people.ada, before.definitions.processes[0].id)
    await deployed(desk, after)
    return f"/api/instances/{view['id']}/migrate", {"dry_run": False, **more}


LATE = line("checked", ARRIVAL, REVIEW, PAY, messages=(PAPERS,))
WITHOUT = line("checked", ARRIVAL, PAY, messages=(PAPERS,))
FOR_MORE = line("checked", ARRIVAL, user("review", groups=Value("compliance, sales")), PAY, messages=(PAPERS,))
AVOIDABLE = model(
    "checked", NOTES, (*WAYS, flow("sort", "pay", when("orch_small", True)), flow("pay", "end")), messages=(PAPERS,)
)
MOVED = line("checked", REVIEW, wait("later", "papers"), PAY, messages=(PAPERS,))
CALLING = line("checked", ARRIVAL, call("inner", "reviewed"), PAY, messages=(PAPERS,))


@pytest.mark.parametrize(
    ("before", "after", "mapping"),
    [
        (LATE, WITHOUT, {}),
        (LATE, FOR_MORE, {}),
        (LATE, AVOIDABLE, {}),
        (LATE, MOVED, {"arrival": "later"}),
        (CALLING, WITHOUT, {}),
    ],
    ids=["gone", "for more", "avoidable", "behind", "call"],
)
async def test_an_instance_goes_on_without_its_task_under_another_version_only_by_two(
    store_url: str, before: Any, after: Any, mapping: dict[str, str]
) -> None:
    async with office(store_url) as (desk, people):
        path, act = await migrated(desk, people, before, after, mapping=mapping)
        looked = await desk.post(people.otto, path, **{**act, "dry_run": True})
        assert looked.status_code == 200, looked.text
        assert len(looked.json()["goes_around"]) == 1
        await is_overridden_by_two(desk, people, path, **act)


async def test_a_version_that_keeps_the_task_needs_nobody(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        stricter = user("review", groups=Value("compliance"), properties={"perdure:fourEyes": "true"})
        after = line("checked", ARRIVAL, service("file", "desk.pay"), stricter, PAY, messages=(PAPERS,))
        path, act = await migrated(desk, people, LATE, after)
        assert (await desk.post(people.otto, path, **act)).status_code == 200


async def test_an_open_task_stays_whose_it_is_under_another_version(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        path, act = await migrated(desk, people, line("checked", REVIEW, PAY), line("checked", user("review"), PAY))
        assert (await desk.post(people.otto, path, **act)).status_code == 200
        view = (await desk.get(people.otto, path.removesuffix("/migrate"))).json()
        key = f"{view['id']}:{token(view, 'review')}"
        answers: list[httpx.Response] = []
        for each in (people.otto, people.ada, people.rita):
            answers.append(await desk.post(each, f"/api/tasks/{key}/complete"))
        assert [each.status_code for each in answers] == [403, 403, 200], [each.text for each in answers]


async def test_python_finds_no_way_around_by_flags_or_versions(store_url: str) -> None:
    async with office(store_url) as (desk, people):
        path, _ = await migrated(desk, people, LATE, WITHOUT)
        otto, id = desk.perdure.acting(principal="otto"), path.split("/")[3]
        with pytest.raises(Exception, match="group compliance"):
            await otto.instances.migrate(id, dry_run=False, reason="quick")
        assert [each.state for each in (await otto.instances.get(id)).overrides] == ["proposed"]

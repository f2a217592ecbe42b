"""`ETag` and `If-Match`: nobody overwrites what they have not seen."""

from __future__ import annotations

import asyncio

import pytest

from perdure.app.operations.operation import ANY_VERSION
from perdure.surfaces.http.operation_routes import seen_versions
from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P2")
CALLS = {"calls": [{"verb": "desk.wait", "name": "first"}]}


async def test_a_draft_that_somebody_else_changed_is_not_overwritten(store_url: str) -> None:
    async with served(store_url, authentication=()) as found, found.client() as client:
        made = await client.post("/api/drafts", json=CALLS)
        path, tag = made.headers["location"], made.headers["etag"]
        mine = await client.put(path, json={"calls": [], "change": "emptied"}, headers={"If-Match": tag})
        assert mine.status_code == 200 and mine.headers["etag"] != tag
        theirs = await client.put(path, json=CALLS, headers={"If-Match": tag})
        assert (theirs.status_code, theirs.json()["code"]) == (412, "request.stale")
        assert theirs.headers["etag"] == mine.headers["etag"]
        assert (await client.get(path)).json()["program"].strip() == ""
        assert (await client.post(f"{path}/undo", headers={"If-Match": mine.headers["etag"]})).status_code == 200


async def test_of_many_who_saw_the_same_one_wins() -> None:
    async with served(authentication=()) as found, found.client() as client:
        made = await client.post("/api/drafts", json=CALLS)
        path, match = made.headers["location"], {"If-Match": made.headers["etag"]}
        bodies = [{"calls": [], "change": f"change {number}"} for number in range(8)]
        answers = await asyncio.gather(*(client.put(path, json=each, headers=match) for each in bodies))
        assert sorted(each.status_code for each in answers) == [200, *[412] * 7]
        assert (await client.get(path)).json()["revisions"] == 2


async def test_acts_on_calls_and_runbooks_heed_it_too() -> None:
    async with served(authentication=()) as found, found.client() as client:
        call = await client.post("/api/verbs/desk.wait/calls", json={})
        runbook = await client.post("/api/runbooks", json=CALLS)
        for made in (call, runbook):
            path = f"{made.headers['location']}/cancel"
            assert (await client.post(path, headers={"If-Match": '"1000"'})).status_code == 412
            current = (await client.get(made.headers["location"])).headers["etag"]
            assert (await client.post(path, headers={"If-Match": current})).json()["state"] == "cancelled"


@pytest.mark.parametrize("tag", ['"4"', 'W/"5"', "5", "", '"5', "x"])
def test_what_is_not_the_tag_of_this_state_does_not_match(tag: str) -> None:
    versions = seen_versions(tag)
    assert versions is not None and 5 not in versions


@pytest.mark.parametrize("tag", ['"5"', "*", '"4", "5"', ' "5" '])
def test_the_tag_of_this_state_matches(tag: str) -> None:
    versions = seen_versions(tag)
    assert versions is not None and not versions.isdisjoint({ANY_VERSION, 5})

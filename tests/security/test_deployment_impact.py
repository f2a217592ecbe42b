"""The impact of a deployment tells nobody of processes, instances and verbs that their key does not reach."""

from __future__ import annotations

import json

import pytest

from tests.security.narrow_house import LOOK, NOTE, SECRET, model, narrow_house

pytestmark = pytest.mark.req("V36", "P3")
PATH = "/api/deployments/check"


async def test_a_narrow_key_is_told_of_what_it_reaches_alone() -> None:
    async with narrow_house() as house:
        hidden = [await house.begun(process) for process in ("mixed", "calls-mixed", "door", "people")]
        seen = await house.begun("open")
        called = await house.called("sec.wait")
        own = await house.called("pub.wait", "mine", house.pub)
        whole, narrow = await house.ada.post(PATH, {}), await house.pub.post(PATH, {})
        assert {each["process"] for each in whole["processes"]} >= {"mixed", "people", "open"}
        assert [each["process"] for each in narrow["processes"]] == ["open"]
        assert narrow["processes"][0]["states"][0]["examples"] == [seen]
        assert {each["verb"] for each in narrow["verbs"]} == {"pub.note", "pub.wait"}
        told = json.dumps(narrow)
        assert own in told and SECRET not in told
        assert not [id for id in (*hidden, called) if id in told]
        assert called in json.dumps(whole) and hidden[0] in json.dumps(whole)


async def test_a_narrow_key_asks_about_no_model_in_the_place_of_one_it_does_not_reach() -> None:
    async with narrow_house() as house:
        await house.begun("mixed")
        brought = {"models": [{"xml": model("mixed", NOTE, LOOK)}], "profile": "open"}
        refused = await house.pub.post(PATH, brought, 403)
        assert "pub.*" in refused["detail"]
        assert (await house.peer.post(PATH, brought))["processes"][0]["instances"] == 1
        allowed = {"models": [{"xml": model("open", NOTE, LOOK, LOOK.replace('"b"', '"d"'))}], "profile": "open"}
        assert (await house.pub.post(PATH, allowed))["verdict"] == "goes_on"


async def test_a_tenant_is_told_of_its_own_work_alone() -> None:
    async with narrow_house() as house:
        await house.begun("open")
        await house.called("pub.wait")
        found = await house.server.of("spy").post(PATH, {})
        assert (found["processes"], found["verbs"], found["carriers"]) == ([], [], [])

"""The eight models run on our engine: what steps are asked and bring, where tokens go, and how each ends."""

from __future__ import annotations

import pytest

from tests.contract.contract_world import Seen, begun, carrying, decide, failing, tell

pytestmark = pytest.mark.both_stores


@pytest.mark.req("B8")
@pytest.mark.req("B11")
async def test_linear_steps_are_asked_and_bring_what_their_mappings_say(store_url: str) -> None:
    seen = Seen()
    results = {
        "stock.reserve": {"reservation": "r-1", "other": 5},
        "stock.pack": {"parcel": {"id": "p-1"}, "weight": 3},
        "customer.notify": {"sent": True},
    }
    async with carrying(store_url, results, "linear.bpmn", seen=seen) as sandbox:
        done = await begun(sandbox, "ship_order", order={"id": "o-1", "quantity": 2}, customer="c-1")
    assert done.state == "completed"
    assert done.business_key == "ship-o-1"
    assert done.data == {
        "order": {"id": "o-1", "quantity": 2}, "customer": "c-1", "reservation": {"id": "r-1"},
        "parcel": {"id": "p-1"}, "weight": 3,
    }  # fmt: skip
    told = "tell_customer"
    assert seen.calls == [
        ("stock.reserve", {"order": "o-1", "quantity": 2}, f"{done.id}/reserve/reserve/1", {}),
        ("stock.pack", {"reservation": "r-1"}, "pack/o-1", {"hall": "north", "priority": "normal"}),
        ("customer.notify", {"parcel": {"id": "p-1"}, "customer": "c-1"}, f"{done.id}/{told}/{told}/1", {}),
    ]  # fmt: skip


@pytest.mark.req("B8")
@pytest.mark.req("B9")
async def test_a_wait_takes_the_message_of_its_key_and_no_other(store_url: str) -> None:
    results = {
        "render.request.start": {"job": "j-7"},
        "film.publish": lambda call: {"url": f"at {call.args['location']}"},
    }
    async with carrying(store_url, results, "request-and-wait.bpmn") as sandbox:
        waiting = await begun(sandbox, "render_film", film="f1")
        assert [(each.name, each.key) for each in waiting.waits] == [("RenderingCompleted", "j-7")]
        other = await tell(sandbox, waiting.id, "RenderingCompleted", "j-8", {"location": "x", "frames": 1}, "m0")
        assert other.state == "active"
        done = await tell(sandbox, waiting.id, "RenderingCompleted", "j-7", {"location": "here", "frames": 24}, "m1")
    assert done.state == "completed"
    assert done.data == {"film": "f1", "job": {"id": "j-7"}, "frames": 24, "location": "here", "url": "at here"}


@pytest.mark.req("B11")
async def test_a_message_that_comes_before_its_wait_is_kept_for_it(store_url: str) -> None:
    results = {"render.request.start": {"job": "j-7"}, "film.publish": {"url": "u"}}
    async with carrying(store_url, results, "request-and-wait.bpmn") as sandbox:
        early = {"location": "here", "frames": 24}
        await sandbox.publish("RenderingCompleted", "j-7", early, message_id="m1", ttl_seconds=3600)
        done = await begun(sandbox, "render_film", film="f1")
    assert (done.state, done.data["frames"]) == ("completed", 24)


@pytest.mark.req("B8")
async def test_a_delivery_that_comes_twice_ends_one_wait(store_url: str) -> None:
    results = {"render.request.start": {"job": "j-7"}, "film.publish": {"url": "u"}}
    async with carrying(store_url, results, "request-and-wait.bpmn") as sandbox:
        first = await begun(sandbox, "render_film", film="f1")
        second = await begun(sandbox, "render_film", film="f2")
        assert [each.state for each in (first, second)] == ["active", "active"]
        data = {"location": "here", "frames": 24}
        await sandbox.instances.cancel(second.id)
        await tell(sandbox, first.id, "RenderingCompleted", "j-7", data, "m1")
        third = await begun(sandbox, "render_film", film="f3")
        again = await tell(sandbox, third.id, "RenderingCompleted", "j-7", data, "m1")
    assert again.state == "active"


@pytest.mark.req("B8")
@pytest.mark.parametrize(("decision", "end"), [("approved", "claim.pay"), ("rejected", "claim.decline")])
async def test_a_decision_selects_the_way(store_url: str, decision: str, end: str) -> None:
    seen = Seen()
    results = {"claim.assess": {"amount": 100}, "claim.pay": {"payment": "paid"}}
    async with carrying(store_url, results, "gate.bpmn", seen=seen) as sandbox:
        asked = await begun(sandbox, "approve_claim", claim={"id": "c-1"})
        assert asked.state == "active"
        done = await decide(sandbox, asked.id, decision, "because")
    assert done.state == "completed"
    assert done.data["approval"] == {"decision": decision, "reason": "because"}
    assert seen.calls[-1][0] == end


async def test_a_decision_must_say_something(store_url: str) -> None:
    async with carrying(store_url, {"claim.assess": {"amount": 1}}, "gate.bpmn") as sandbox:
        asked = await begun(sandbox, "approve_claim", claim={"id": "c-1"})
        with pytest.raises(Exception, match="decision"):
            await decide(sandbox, asked.id, " ")
        assert (await sandbox.instances.get(asked.id)).state == "active"


@pytest.mark.req("B8")
async def test_a_loop_goes_round_until_it_is_good_and_keys_count_the_rounds(store_url: str) -> None:
    seen = Seen()
    results = {
        "article.write": lambda call: {"text": "t", "rounds": call.args.get("rounds", 0) + 1},
        "article.publish": {"url": "u"},
    }
    async with carrying(store_url, results, "loop.bpmn", seen=seen) as sandbox:
        asked = await begun(sandbox, "write_article", topic="x")
        asked = await decide(sandbox, asked.id, "again", "longer")
        assert asked.state == "active"
        done = await decide(sandbox, asked.id, "good")
    assert (done.state, done.data["rounds"]) == ("completed", 2)
    assert seen.of("article.write") == [{"topic": "x"}, {"topic": "x", "remarks": "longer", "rounds": 1}]
    assert seen.keys("article.write") == [f"{done.id}/write/write/1", f"{done.id}/write/write/2"]


async def test_a_loop_ends_by_itself_when_its_count_says_so(store_url: str) -> None:
    results = {"article.write": lambda call: {"text": "t", "rounds": call.args.get("rounds", 0) + 1}}
    async with carrying(store_url, results, "loop.bpmn") as sandbox:
        asked = await begun(sandbox, "write_article", topic="x")
        for _ in range(2):
            asked = await decide(sandbox, asked.id, "again")
            assert asked.state == "active"
        done = await decide(sandbox, asked.id, "again")
    assert (done.state, done.data["rounds"]) == ("completed", 3)


@pytest.mark.req("B8")
async def test_branches_run_at_once_and_meet(store_url: str) -> None:
    seen = Seen()
    results = {
        "credit.check": {"limit": 500}, "stock.check": {"free": 3}, "address.check": {"valid": True},
        "order.confirm": {"confirmation": "ok"},
    }  # fmt: skip
    async with carrying(store_url, results, "parallel.bpmn", seen=seen) as sandbox:
        done = await begun(sandbox, "check_order", order="o", customer="c")
    assert done.state == "completed"
    assert seen.calls[-1][1] == {"limit": 500, "free": 3, "valid": True}
    assert done.data["confirmation"] == "ok"


@pytest.mark.req("B8")
async def test_a_boundary_timer_reminds_and_another_ends_the_wait(store_url: str) -> None:
    seen = Seen()
    results = {
        "contract.send": {"envelope": "e-1"},
        "contract.remind": {"reminded": True},
        "contract.withdraw": {"withdrawn": 1},
    }
    async with carrying(store_url, results, "boundary-timer.bpmn", seen=seen) as sandbox:
        waiting = await begun(sandbox, "sign_contract", contract="k", client="c")
        await sandbox.advance("P8D")
        assert [name for name, *_ in seen.calls] == ["contract.send", "contract.remind"]
        await sandbox.advance("P7D")
        done = await sandbox.instances.get(waiting.id)
    assert done.state == "completed"
    assert done.data["withdrawn"] == 1


async def test_a_signature_in_time_ends_the_wait(store_url: str) -> None:
    results = {"contract.send": {"envelope": "e-1"}, "contract.file": {"folder": "f"}}
    async with carrying(store_url, results, "boundary-timer.bpmn") as sandbox:
        waiting = await begun(sandbox, "sign_contract", contract="k", client="c")
        done = await tell(sandbox, waiting.id, "ContractSigned", "e-1", {"signed_by": "Ada"}, "m")
    assert (done.state, done.data["signed_by"], done.data["folder"]) == ("completed", "Ada", "f")


@pytest.mark.req("B8")
async def test_a_subprocess_shares_the_state_and_policies_say_how_often_work_is_tried(store_url: str) -> None:
    results = {
        "goods.pick": {"goods": [1]}, "goods.box": failing(2, {"parcel": "p"}),
        "order.bill": lambda call: {"invoice": call.args["parcel"]},
    }  # fmt: skip
    async with carrying(store_url, results, "subprocess.bpmn") as sandbox:
        started = await begun(sandbox, "fulfil_order", order="o")
        await sandbox.advance("PT1M")
        done = await sandbox.instances.get(started.id)
    assert (done.state, done.data["invoice"]) == ("completed", "p")


@pytest.mark.req("B4")
async def test_work_is_tried_as_often_as_its_policy_says_and_no_more(store_url: str) -> None:
    async with carrying(store_url, {"goods.pick": failing(3, {})}, "subprocess.bpmn") as sandbox:
        started = await begun(sandbox, "fulfil_order", order="o")
        await sandbox.advance("PT1H")
        stuck = await sandbox.instances.get(started.id)
    assert [each.code for each in stuck.incidents] == ["job.retries_exhausted"]


@pytest.mark.req("B8")
async def test_a_process_of_the_size_of_a_delivery_runs_to_its_end(store_url: str) -> None:
    rounds: list[str] = []

    def asked(call: object) -> dict[str, str]:
        rounds.append("x")
        return {"work": f"w-{len(rounds)}"}

    types = ("requirements", "specification", "implementation", "verification", "acceptance", "release")
    results = {f"{each}.request.start": asked for each in types} | {"release.request.watch": asked}

    async with carrying(store_url, results, "delivery.bpmn") as sandbox:
        view = await begun(sandbox, "deliver_change", change="x-1")

        async def answer(findings: str = "some") -> None:
            nonlocal view
            key = f"w-{len(rounds)}"
            view = await tell(sandbox, view.id, "WorkCompleted", key, {"findings": findings}, f"m-{key}")

        await answer()
        await answer()
        view = await decide(sandbox, view.id, "approved")
        for findings in ("some", "wrong", "some", "none"):  # implement, verify, and again
            await answer(findings)
        await answer()
        view = await decide(sandbox, view.id, "approved")
        view = await decide(sandbox, view.id, "approved")
        await answer()
        await sandbox.advance("P2D")  # nobody says how the release goes: the timer wins the race
        done = await sandbox.instances.get(view.id)
    assert done.state == "completed"
    assert len(rounds) == 9
    assert done.data["work_id"] == "w-9"


@pytest.mark.req("B8")
async def test_one_workflow_id_begins_one_instance(store_url: str) -> None:
    results = {"stock.reserve": {"reservation": "r"}, "stock.pack": {"parcel": "p"}}
    async with carrying(store_url, results, "linear.bpmn") as sandbox:
        first = await begun(sandbox, "ship_order", order={"id": "o-1"})
        again = await begun(sandbox, "ship_order", order={"id": "o-1"})
        with pytest.raises(Exception, match="template"):
            await sandbox.instances.start("ship_order", {})
    assert first.id == again.id


@pytest.mark.req("B11")
async def test_a_missing_source_unsets_its_target(store_url: str) -> None:
    given = [{"parcel": {"a": 1, "b": 2}, "weight": 3}]
    results = {"stock.reserve": {"reservation": "r"}, "stock.pack": lambda call: given[0]}
    async with carrying(store_url, results, "linear.bpmn") as sandbox:
        given[0] = {"parcel": {"a": 5}}
        done = await begun(sandbox, "ship_order", order={"id": "o-1"}, weight=9, parcel={"b": 1})
    assert (done.data["weight"], done.data["parcel"]) == (None, {"a": 5, "b": None})


async def test_a_key_that_finds_no_text_is_an_incident_that_says_so(store_url: str) -> None:
    async with carrying(store_url, {"render.request.start": {}}, "request-and-wait.bpmn") as sandbox:
        stuck = await begun(sandbox, "render_film", film="f")
    assert [each.code for each in stuck.incidents] == ["watch.invalid"]

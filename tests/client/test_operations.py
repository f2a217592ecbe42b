"""Every operation once, by a client on a socket, on both stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from perdure.app.calls.views import CallView
from perdure.app.instances.views import InstanceView
from perdure.bpmn.xml import write_model
from perdure.client import AsyncClient
from perdure.client.asynchronous.transport import Transport
from perdure.errors import (
    CallFailedError,
    ConfirmationRequiredError,
    DefinitionError,
    ProgramError,
    RejectedError,
    SchemaViolationError,
)
from tests.client.lossy_server import House, housed
from tests.engines.embedded.process_models import line, message, service, user, wait

FORM = '{"type": "object", "required": ["verdict"], "properties": {"verdict": {"enum": ["yes", "no"]}}}'
PROGRAM = '(desk.note :text "a" :as @first) (desk.wait :who "ana" :as @second)'


@pytest.mark.req("P2", "P6")
@pytest.mark.both_stores
async def test_calls_are_asked_looked_at_found_and_ended(store_url: str) -> None:
    async with housed(store_url) as house, house.client(await house.key("admin")) as client:
        done = await client.call("desk.note", {"text": "hello"}, idempotency_key="k")
        assert (done.state, done.result) == ("completed", {"noted": "hello"})
        assert (await client.call("desk.note", {"text": "hello"}, idempotency_key="k")).id == done.id
        assert await client.result("desk.note", {"text": "x"}) == {"noted": "x"}
        with pytest.raises(CallFailedError, match="the desk is closed"):
            await client.result("desk.fail")
        parked = await client.call("desk.wait", {"who": "ana"})
        assert (await client.status(parked.id)).state == "parked"
        assert (await client.wait(parked.id, 0.0)).state == "parked"
        assert [each["id"] for each in await client.parked()] == [parked.id]
        assert parked.waiting_for is not None
        key = parked.waiting_for.key
        assert (await client.progress(key, "half way")).answer == "applied"
        assert (await client.wait_token(key)).token.startswith("wait_")
        assert (await client.complete(key, {"ok": True}, message_id="m")).answer == "applied"
        assert (await client.complete(key, {"ok": True}, message_id="m")).answer == "duplicate"
        assert (await client.wait(parked.id)).state == "completed"
        assert [each.id for each in await client.find("desk.note", text="hello")] == [done.id]
        entries = [each.entry async for each in client.events(parked.id)]
        assert entries and entries == [each.entry async for each in client.events(parked.id, follow=True)]
        later = [each async for each in client.events(parked.id, after=1)]
        assert len(later) < len(entries) and all(each.sequence > 1 for each in later)
        amended = await client.amend(done.id, {"text": "hallo"}, reason="a typing error")
        assert [each.approved_by for each in amended.amendments] == [""]
        async with house.client(await house.key("admin", name="other")) as other:
            approved = await other.amend(done.id, approve=1)
        assert approved.amendments[0].approved_by == "other"
        assert (await client.erase(done.id, "asked to")).erased_at
        cancelled = await client.call("desk.wait")
        assert (await client.cancel(cancelled.id, "no need")).state == "cancelled"
        assert (await client.timeline(done.id)).id == done.id
        assert (await client.export(done.id)).startswith(b"{")
        assert b"<html" in await client.export(done.id, format="html")


@pytest.mark.req("P2", "P6")
async def test_runbooks_and_drafts_are_planned_run_steered_and_followed(store_url: str) -> None:
    async with housed(store_url) as house, house.client(await house.key("admin")) as client:
        desk = client.runbooks
        plan = await desk.plan(PROGRAM)
        assert [step.name for step in plan.steps] == ["first", "second"]
        view = await desk.start(PROGRAM, case="c-1", confirmation=plan.plan_hash, wait=True, sealed=False)
        assert view.state == "parked" and view.case == "c-1"
        assert (await desk.rest(view.id, 0.0)).state == "parked"
        assert await desk.has(view.id) and not await desk.has((await client.call("desk.wait")).id)
        assert (await desk.show(view.id, at=1)).sequence == 1
        assert [each.id for each in await desk.list(case="c-1")] == [view.id]
        assert [each.id for each in (await client.listing.runbooks(case="c-1")).items] == [view.id]
        assert "waiting" in await desk.progress(view.id)
        assert "second" in await desk.progress(view.id, detailed=True)
        longer = await desk.extend(view.id, '(desk.wait :who "bo" :as @third)')
        assert (await desk.diff(view.id, at=view.sequence)).added == ["third"]
        with pytest.raises(RejectedError, match="changed since") as stale:
            await desk.cancel(view.id, seen=1)
        assert stale.value.rejection.code == "wrong_state"
        assert longer.step("third").number == 3
        await desk.skip(view.id, "third", "not needed")
        assert (await desk.cancel(view.id, "enough", step="second")).step("second").state == "cancelled"
        assert (await desk.seal(view.id)).is_sealed
        assert (await desk.wait(view.id)).is_ended
        await desk.compensate(view.id, "undone")
        other = await desk.start(PROGRAM, case="c-2", wait=True)
        assert [each.id for each in await desk.cancel_case("c-2")] == [other.id]
        gated = await desk.start('(desk.note :text "g" :gate "seniors")', wait=True)
        async with house.client(await house.key("reviewer", name="sue", groups=["seniors"])) as sue:
            await sue.runbooks.answer(gated.id, 1, True)
        assert (await desk.wait(gated.id)).state == "completed"
        failed = await desk.start("(desk.fail)", wait=True)
        assert (await desk.retry(failed.id, 1)).id == failed.id
        followed = [each.sequence async for each in desk.events(gated.id, follow=True)]
        assert followed == sorted(followed) and followed[0] == 1
        draft = await client.drafts.open('(desk.note :text "a")', case="c-3")
        draft = await client.drafts.revise(draft.id, '(desk.note :text "b")', change="b", seen=draft.sequence)
        assert '"b"' in draft.program and '"a"' in (await client.drafts.undo(draft.id)).program
        assert '"b"' in (await client.drafts.redo(draft.id)).program
        assert (await client.drafts.get(draft.id)).case == "c-3"
        assert (await client.drafts.start(draft.id, wait=True)).state == "completed"


@pytest.mark.req("P2", "P6")
async def test_processes_instances_tasks_and_messages(store_url: str, tmp_path: Path) -> None:
    model = line(
        "p", user("check", properties={"schema": FORM}), wait("payment", "paid"), service("note", "desk.stuck"),
        messages=(message("paid", key="k"),),
    )  # fmt: skip
    file = tmp_path / "p.bpmn"
    file.write_text(write_model(model), encoding="utf-8")
    async with housed(store_url) as house, house.client(await house.key("admin", name="ada")) as client:
        assert (await client.processes.check(file.read_text())).findings is not None
        assert (await client.processes.deploy(file, profile="open")).version == 1
        with pytest.raises(DefinitionError):
            await client.processes.deploy_text("<no/>")
        assert [each.process for each in await client.processes.list()] == ["p"]
        assert (await client.processes.get("p")).xml and await client.processes.verb("p") == ""
        begun = await client.instances.start("p", {"a": 1}, business_key="b", until="rest", idempotency_key="one")
        assert (await client.instances.start("p", {"a": 1}, business_key="b", idempotency_key="one")).id == begun.id
        assert [each.id for each in await client.instances.list(process="p")] == [begun.id]
        assert [each.id for each in (await client.listing.instances(business_key="b")).items] == [begun.id]
        assert await client.instances.verb(begun.id) == ""
        assert (await client.instances.diagram(begun.id)).xml
        assert (await client.instances.migrate(begun.id, version=1, dry_run=True)).is_dry
        (task,) = await client.tasks.list()
        assert (await client.tasks.list(after=task.number)) == []
        assert (await client.tasks.get(task.key)).form is not None
        assert (await client.tasks.claim(task.key)).claimed_by == "ada"
        assert (await client.tasks.unclaim(task.key)).claimed_by == ""
        assert (await client.tasks.delegate(task.key, "ada")).assignee == "ada"
        with pytest.raises(SchemaViolationError) as wrong:
            await client.tasks.complete(task.key, {"verdict": "maybe"})
        assert [each["path"] for each in wrong.value.data["violations"]] == ["$.verdict"]
        answered = await client.tasks.complete(task.key, {"verdict": "yes"}, until="rest")
        assert isinstance(answered, InstanceView) and answered.state == "active"
        assert (await client.instances.suspend(begun.id)).state == "suspended"
        assert (await client.instances.resume(begun.id)).state == "active"
        assert await client.correlate("paid", "nobody") == "no_subscription"
        assert await client.publish("unheard", "x", message_id="u") == "no_subscription"
        assert await client.signal("unheard") == 0
        moved = await client.instances.modify(
            begun.id, cancel=[answered.tokens[0].number], start=["note"], reason="paid in cash"
        )
        assert moved.id == begun.id
        stuck = await client.instances.wait(begun.id, "rest")
        assert [each.element for each in stuck.incidents] == ["note"]
        assert [each.id for each in await client.incidents()] == [begun.id]
        assert (await client.listing.incidents()).items[0].actions
        assert [each.status for each in await client.retry_many([begun.id])] == [200]
        await client.instances.wait(begun.id, "rest")
        resolved = await client.instances.resolve(begun.id, data={"mended": True}, reason="by hand")
        assert (await client.instances.wait(resolved.id)).state == "completed"
        assert (await client.instances.erase(begun.id, "asked to")).erased_at
        assert [each.entry async for each in client.instances.events(begun.id, follow=True)]
        second = await client.instances.start("p", until="rest", timeout_seconds=5)
        assert (await client.instances.cancel(second.id, "no")).id == second.id
        await client.processes.deprecate("p", 1)
        assert [each.status for each in await client.processes.retire("p", 1, "old")] == ["retired"]


@pytest.mark.req("P2", "P6")
async def test_what_arrives_lists_keys_and_the_rest(store_url: str) -> None:
    async with housed(store_url) as house, house.client(await house.key("admin", name="ada")) as client:
        receipt = await client.complete("nobody", {"a": 1})
        assert receipt.answer == "dead_letter" and receipt.reason.startswith("unknown_key")
        assert [each["message_id"] for each in await client.dead_letters()] == [receipt.message_id]
        assert (await client.letter(receipt.message_id)).key == "nobody"
        parked = await client.call("desk.wait")
        assert parked.waiting_for is not None
        assert (await client.replay(receipt.message_id, key=parked.waiting_for.key)).answer == "applied"
        lost = await client.complete("nobody", {"a": 2})
        await client.discard(lost.message_id, "a mistake")
        assert (await client.listing.dead_letters()).items == []
        stuck = await client.call("desk.stuck")
        assert [each.id for each in await client.incidents()] == [stuck.id]
        tried = await client.retry(stuck.id)
        assert isinstance(tried, CallView) and tried.waiting_for is not None
        resolved = await client.resolve(stuck.id, {"mended": True}, reason="by hand", seen=tried.sequence)
        assert resolved.state == "completed"
        assert (await client.overview()).stuck.incidents == 0
        assert (await client.listing.parked()).items == [] and (await client.listing.tasks()).items == []
        assert [each.verb for each in (await client.listing.calls(verb="desk.stuck")).items] == ["desk.stuck"]
        until = datetime(2100, 1, 1, tzinfo=UTC)
        made = await client.access.create_key("viewers", principal="vic", roles=["viewer"], expires_at=until)
        assert made.view.expires_at is not None and made.view.expires_at.startswith("2100-01-01")
        async with house.client(made.text) as vic:
            assert (await vic.session()).roles == ["viewer"]
            with pytest.raises(RejectedError) as refused:
                await vic.call("desk.note", {"text": "x"})
            assert refused.value.rejection.code == "forbidden"
        assert (await client.access.revoke_key(made.id, "gone")).state == "revoked"
        assert "viewers" in [each.name for each in await client.access.keys()]
        assert "desk.note" in [each.name for each in await client.verbs.list("note")]
        assert (await client.verbs.get("desk.note")).index == ["text"]
        assert await client.packs.list() == []


@pytest.mark.req("P2", "P3")
async def test_what_is_grave_is_confirmed_by_its_hash_and_phrase(store_url: str) -> None:
    async with housed(store_url) as house, house.client(await house.key("admin")) as client:
        with pytest.raises(ConfirmationRequiredError) as asked:
            await client.call("vault.empty")
        told = asked.value.data
        assert told["tier"] == "requires_authorisation" and told["sentences"]
        done = await client.call("vault.empty", confirm=told["plan_hash"], phrase=told["phrase"])
        assert done.state == "completed"
        with pytest.raises(ConfirmationRequiredError) as planned:
            await client.runbooks.start("(vault.open)")
        hash = planned.value.data["plan_hash"]
        assert (await client.runbooks.start("(vault.open)", confirmation=hash, wait=True)).state == "completed"
        with pytest.raises(ProgramError, match="DSL101") as wrong:
            await client.runbooks.plan("(desk.notes)")
        assert [(each.code, each.line, each.column) for each in wrong.value.problems] == [("DSL101", 1, 1)]


async def _refused(house: House, key: str) -> str:
    async with AsyncClient(house.proxy.url, key) as client:
        with pytest.raises(RejectedError) as refused:
            await client.overview()
    assert key not in str(refused.value)
    return refused.value.rejection.code


@pytest.mark.req("P2", "P3")
async def test_a_key_that_is_wrong_expired_or_missing_opens_nothing(sqlite_url: str) -> None:
    async with housed(sqlite_url) as house:
        good = await house.key("admin", name="a")
        soon = datetime.now(UTC) + timedelta(seconds=0.5)
        old = await house.key("admin", name="b", expires_at=soon)
        async with AsyncClient(house.proxy.url, old) as client:
            with pytest.raises(RejectedError):
                while True:  # until it has expired
                    await client.session()
        for key in (good[:-2] + "zz", old, "perdure_nonsense"):
            assert await _refused(house, key) == "forbidden"
        async with AsyncClient(house.proxy.url) as nobody:
            with pytest.raises(RejectedError):
                await nobody.overview()
        with pytest.raises(RejectedError):
            AsyncClient(house.proxy.url, "no key")
        with pytest.raises(RejectedError):
            AsyncClient("localhost:8321")


@pytest.mark.req("P6")
async def test_lists_are_asked_for_page_by_page_and_say_what_the_platform_says(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    ask = Transport._ask

    async def counted(self: Transport, method: str, path: str, *rest: Any) -> Any:
        asked.append(path)
        return await ask(self, method, path, *rest)

    async with housed(store_url) as house, house.client(await house.key("admin")) as client:
        await client.processes.deploy_text(write_model(line("p", user("t"))))
        for _ in range(3):
            await client.instances.start("p")
            await client.runbooks.start(PROGRAM, case="C")
        assert house.served is not None
        perdure = house.served.perdure
        await perdure.runtime.conductor.finish_jobs(None)
        monkeypatch.setattr(Transport, "_ask", counted)
        for ours, theirs in ((client.runbooks, perdure.runbooks), (client.instances, perdure.instances)):
            desk, platform = cast("Any", ours), cast("Any", theirs)
            asked.clear()
            found = await desk.list()
            assert len(found) == 3 and len(asked) == 1
            assert found == list(await platform.list())
            assert await desk.list(limit=2) == found[:2]
            assert await desk.list(after=found[0].id) == found[1:]
            assert await desk.list(after=found[-1].id) == []
            assert len(asked) == 4
        assert len(await client.runbooks.list(case="C", state="parked")) == 3
        with pytest.raises(RejectedError):
            await client.runbooks.list(after="nonsense")

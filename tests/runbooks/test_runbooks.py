"""Runbooks on real stores: references, parallel steps, choices, waits, failures, people."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import msgspec
import pytest

from perdure import Decide
from perdure.app.audit.store_audit import verify_store
from perdure.errors import ProgramError, RejectedError, SchemaViolationError
from perdure.testing.sandbox import Sandbox
from tests.runbooks.onboarding_verbs import Desk, catalogue, opened, settled, started, states

ONBOARDING = """
LET entity = EXEC co.find(name: "Allianz")
LET papers = EXEC co.documents(entity: entity.id)
LET noted = EXEC co.note(entity: entity.id, text: "papers asked")
IF papers.complete THEN
  LET filed = EXEC co.note(entity: entity.id, text: "filed")
ELSE
  LET chased = EXEC co.note(entity: entity.id, text: "chased")
END
"""


async def whole(sandbox: Sandbox) -> None:
    report = await verify_store(sandbox, {})
    assert report.findings == []


@pytest.mark.req("X6", "X10")
async def test_a_program_runs_with_its_references_resolved_and_waits_where_it_must(store_url: str) -> None:
    desk = Desk()
    async with opened(store_url, desk) as sandbox:
        view = await started(sandbox, ONBOARDING, case="case-7")
        assert (view.state, view.case) == ("parked", "case-7")
        assert [step.state for step in view.steps] == ["completed", "parked", "completed", *["pending"] * 3]
        assert view.step("papers").args == {"entity": "id of Allianz"}
        assert view.progress == "2 of 5 steps complete, waiting for papers"
        await sandbox.complete(f"{view.id}:2", {"complete": True})
        done = await settled(sandbox, view.id)
        assert done.state == "completed"
        assert (states(done)["filed"], states(done)["chased"]) == ("completed", "skipped")
        assert [call.args.get("text") for call in desk.calls if call.verb == "co.note"] == ["papers asked", "filed"]
        await whole(sandbox)


@pytest.mark.req("X6")
async def test_a_chain_costs_a_commit_for_each_step_and_no_more(store_url: str) -> None:
    program = '(co.find :name "A" :as @a)\n(co.note :text @a.id :as @b)\n(co.note :text @b.note :as @c)\n'
    async with opened(store_url) as sandbox:
        view = await started(sandbox, program)
        assert (view.state, view.sequence) == ("completed", 4)
        assert view.step("c").args == {"text": f"{view.id}:2"}


@pytest.mark.req("X6")
async def test_a_runbook_left_at_any_point_goes_on_in_another_process(sqlite_url: str) -> None:
    async with opened(sqlite_url) as sandbox:
        view = await started(sandbox, ONBOARDING)
    desk = Desk()
    async with opened(sqlite_url, desk) as sandbox:
        assert (await sandbox.runbooks.show(view.id)).state == "parked"
        before = (await sandbox.runbooks.show(view.id)).sequence
        assert (await settled(sandbox, view.id)).sequence == before
        await sandbox.complete(f"{view.id}:2", {"complete": False})
        done = await settled(sandbox, view.id)
        assert (done.state, states(done)["chased"]) == ("completed", "completed")
        assert desk.verbs() == ["co.note"]


@pytest.mark.req("X8")
async def test_many_steps_wait_at_once_and_are_popped_in_any_order(store_url: str) -> None:
    program = "\n".join(f'LET d{n} = EXEC co.documents(entity: "e{n}")' for n in range(8))
    async with opened(store_url) as sandbox:
        view = await started(sandbox, program)
        assert set(states(view).values()) == {"parked"}
        for number in (5, 1, 8, 3, 2, 7, 6, 4):
            receipt = await sandbox.complete(f"{view.id}:{number}", {"complete": True})
            assert receipt.answer == "applied"
            again = await sandbox.complete(f"{view.id}:{number}", {"complete": True})
            assert again.answer == "duplicate"
        assert (await settled(sandbox, view.id)).state == "completed"
        await whole(sandbox)


@pytest.mark.req("V16")
async def test_a_reference_that_leads_nowhere_stops_the_step_and_names_the_path(store_url: str) -> None:
    program = 'LET a = EXEC co.senior(entity: "x")\nLET b = EXEC co.note(text: a.answer.text)'
    async with opened(store_url) as sandbox:
        view = await started(sandbox, program)
        await sandbox.complete(f"{view.id}:1", {"answer": {}})
        stuck = await settled(sandbox, view.id)
        waiting = stuck.step("b").waiting_for
        assert waiting is not None and waiting.code == "arguments.invalid"
        assert waiting.text == "Step 'b' cannot be asked: the result of 'a' has no 'answer.text'."
        (listed,) = await sandbox.incidents()
        assert listed.id == view.id
        await sandbox.runbooks.skip(view.id, "b", "not needed")
        assert (await settled(sandbox, view.id)).state == "completed"
        await whole(sandbox)


@pytest.mark.req("V16")
async def test_a_result_that_does_not_fit_the_next_verb_is_an_incident_with_its_path(store_url: str) -> None:
    program = 'LET a = EXEC co.senior(entity: "x")\nLET b = EXEC co.note(text: a.answer)'
    async with opened(store_url) as sandbox:
        view = await started(sandbox, program)
        await sandbox.complete(f"{view.id}:1", {"answer": 7})
        stuck = await settled(sandbox, view.id)
        assert "$.text" in stuck.step("b").waiting_for.text
        assert stuck.state == "parked"


# --- failures ------------------------------------------------------------------------------------------------------


@pytest.mark.req("X26")
async def test_a_failed_step_stops_the_runbook_and_goes_on_when_it_is_retried(store_url: str) -> None:
    desk = Desk()
    desk.failing = {"co.note"}
    async with opened(store_url, desk) as sandbox:
        view = await started(
            sandbox, '(co.find :name "A" :as @a)\n(co.note :text @a.id :as @b)\n(co.senior :after [@b] :as @c)'
        )
        assert (view.state, view.step("b").error.code) == ("failed", "REFUSED")
        assert view.progress == "1 step complete, failed: b"
        desk.failing = set()
        await sandbox.runbooks.retry(view.id, "b", "they are back")
        again = await settled(sandbox, view.id)
        assert (again.state, states(again)) == ("parked", {"a": "completed", "b": "completed", "c": "parked"})
        await whole(sandbox)


@pytest.mark.req("X26", "X9")
async def test_a_decision_about_a_failure_adds_another_way(store_url: str) -> None:
    desk = Desk()
    desk.failing = {"co.find"}
    desk.decisions = [
        __import__("perdure").Decide({"answer": "by hand"}, add='LET manual = EXEC co.note(text: "by hand")')
    ]
    program = """
    LET a = EXEC co.find(name: "A") ON FAILURE decide co.decide
    LET b = EXEC co.note(text: a.id)
    """
    async with opened(store_url, desk) as sandbox:
        view = await started(sandbox, program)
        assert states(view) == {"a": "failed", "b": "skipped", "a/decision": "completed", "manual": "completed"}
        assert view.state == "completed" and view.version == 2
        asked = next(call for call in desk.calls if call.verb == "co.decide")
        assert asked.args == {"step": "a", "code": "REFUSED", "error": "co.find said no"}
        assert asked.context.completed_step.name == "a"
        await whole(sandbox)


@pytest.mark.req("X26", "X28")
async def test_independent_branches_go_on_after_a_failure_and_then_the_runbook_fails(store_url: str) -> None:
    desk = Desk()
    desk.failing = {"co.find"}
    program = """
    LET w = EXEC co.documents(entity: "E")
    LET ind = EXEC co.note(text: "independent") AFTER w
    LET bad = EXEC co.find(name: "A")
    LET needs = EXEC co.note(text: bad.id)
    """
    async with opened(store_url, desk) as sandbox:
        view = await started(sandbox, program)
        assert (view.state, states(view)["bad"]) == ("parked", "failed")
        await sandbox.complete(f"{view.id}:1", {"complete": True})
        done = await settled(sandbox, view.id)
        assert states(done) == {"w": "completed", "ind": "completed", "bad": "failed", "needs": "pending"}
        assert (done.state, done.error.code) == ("failed", "REFUSED")
        assert done.error.message == "Step 'bad' failed: co.find said no"
        desk.failing = set()
        await sandbox.runbooks.retry(view.id, "bad")
        again = await settled(sandbox, view.id)
        assert (again.state, again.error) == ("completed", None)
        await whole(sandbox)


@pytest.mark.req("X26")
async def test_with_stop_nothing_new_begins_after_a_failure(store_url: str) -> None:
    desk = Desk()
    desk.failing = {"co.find"}
    program = """
    LET w = EXEC co.documents(entity: "E")
    LET ind = EXEC co.note(text: "independent") AFTER w
    LET bad = EXEC co.find(name: "A") ON FAILURE stop
    """
    async with opened(store_url, desk) as sandbox:
        view = await started(sandbox, program)
        await sandbox.complete(f"{view.id}:1", {"complete": True})
        assert states(await settled(sandbox, view.id)) == {"w": "completed", "ind": "pending", "bad": "failed"}


@pytest.mark.req("X26", "V20")
@pytest.mark.parametrize(
    ("answer", "state", "step"),
    [("retry", "completed", "completed"), ("skip", "completed", "skipped"), ("abort", "cancelled", "failed")],
)
async def test_what_is_asked_after_a_failure_is_a_task_with_three_answers(
    store_url: str, answer: str, state: str, step: str
) -> None:
    desk = Desk()
    desk.failing = {"co.find"}
    async with opened(store_url, desk) as sandbox:
        view = await started(sandbox, 'LET a = EXEC co.find(name: "A") ON FAILURE ask')
        assert view.state == "parked"
        waiting = view.step("a").waiting_for
        told = "Step 'a' failed: co.find said no. Somebody has to say retry, skip or abort."
        assert (waiting.kind, waiting.key, waiting.code, waiting.text) == ("task", f"{view.id}:1", "REFUSED", told)
        assert view.progress == "0 of 1 step complete, failed: a, waiting for somebody to say what becomes of a"
        (task,) = (await sandbox.listing.tasks()).items
        assert (task.key, task.name) == (waiting.key, "Say what becomes of step 'a', which failed: co.find said no")
        (incident,) = await sandbox.incidents()
        assert incident.waiting_for.text == told
        form = (await sandbox.tasks.shown(task.key)).form
        assert form["properties"]["answer"]["enum"] == ["retry", "skip", "abort"]
        with pytest.raises(SchemaViolationError, match="answer"):
            await sandbox.tasks.complete(task.key, {"agree": True})
        with pytest.raises(RejectedError, match="is answered and nothing else"):
            await sandbox.tasks.claim(task.key)
        desk.failing = set()
        await sandbox.tasks.complete(task.key, {"answer": answer, "reason": "they are back"})
        done = await settled(sandbox, view.id)
        assert (done.state, states(done)["a"]) == (state, step)
        assert (await sandbox.listing.tasks()).items == []
        await whole(sandbox)


@pytest.mark.req("X26", "V16")
async def test_a_bug_of_a_handler_is_asked_about_where_the_step_asks_about_failures(store_url: str) -> None:
    desk = Desk()
    desk.broken = {"co.find"}
    async with opened(store_url, desk) as sandbox:
        program = 'LET a = EXEC co.find(name: "A") ON FAILURE ask\nLET b = EXEC co.find(name: "B")'
        view = await started(sandbox, program)
        waiting = view.step("a").waiting_for
        assert (waiting.kind, waiting.code) == ("task", "handler.bug")
        assert "has a bug" in waiting.text and waiting.text.endswith("Somebody has to say retry, skip or abort.")
        assert view.step("b").waiting_for.kind == "incident", "a step that asks nobody"
        assert [each.key for each in (await sandbox.listing.tasks()).items] == [f"{view.id}:1"]
        desk.broken = set()
        await sandbox.tasks.complete(waiting.key, {"answer": "retry", "reason": "it was mended"})
        await sandbox.run_until_idle()
        assert states(await sandbox.runbooks.show(view.id))["a"] == "completed"
        await whole(sandbox)


@pytest.mark.req("X7")
async def test_another_answer_after_the_first_is_late_and_the_same_one_a_duplicate(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await started(sandbox, 'LET a = EXEC co.documents(entity: "A")\nLET b = EXEC co.senior(entity: "B")')
        key = f"{view.id}:1"
        assert (await sandbox.complete(key, {"complete": True})).answer == "applied"
        assert (await sandbox.complete(key, {"complete": True}, message_id="again")).answer == "duplicate"
        assert (await sandbox.complete(key, {"complete": False})).answer == "late"
        assert (await sandbox.complete(key, error="no")).answer == "late"
        other = f"{view.id}:2"
        assert (await sandbox.complete(other, error="no", code="NO")).answer == "applied"
        assert (await sandbox.complete(other, error="no", code="NO", message_id="m2")).answer == "duplicate"
        assert (await sandbox.complete(other, {"fine": True})).answer == "late"
        assert (await sandbox.runbooks.show(view.id)).step("a").result == {"complete": True}


# --- decisions -----------------------------------------------------------------------------------------------------


@pytest.mark.req("X9", "X12")
async def test_a_decision_sees_what_happened_and_changes_what_is_to_come(store_url: str) -> None:
    desk = Desk()
    desk.decisions = [
        Decide({"answer": "edd"}, add=[{"verb": "co.note", "name": "edd", "args": {"text": {"@": "a.id"}}}],
               skip=["plain"], reason="a PEP", confidence=0.8)
    ]  # fmt: skip
    program = """
    LET a = EXEC co.find(name: "A")
    LET d = EXEC co.decide() AFTER a
    LET plain = EXEC co.note(text: "plain") AFTER d
    LET wait = EXEC co.documents(entity: a.id)
    """
    async with opened(store_url, desk) as sandbox:
        view = await started(sandbox, program, case="c-1")
        assert states(view) == {
            "a": "completed",
            "d": "completed",
            "plain": "skipped",
            "wait": "parked",
            "edd": "completed",
        }
        assert view.step("edd").args == {"text": "id of A"}
        context = next(call for call in desk.calls if call.verb == "co.decide").context
        assert (context.case_id, context.runbook_id) == ("c-1", view.id)
        assert [each.name for each in context.all_completed_results] == ["a"]
        assert context.all_completed_results[0].result == {"id": "id of A", "risk": 1}
        assert [each.name for each in context.next_ready_steps] == ["plain"]
        events = [event async for event in sandbox.runbooks.events(view.id)]
        made = next(event for event in events if event.entry == "DecisionMade")
        assert (made.data["reason"], made.data["confidence"]) == ("a PEP", 0.8)
        completed = next(event for event in events if event.entry == "StepCompleted" and event.data["step"] == 2)
        assert made.sequence == completed.sequence
        await whole(sandbox)


@pytest.mark.req("X9")
async def test_a_decision_that_cannot_be_carried_out_is_an_incident_and_changes_nothing(store_url: str) -> None:
    desk = Desk()
    desk.decisions = [Decide({}, add="LET x = EXEC co.nothing()"), Decide({}, skip=["nobody"]), Decide({})]
    async with opened(store_url, desk) as sandbox:
        view = await started(sandbox, "LET d = EXEC co.decide()")
        assert view.step("d").waiting_for.code == "decision.invalid"
        await sandbox.runbooks.retry(view.id, "d")
        view = await settled(sandbox, view.id)
        assert "there is no such step" in view.step("d").waiting_for.text
        await sandbox.runbooks.retry(view.id, "d")
        assert (await settled(sandbox, view.id)).state == "completed"


@pytest.mark.req("X9")
async def test_a_decision_that_skips_a_step_which_is_over_or_waits_is_an_incident(store_url: str) -> None:
    desk = Desk()
    desk.decisions = [Decide({}, skip=["a"]), Decide({}, skip=["wait"]), Decide({}, skip=["plain"])]
    program = """
    LET a = EXEC co.find(name: "A")
    LET wait = EXEC co.documents(entity: a.id)
    LET d = EXEC co.decide() AFTER a
    LET plain = EXEC co.note(text: "plain") AFTER d
    """
    async with opened(store_url, desk) as sandbox:
        view = await started(sandbox, program)
        assert "it skips 'a', which is completed" in view.step("d").waiting_for.text
        await sandbox.runbooks.retry(view.id, "d")
        view = await settled(sandbox, view.id)
        assert "it skips 'wait', which is parked" in view.step("d").waiting_for.text
        await sandbox.runbooks.retry(view.id, "d")
        assert states(await settled(sandbox, view.id))["plain"] == "skipped"


@pytest.mark.req("X9")
async def test_steps_that_people_add_take_results_by_reference_and_unknown_ones_are_refused(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await started(sandbox, 'LET a = EXEC co.find(name: "A")\nLET j = EXEC co.judge() AFTER a')
        extra = {"verb": "co.note", "name": "extra", "args": {"text": {"@": "b.id"}}}
        with pytest.raises(ProgramError, match="no call is bound to 'b'"):
            await sandbox.complete(f"{view.id}:2", {"verdict": "yes", "add": [extra]})
        extra["args"] = {"text": {"@": "a.id"}}
        again = {"verb": "co.note", "name": "again", "args": {"text": {"@": "extra.note"}}}
        await sandbox.complete(f"{view.id}:2", {"verdict": "yes", "add": [extra, again]})
        done = await settled(sandbox, view.id)
        assert done.step("extra").args == {"text": "id of A"}
        assert done.step("again").args == {"text": f"{view.id}:3"}
        await whole(sandbox)


@pytest.mark.req("X10")
async def test_a_condition_on_a_field_that_did_not_arrive_stops_at_the_condition(store_url: str) -> None:
    program = """
    LET a = EXEC co.senior(entity: "x")
    IF a.approved THEN
      LET yes = EXEC co.note(text: "yes")
    ELSE
      LET no = EXEC co.note(text: "no")
    END
    """
    async with opened(store_url) as sandbox:
        view = await started(sandbox, program)
        await sandbox.complete(f"{view.id}:1", {"answer": "maybe"})
        stuck = await settled(sandbox, view.id)
        assert {states(stuck)[name] for name in ("yes", "no")} == {"pending"}
        (waiting,) = [step.waiting_for for step in stuck.steps if step.waiting_for is not None]
        assert waiting.text == "The condition 'choice' cannot be told: the result of 'a' has no 'approved'."


@pytest.mark.req("X9", "V20")
async def test_a_person_decides_by_completing_and_a_bad_decision_is_refused_at_the_door(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await started(sandbox, 'LET j = EXEC co.judge()\nLET n = EXEC co.note(text: "n") AFTER j')
        with pytest.raises(RejectedError, match="there is no such step"):
            await sandbox.complete(f"{view.id}:1", {"verdict": "no", "skip": ["m"]})
        more = 'LET extra = EXEC co.note(text: "extra")'
        await sandbox.complete(f"{view.id}:1", {"verdict": "yes", "skip": ["n"], "add": more})
        done = await settled(sandbox, view.id)
        assert states(done) == {"j": "completed", "n": "skipped", "extra": "completed"}
        assert done.step("j").result == {"verdict": "yes"}
        await whole(sandbox)


# --- growing -------------------------------------------------------------------------------------------------------


@pytest.mark.req("X5", "X11")
async def test_a_runbook_grows_until_it_is_sealed_and_every_shape_can_be_compared(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await started(sandbox, 'LET a = EXEC co.find(name: "A")', sealed=False)
        assert view.state == "parked" and not view.is_sealed
        await sandbox.runbooks.extend(view.id, "LET b = EXEC co.note(text: a.id)")
        grown = await settled(sandbox, view.id)
        assert (grown.state, grown.version, states(grown)) == ("parked", 2, {"a": "completed", "b": "completed"})
        diff = await sandbox.runbooks.diff(view.id, at=view.sequence)
        assert (diff.added, diff.changed) == (["b"], {})
        assert diff.plan_hash_before == view.plan_hash != diff.plan_hash
        assert states(await sandbox.runbooks.show(view.id, at=1)) == {"a": "running"}
        assert (await sandbox.runbooks.seal(view.id)).state == "completed"
        await whole(sandbox)


@pytest.mark.req("X11")
async def test_a_step_that_has_not_begun_can_be_made_to_wait_for_a_new_one(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await started(sandbox, 'LET a = EXEC co.documents(entity: "A")\nLET b = EXEC co.note(text: "b") AFTER a')
        await sandbox.runbooks.extend(view.id, 'LET c = EXEC co.documents(entity: "C")', edges=[("b", "c")])
        told = r"the edge \('e', 'b'\) lets 'e' come after 'b', and 'e' is only added now.*Write \('b', 'e'\)"
        with pytest.raises(RejectedError, match=told):
            await sandbox.runbooks.extend(view.id, 'LET e = EXEC co.note(text: "e")', edges=[("e", "b")])
        await sandbox.complete(f"{view.id}:1", {"complete": True})
        assert states(await settled(sandbox, view.id)) == {"a": "completed", "b": "pending", "c": "parked"}


# --- stopping ------------------------------------------------------------------------------------------------------


@pytest.mark.req("X19")
async def test_cancelling_with_compensation_takes_back_in_reverse_and_goes_on_past_failures(store_url: str) -> None:
    desk = Desk()
    program = """
    LET a = EXEC co.note(text: "first")
    LET b = EXEC co.stubborn() AFTER a
    LET c = EXEC co.note(text: "second") AFTER b
    LET d = EXEC co.documents(entity: "D") AFTER c
    """
    async with opened(store_url, desk) as sandbox:
        view = await started(sandbox, program)
        once = partial(sandbox.runbooks.cancel, view.id, "withdrawn", compensate=True)
        await asyncio.gather(once(), once())  # delivered twice, it takes back once and stops nothing of it
        done = await settled(sandbox, view.id)
        assert done.state == "failed"
        assert {name: state for name, state in states(done).items() if "undo" in name} == {
            "c/undo": "completed", "b/undo": "failed", "a/undo": "completed"
        }  # fmt: skip
        assert [call.args.get("text") for call in desk.calls if call.verb == "co.forget"] == ["second", "first"]
        assert states(done)["d"] == "cancelled"
        await whole(sandbox)


@pytest.mark.req("X13", "V23")
async def test_two_cancels_at_once_stop_an_escalation_that_runs(store_url: str) -> None:
    program = 'LET n = EXEC co.note(text: "first")\nLET r = EXEC co.review(entity: "A")'
    async with opened(store_url) as sandbox:
        view = await started(sandbox, program)
        await sandbox.advance("P8D")
        assert "co.senior" in [each["verb"] for each in await sandbox.parked()]
        cancel = partial(sandbox.runbooks.cancel, view.id, "withdrawn")
        await asyncio.gather(cancel(compensate=True), cancel())
        await settled(sandbox, view.id)
        assert await sandbox.parked() == []
        await whole(sandbox)


@pytest.mark.req("X18", "V23")
async def test_cancelling_a_case_cancels_its_runbooks_and_what_they_wait_for(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        one = await started(sandbox, 'LET a = EXEC co.documents(entity: "A")', case="c-1")
        two = await started(sandbox, 'LET a = EXEC co.documents(entity: "B")', case="c-1")
        other = await started(sandbox, 'LET a = EXEC co.documents(entity: "C")', case="c-2")
        cancelled = await sandbox.runbooks.cancel_case("c-1", "withdrawn")
        assert {each.id for each in cancelled} == {one.id, two.id}
        assert [each["id"] for each in await sandbox.parked()] == [other.id]
        assert (await sandbox.complete(f"{one.id}:1", {"complete": True})).answer == "late"
        assert {each.id for each in await sandbox.runbooks.list(case="c-1", state="cancelled")} == {one.id, two.id}
        assert await sandbox.runbooks.cancel_case("c-1") == []


@pytest.mark.req("X13")
async def test_a_step_that_waits_too_long_is_escalated_and_its_runbook_goes_on(store_url: str) -> None:
    program = 'LET r = EXEC co.review(entity: "A")\nLET n = EXEC co.note(text: "done") AFTER r'
    async with opened(store_url) as sandbox:
        view = await started(sandbox, program)
        await sandbox.advance("P8D")
        late = await sandbox.runbooks.show(view.id)
        assert (late.state, late.step("r").waiting_for.kind) == ("escalated", "escalation")
        (senior,) = [each for each in await sandbox.parked() if each["verb"] == "co.senior"]
        await sandbox.complete(senior["id"], {"decided": True})
        done = await settled(sandbox, view.id)
        assert (done.state, done.step("r").result) == ("completed", {"decided": True})
        await whole(sandbox)


# --- locks ---------------------------------------------------------------------------------------------------------


async def test_two_runbooks_change_the_same_case_one_after_the_other(store_url: str) -> None:
    desk, running, most = Desk(), set[str](), 0
    gate, begun = asyncio.Event(), asyncio.Event()

    async def change(call: Any) -> dict[str, Any]:
        nonlocal most
        begun.set()
        running.add(call.step_id)
        most = max(most, len(running))
        await gate.wait()
        running.discard(call.step_id)
        return {}

    handlers = {**desk.bound(), "co.change": change}
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=handlers) as sandbox:
        program = 'LET a = EXEC co.change(case: "7", by: "a")\nLET b = EXEC co.change(case: "7", by: "b")'
        views = [await sandbox.runbooks.start(program) for _ in range(2)]
        await begun.wait()
        await sandbox.runtime.look_after()  # whatever is ready is tried, while the first still holds the case
        gate.set()
        for view in views:
            assert (await settled(sandbox, view.id)).state == "completed"
        assert most == 1
        await whole(sandbox)


# --- gates, idempotency, drafts ------------------------------------------------------------------------------------


@pytest.mark.req("V20")
async def test_a_gate_is_opened_by_a_second_person_of_the_group(store_url: str) -> None:
    async with opened(store_url, principal="ada") as sandbox:
        view = await started(sandbox, 'LET pay = EXEC co.note(text: "pay") GATE "treasury"')
        assert (view.state, view.step("pay").waiting_for.kind) == ("parked", "gate")
        with pytest.raises(RejectedError, match="'ada' asked for the runbook"):
            await sandbox.runbooks.answer(view.id, "pay", True)
        await sandbox.acting(principal="bob", groups=["treasury"]).runbooks.answer(view.id, "pay", True)
        assert (await settled(sandbox, view.id)).state == "completed"
        await whole(sandbox)


@pytest.mark.req("X6")
async def test_a_start_under_one_key_is_one_runbook(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        one = await sandbox.runbooks.start('LET a = EXEC co.find(name: "A")', idempotency_key="k-1")
        two = await sandbox.runbooks.start('LET a = EXEC co.find(name: "A")', idempotency_key="k-1")
        assert one.id == two.id
        with pytest.raises(RejectedError, match="was used for something else"):
            await sandbox.runbooks.start('LET a = EXEC co.find(name: "B")', idempotency_key="k-1")
        with pytest.raises(RejectedError, match="is not the one that was confirmed"):
            await sandbox.runbooks.start('LET a = EXEC co.find(name: "B")', confirmation=one.plan_hash)
        await sandbox.run_until_idle()


@pytest.mark.req("V28")
async def test_a_draft_is_revised_undone_and_started_under_its_own_id(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        desk = sandbox.runbooks
        id = await desk.open_draft({"entries": ["one"]}, case="c-1")
        assert await desk.revise(id, {"entries": ["one", "two"]}, "a step added") == {"entries": ["one", "two"]}
        assert await desk.undo(id) == {"entries": ["one"]}
        assert await desk.redo(id) == {"entries": ["one", "two"]}
        assert (await desk.show(id)).state == "draft"
        assert (await sandbox.status(id)).state == "draft"
        await desk.start_draft(id, 'LET a = EXEC co.find(name: "A")')
        done = await settled(sandbox, id)
        assert (done.state, done.case, done.id) == ("completed", "c-1", id)
        await whole(sandbox)


# --- fan-out -------------------------------------------------------------------------------------------------------


@pytest.mark.req("X17")
async def test_one_completion_resumes_every_case_that_waits_for_it_each_once(store_url: str) -> None:
    desk = Desk()
    program = 'LET open = EXEC co.market(market: "XETRA")\nLET n = EXEC co.note(text: "go") AFTER open'
    async with opened(store_url, desk) as sandbox:
        views = [await started(sandbox, program, case=f"c-{number}") for number in range(3)]
        alone = await sandbox.call("co.market", {"market": "XETRA"})
        receipt = await sandbox.complete("open-XETRA", {"at": "09:00"}, message_id="m-1")
        assert (receipt.answer, receipt.reason) == ("applied", "4 waits ended")
        later = await started(sandbox, program)
        assert (await sandbox.complete("open-XETRA", {"at": "09:00"}, message_id="m-1")).answer == "duplicate"
        for view in views:
            done = await settled(sandbox, view.id)
            assert (done.state, done.step("open").result) == ("completed", {"at": "09:00"})
        assert (await sandbox.status(alone.id)).state == "completed"
        assert (await settled(sandbox, later.id)).state == "parked"
        assert desk.verbs().count("co.note") == 3
        await whole(sandbox)


@pytest.mark.req("X17")
async def test_nobody_waiting_under_a_shared_key_makes_a_dead_letter(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        assert (await sandbox.complete("open-XETRA", {})).answer == "dead_letter"


# --- asked and reconsidered ----------------------------------------------------------------------------------------


@pytest.mark.req("X26")
async def test_a_failure_a_person_is_asked_about_is_listed_and_retried_like_an_incident(store_url: str) -> None:
    desk = Desk()
    desk.failing = {"co.find"}
    async with opened(store_url, desk) as sandbox:
        view = await started(sandbox, 'LET w = EXEC co.senior()\nLET a = EXEC co.find(name: "A") ON FAILURE ask')
        (listed,) = await sandbox.incidents()
        assert (listed.id, listed.verb, listed.error.code) == (view.id, "co.find", "REFUSED")
        desk.failing = set()
        await sandbox.retry(view.id)
        assert states(await settled(sandbox, view.id)) == {"w": "parked", "a": "completed"}
        assert await sandbox.incidents() == []


@pytest.mark.req("X12")
async def test_where_every_resume_is_a_decision_the_verb_is_asked_with_what_was_resumed(store_url: str) -> None:
    desk = Desk()
    program = """
    LET d = EXEC co.decide()
    LET papers = EXEC co.documents(entity: "A") AFTER d
    LET n = EXEC co.note(text: "n") AFTER papers
    """
    async with opened(store_url, desk) as sandbox:
        plan = msgspec.structs.replace(sandbox.runbooks.compile(program), reevaluate="always")
        view = await started(sandbox, plan)
        desk.decisions = [Decide({"answer": "stop"}, skip=["n"], reason="not needed")]
        await sandbox.complete(f"{view.id}:2", {"complete": True})
        done = await settled(sandbox, view.id)
        assert states(done) == {"d": "completed", "papers": "completed", "n": "skipped", "papers/resumed": "completed"}
        context = desk.calls[-1].context
        assert context.completed_step.name == "papers" and context.completed_step.result == {"complete": True}
        await whole(sandbox)


async def test_a_runbook_cannot_be_amended_as_a_call_can(store_url: str) -> None:
    async with opened(store_url) as sandbox:
        view = await started(sandbox, 'LET a = EXEC co.find(name: "A")')
        with pytest.raises(RejectedError, match="it is a runbook of several steps"):
            await sandbox.amend(view.id, {"name": "B"}, reason="a typo")

"""Progress tells the truth of what goes on, has ended or was reported, and modes say how a step is carried."""

from __future__ import annotations

import pytest

from tests.engines.embedded.engine_world import opened
from tests.engines.embedded.process_models import line, message, service, wait
from tests.surfaces.http.sandbox_server import served

CARRIED = line(
    "carried", service("a", "t.one"), wait("answer", "m", name="Document upload"), service("b", "t.two"),
    messages=(message("m", key="k"),),
)  # fmt: skip
CHECKED = """
- name: w.check
  sentences: {step: "Check {what}"}
  input_schema: {properties: {what: {type: string}}}
  execution: {kind: sync, effects: none}
- name: w.wait
  sentences: {step: "Wait for {what}"}
  input_schema: {properties: {what: {type: string}}}
  execution: {kind: durable}
- name: w.agree
  execution: {kind: durable, task: {groups: [seniors]}}
"""


@pytest.mark.req("V24", "X27")
async def test_what_somebody_reports_is_told_as_a_report_until_the_step_has_ended() -> None:
    async with served(verbs=CHECKED, handlers={"w.check": lambda call: {}}) as server:
        run = await server.sandbox.runbooks.start('(w.wait :what "papers" :as @papers)\n(w.check :as @check)')
        await server.idle()
        await server.sandbox.progress(f"{run.id}:1", "reminder sent")
        view = await server.sandbox.runbooks.show(run.id)
        assert view.progress == "1 of 2 steps complete, waiting for papers, reported: papers: reminder sent"
        assert (view.steps[0].progress, view.steps[0].reported) == ("reminder sent", "reminder sent")
        await server.sandbox.complete(f"{run.id}:1", {})
        await server.idle()
        view = await server.sandbox.runbooks.show(run.id)
        assert (view.progress, view.steps[0].progress) == ("2 of 2 steps complete", "")


@pytest.mark.req("V24", "X27")
async def test_a_report_stands_beside_the_progress_of_a_process_and_never_in_its_place() -> None:
    async with opened() as world:
        await world.deploy(CARRIED)
        run = await world.sandbox.runbooks.start("(t.carried :given 7 :as @case)")
        await world.sandbox.run_until_idle()
        await world.sandbox.progress(f"{run.id}:1", "client called")
        told = "1 of 2 steps complete, waiting for document upload (reported: client called)"
        assert (await world.sandbox.status(run.id)).progress == told
        text = await world.sandbox.runbooks.progress(run.id, detailed=True)
        assert text.splitlines()[1:] == ["   t.one: completed", "   waiting for document upload"]
        brief = await world.sandbox.runbooks.progress(run.id)
        assert brief == "0 of 1 step complete, waiting for document upload, reported: case: client called"
        await world.sandbox.publish("m", "k")
        await world.sandbox.run_until_idle()
        assert (await world.sandbox.status(run.id)).progress == "2 of 2 steps complete"


@pytest.mark.req("V24")
async def test_what_ended_on_a_way_that_left_steps_out_counts_those_it_took() -> None:
    async with opened() as world:
        await world.deploy(CARRIED)
        call = await world.sandbox.call("t.carried", {"given": 7})
        await world.sandbox.run_until_idle()
        await world.sandbox.cancel(call.id)
        await world.sandbox.run_until_idle()
        assert (await world.sandbox.status(call.id)).progress == "1 step complete, cancelled"
        run = await world.sandbox.runbooks.start("(t.refused :as @a)\n(t.one :as @b :after [@a])")
        await world.sandbox.run_until_idle()
        assert (await world.sandbox.runbooks.show(run.id)).progress == "0 steps complete, failed: a"


@pytest.mark.req("V38")
async def test_each_step_says_how_it_is_carried() -> None:
    async with served(verbs=CHECKED, handlers={"w.check": lambda call: {}}) as server:
        run = await server.sandbox.runbooks.start("(w.wait :as @w)\n(w.check :as @c)\n(w.agree :as @g)")
        await server.idle()
        shown = await server.of("ada").get(f"/api/runbooks/{run.id}")
        assert [each["mode"] for each in shown["steps"]] == ["durable", "sync", "human_gate"]
    async with opened() as world:
        await world.deploy(CARRIED)
        call = await world.sandbox.call("t.carried", {"given": 7})
        await world.sandbox.run_until_idle()
        call = await world.sandbox.status(call.id)
        assert call.mode == "durable" and call.carrier is not None
        assert (call.carrier.engine, call.carrier.process, call.carrier.version) == ("embedded", "carried", 1)


@pytest.mark.req("V2")
async def test_a_call_is_shown_with_its_sentence_wherever_it_is_shown() -> None:
    async with served(verbs=CHECKED, handlers={"w.check": lambda call: {}}) as server:
        ada = server.of("ada")
        for verb, text in (("w.check", "Check papers"), ("w.wait", "Wait for papers")):
            posted = await ada.post(f"/api/verbs/{verb}/calls", {"args": {"what": "papers"}}, 201)
            shown = [
                posted, await ada.get(f"/api/calls/{posted['id']}"),
            ]  # fmt: skip
            assert [each["sentence"] for each in shown] == [text] * 2
            called = await server.sandbox.call(verb, {"what": "papers"})
            assert (called.sentence, (await server.sandbox.status(called.id)).sentence) == (text, text)


@pytest.mark.req("V24")
async def test_a_runbook_that_was_cancelled_before_anything_was_done_counts_no_steps_of_none() -> None:
    async with served(verbs=CHECKED, handlers={}) as server:
        run = await server.sandbox.runbooks.start("(w.wait :as @papers)")
        await server.idle()
        await server.sandbox.cancel(run.id, "not needed")
        await server.idle()
        assert (await server.sandbox.runbooks.show(run.id)).progress == "0 steps complete"


@pytest.mark.req("V24")
async def test_a_call_that_was_just_cancelled_waits_for_nothing_although_its_process_was_not_told_yet() -> None:
    async with opened() as world:
        await world.deploy(CARRIED)
        call = await world.sandbox.call("t.carried", {"given": 7})
        run = await world.sandbox.runbooks.start("(t.carried :given 7 :as @case)")
        await world.sandbox.run_until_idle()
        cancelled = await world.sandbox.cancel(call.id)
        assert (cancelled.state, cancelled.progress) == ("cancelled", "1 step complete, cancelled")
        ended = await world.sandbox.runbooks.cancel(run.id)
        assert "waiting" not in ended.progress + str([step.progress for step in ended.steps])
        assert "waiting" not in await world.sandbox.runbooks.progress(run.id, detailed=True)

"""Runbooks over tools: planned, drafted, run, watched, read in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.app.operations import runbooks as operations
from perdure.app.operations.operation import Context
from perdure.surfaces.mcp.answer_truncation import WHOLE
from tests.surfaces.mcp.protocol_agent import Refused
from tests.surfaces.mcp.tool_office import office

pytestmark = [pytest.mark.req("P5")]


async def test_everything_wrong_with_a_plan_is_told_at_once_and_nothing_is_kept(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        wrong = [{"verb": "desk.fnd"}, {"verb": "desk.find", "args": {"name": {"@": "nobody.id"}}}]
        for tool in ("draft_runbook", "plan_runbook", "run_runbook"):
            with pytest.raises(Refused) as refused:
                await agent(tool, calls=wrong)
            assert refused.value.code == "program.invalid"
            assert len(refused.value.error["errors"]) >= 2
        assert (await agent("list_runbooks"))["items"] == []


@pytest.mark.parametrize("given", [{}, {"program": "(vault.open)", "calls": [{"verb": "vault.open"}]}])
async def test_a_plan_is_made_from_one_thing(tmp_path: Path, given: dict[str, Any]) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        for tool in ("draft_runbook", "plan_runbook", "run_runbook"):
            with pytest.raises(Refused, match="exactly one of"):
                await agent(tool, **given)


async def test_calls_and_programs_of_the_same_plan_have_the_same_hash(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        calls = [
            {"verb": "desk.find", "args": {"name": {"$": "who"}}, "name": "c"},
            {"verb": "desk.letter", "args": {"client": {"@": "c.id"}}, "name": "letter"},
        ]
        program = "(desk.find :name $who :as @c)\n(desk.letter :client @c.id :as @letter)"
        one = await agent("plan_runbook", calls=calls, variables={"who": "Bo"})
        two = await agent("plan_runbook", program=program, variables={"who": "Bo"})
        assert one == two
        assert one["steps"][0]["sentence"] == "Find Bo"
        assert place.done == []


async def test_a_draft_is_rewritten_and_run_and_run_again_is_the_same_run(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        draft = (await agent("draft_runbook", program="(vault.open)", case="C-1"))["draft"]
        await agent("draft_runbook", program='(desk.find :name "Bo")', draft=draft)
        first, second = await agent("run_runbook", draft=draft), await agent("run_runbook", draft=draft)
        assert first["id"] == second["id"] == draft
        assert first["outcome"] == "completed"
        assert place.done == ["find"]
        with pytest.raises(Refused):
            await agent("draft_runbook", program="(vault.open)", draft=draft)
        [row] = (await agent("list_runbooks", case="C-1"))["items"]
        assert (row["id"], row["state"]) == (draft, "completed")


async def test_watching_answers_when_something_has_happened(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        run = await agent("run_runbook", program='(desk.letter :client "A")')
        assert run["outcome"] == "waiting"
        seen = run["runbook"]["sequence"]
        await agent("complete_wait", key="A/letter", result={"accepted": True})
        told = await agent("runbook_status", id=run["id"], seen=seen, wait_seconds=30)
        assert told["is_ended"]
        unchanged = await agent("runbook_status", id=run["id"], seen=told["sequence"], wait_seconds=30)
        assert unchanged["sequence"] == told["sequence"]


async def test_events_come_in_pages_without_gap_or_repetition(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        run = await agent("run_runbook", program='(desk.find :name "A" :as @c)\n(desk.find :name @c.id)')
        whole = [event async for event in place.perdure.runbooks.events(run["id"])]
        found: list[dict[str, Any]] = []
        after, has_more = 0, True
        while has_more:
            page = await agent("runbook_events", id=run["id"], after=after, limit=2)
            found += page["items"]
            after, has_more = page["next"], page.get("has_more", False)
        assert [(each["sequence"], each["entry"]) for each in found] == [(each.sequence, each.entry) for each in whole]


async def test_a_long_value_is_cut_and_read_in_parts(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        call = await agent("call_verb", verb="desk.long")
        assert call["result"]["is_cut"]
        run = await agent("run_runbook", program="(desk.long :as @l)")
        told = await agent("runbook_status", id=run["id"], detail="detailed")
        assert told["steps"][0]["result"]["is_cut"]
        for where in ({"id": call["id"]}, {"id": run["id"], "step": "l"}):
            text, offset = "", 0
            while True:
                part = await agent("read_value", **where, of="result", offset=offset)
                text += part["text"]
                offset = part.get("next_offset", 0)
                if not offset:
                    break
            assert text == '{"pages":[' + ",".join(['"' + "x" * 1000 + '"'] * 40) + "]}"


async def test_no_answer_grows_without_end(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        calls = [{"verb": "desk.find", "args": {"name": "n" * 3000}, "name": f"step_{n}"} for n in range(60)]
        plan = await agent("plan_runbook", calls=calls)
        assert (len(plan["steps"]), plan["more_steps"]) == (30, 30)
        rest = await agent("plan_runbook", calls=calls, first_step=31)
        assert (len(rest["steps"]), rest.get("more_steps", 0)) == (30, 0)
        run = await agent("run_runbook", calls=calls, wait_seconds=50)
        told = await agent("runbook_status", id=run["id"], detail="detailed")
        assert len(told["steps"]) == 20
        assert len(str(told)) < WHOLE / 2


async def test_a_runbook_is_cancelled_with_a_reason(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        run = await agent("run_runbook", program='(desk.letter :client "A")')
        done = await agent("cancel_runbook", id=run["id"], reason="not wanted any more")
        assert done["outcome"] == "cancelled"
        with pytest.raises(Refused) as refused:
            await agent("extend_runbook", id=run["id"], program="(vault.open)")
        assert refused.value.code in ("command.wrong_state", "command.blocked")


async def test_steps_are_added_only_to_the_plan_that_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        run = await agent("run_runbook", program='(desk.letter :client "A")')

        async def overtaken(context: Context, *_: Any) -> None:
            monkeypatch.undo()
            await context.perdure.runbooks.extend(run["id"], '(desk.find :name "Bo")')

        monkeypatch.setattr(operations, "check_extension", overtaken)
        with pytest.raises(Refused) as refused:
            await agent("extend_runbook", id=run["id"], program='(desk.find :name "Cy")')
        assert refused.value.code == "command.blocked"
        assert len((await place.perdure.runbooks.show(run["id"])).steps) == 2

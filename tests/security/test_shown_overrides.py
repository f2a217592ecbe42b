"""Whoever decides says what they saw, and overrides are shown, on every surface."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console, RenderableType

from perdure.access.principal import Principal
from perdure.errors import RejectedError
from perdure.surfaces.cli.renderers.process_tables import instance_picture
from perdure.surfaces.cli.renderers.runbook_tables import runbook_picture
from perdure.surfaces.mcp.pending_work_tools import AnswerDecision, PendingWork, answer_decision, pending_work
from perdure.surfaces.mcp.status_tools import AskWorkflow, workflow_status
from perdure.surfaces.mcp.tool import ToolSession, tool_session
from perdure.surfaces.repl.platform_adapter import PlatformAdapter
from tests.security.office import Office
from tests.security.test_overrides import GATED, People, begun, office, running, token

pytestmark = pytest.mark.req("V36")
GROWING = {"program": '(desk.pay :as @p :gate "compliance")', "sealed": False}


def printed(picture: RenderableType) -> str:
    out = StringIO()
    Console(file=out, width=200).print(picture)
    return out.getvalue()


def rita(desk: Office) -> ToolSession:
    groups = ("compliance",)
    return tool_session(desk.perdure, Principal("default", "rita", "person", frozenset({"admin"}), groups))


async def grown(desk: Office, people: People, id: str) -> None:
    """The plan of a runbook has one step more than whoever looked at its gate saw."""
    more = await desk.post(people.ada, f"/api/runbooks/{id}/extend", program="(desk.pay :as @more :after [@p])")
    assert more.status_code == 200, more.text


async def test_overrides_are_shown_at_the_terminal_and_to_agents() -> None:
    async with office("sqlite://") as (desk, people):
        view = await begun(desk, people.ada, "reviewed")
        act = {"cancel": [token(view, "review")], "start": ["pay"], "reason": "she is on leave"}
        assert (await desk.post(people.otto, f"/api/instances/{view['id']}/modify", **act)).status_code == 423
        id = await running(desk, people.ada, GATED)
        skipped = await desk.post(people.otto, f"/api/runbooks/{id}/steps/f/skip", reason="quick")
        assert skipped.status_code == 423
        for shown in (
            printed(instance_picture(await desk.perdure.instances.get(view["id"]))),
            printed(runbook_picture(await desk.perdure.runbooks.show(id))),
        ):
            assert "proposed" in shown and "otto" in shown and "group compliance" in shown
        for each in (view["id"], id):
            (told,) = (await workflow_status(rita(desk), AskWorkflow(each))).overrides
            assert (told.by, told.state, told.needs) == ("otto", "proposed", "group compliance")


async def test_an_answer_over_mcp_holds_for_what_pending_work_showed() -> None:
    async with office("sqlite://") as (desk, people):
        id = (await desk.post(people.ada, "/api/runbooks", **GROWING)).json()["id"]
        await desk.perdure.runbooks.rest(id, 10)
        (task,) = (await pending_work(rita(desk), PendingWork("tasks"))).tasks
        assert task.seen
        await grown(desk, people, id)
        with pytest.raises(RejectedError, match="has changed since it was looked at: plan"):
            await answer_decision(rita(desk), AnswerDecision(task.key, True, seen=task.seen))
        (fresh,) = (await pending_work(rita(desk), PendingWork("tasks"))).tasks
        assert (
            await answer_decision(rita(desk), AnswerDecision(task.key, True, seen=fresh.seen))
        ).outcome == "answered"


async def test_an_answer_in_a_conversation_holds_for_what_it_showed() -> None:
    async with office("sqlite://") as (desk, people):
        id = (await desk.post(people.ada, "/api/runbooks", **GROWING)).json()["id"]
        await desk.perdure.runbooks.rest(id, 10)
        adapter = PlatformAdapter(desk.perdure.acting(principal="rita", groups=("compliance",)), "rita")
        (task,) = await adapter.tasks(id)
        await grown(desk, people, id)
        with pytest.raises(RejectedError, match="has changed since it was looked at: plan"):
            await adapter.answer(task.key, {"agree": True}, task.seen)
        (fresh,) = await adapter.tasks(id)
        await adapter.answer(task.key, {"agree": True}, fresh.seen)

"""Each tool, in one process: what it gives, what it refuses, and that nothing grave starts by an agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import CallToolRequestParams

from perdure.access.principal import ROLES, Kind, Principal, Role
from perdure.access.roles import OPERATIONS
from perdure.app import Perdure
from perdure.surfaces.mcp.desk import object_schema
from perdure.surfaces.mcp.fitting import WHOLE
from perdure.surfaces.mcp.server import Protocol
from perdure.surfaces.mcp.tools import every_tool, is_offered
from tests.agents.test_runbooks import deciding, settled, started
from tests.agents.world import opened
from tests.surfaces.mcp.office import Agent, Refused, verbs
from tests.surfaces.mcp.serving import HANDLERS

pytestmark = [pytest.mark.req("P5")]
EVERY_ROLE = frozenset[Role]({"author", "operator", "reviewer"})
READING = {
    "list_verbs", "describe_verb", "runbook_status", "list_runbooks", "workflow_status", "runbook_events", "read_value",
    "pending_work", "list_incidents",
}  # fmt: skip


def principal(
    name: str = "robot", kind: Kind = "agent", roles: frozenset[Role] = EVERY_ROLE, **more: Any
) -> Principal:  # fmt: skip
    return Principal(more.pop("tenant", "default"), name, kind, roles, **more)


class Office:
    """An open platform, what its handlers did, and agents that use it."""

    def __init__(self, perdure: Perdure, done: list[str], mended: list[bool]) -> None:
        self.perdure, self.done, self.mended = perdure, done, mended

    @asynccontextmanager
    async def agent(self, who: Principal | None = None) -> AsyncIterator[Agent]:
        asking = who or principal()
        async with Client(Protocol(self.perdure, lambda context: asking).server()) as client:
            yield Agent(client)


@asynccontextmanager
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    done: list[str] = []
    mended: list[bool] = []

    def said(word: str, answer: Any) -> Any:
        def handler(call: Any) -> Any:
            done.append(word)
            return answer(call) if callable(answer) else answer

        return handler

    handlers = {
        "desk.find": said("find", lambda call: {"id": "id of " + call.args["name"]}),
        "desk.letter": said("letter", {}),
        "desk.pay": said("pay", {}),
        "desk.close": said("close", {}),
        "desk.break": said("break", lambda call: {"done": True} if mended else {}),
        "desk.long": said("long", {"pages": ["x" * 1000] * 40}),
        "vault.open": said("vault", {"open": True}),
    }
    async with Perdure.open(
        f"sqlite:///{tmp_path / 'store.db'}", definitions=verbs(), handlers=handlers, principal="local"
    ) as perdure:
        yield Office(perdure, done, mended)


# --- what is offered --------------------------------------------------------------------------------------------------


def test_every_tool_names_a_known_operation_and_speaks_to_its_reader() -> None:
    for tool in every_tool().values():
        assert tool.operation in OPERATIONS
        assert len(tool.text) > 60
        for kind in (tool.takes, tool.gives):
            assert object_schema(kind)["type"] == "object"
        assert tool.input_schema()["additionalProperties"] is False


def test_no_tool_speaks_of_handlers_or_of_files() -> None:
    told = " ".join(f"{tool.name} {tool.text} {tool.input_schema()}" for tool in every_tool().values())
    assert "handler" not in told.lower()
    assert "path" not in told.lower()


def test_a_viewer_is_offered_only_what_reads() -> None:
    viewer = principal(roles=frozenset({"viewer"}))
    offered = {name for name, tool in every_tool().items() if is_offered(tool, viewer)}
    assert offered == READING
    assert all(tool.is_reading == (name in READING | {"plan_runbook"}) for name, tool in every_tool().items())


@pytest.mark.parametrize("role", ROLES)
def test_what_is_offered_is_what_the_role_may(role: Role) -> None:
    who = principal(roles=frozenset({role}))
    for tool in every_tool().values():
        assert is_offered(tool, who) == (role in OPERATIONS[tool.operation])


async def test_a_tool_that_is_not_offered_is_refused_all_the_same(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent(principal(roles=frozenset({"viewer"}))) as agent:
        assert await agent.tools() == READING
        for tool in every_tool().keys() - READING:
            with pytest.raises(Refused) as refused:
                await agent(tool)
            assert (tool, refused.value.code) == (tool, "command.forbidden")
            assert refused.value.error["number"] == -32005
        assert place.done == []


# --- verbs ------------------------------------------------------------------------------------------------------------


async def test_verbs_are_found_by_words_and_paged_by_name(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent(principal(verbs=("desk.*",))) as agent:
        found = await agent("list_verbs", words="look up a customer")
        assert found["items"][0]["name"] == "desk.find"
        names: list[str] = []
        after = ""
        while True:
            page = await agent("list_verbs", limit=3, after=after)
            assert len(page["items"]) <= 3
            names += [each["name"] for each in page["items"]]
            after = page.get("next", "")
            if not after:
                break
        assert names == sorted(verbs().names())
        rows = {each["name"]: each for each in (await agent("list_verbs", limit=100))["items"]}
        assert (rows["desk.find"]["may_call"], rows["vault.open"]["may_call"]) == (True, False)
        assert (rows["desk.find"]["needs_confirmation"], rows["desk.pay"]["needs_confirmation"]) == (False, True)


async def test_a_verb_is_described_without_what_carries_it_out(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        told = await agent("describe_verb", verb="desk.find")
        assert told["arguments"]["required"] == ["name"]
        assert not {"handler", "execution", "params"} & told.keys()
        read = await agent.client.read_resource("perdure://verbs/desk.find")
        assert '"desk.find"' in read.contents[0].model_dump_json().replace("\\", "")
        with pytest.raises(Refused, match=r"desk\.find") as refused:
            await agent("describe_verb", verb="desk.fnd")
        assert refused.value.code == "command.not_found"
        with pytest.raises(MCPError) as unknown:
            await agent.client.read_resource("perdure://keys/1")
        assert unknown.value.error.code == -32001


async def test_a_call_under_one_key_happens_once(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        asked = {"verb": "desk.find", "args": {"name": "Ana"}, "idempotency_key": "k1"}
        first, second = await agent("call_verb", **asked), await agent("call_verb", **asked)
        assert first == second
        assert first["outcome"] == "completed"
        assert first["result"] == {"id": "id of Ana"}
        assert place.done == ["find"]
        with pytest.raises(Refused) as refused:
            await agent("call_verb", **{**asked, "args": {"name": "Bo"}})
        assert refused.value.code == "command.already_exists"


async def test_a_key_for_some_verbs_calls_and_plans_no_others(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent(principal(verbs=("desk.*",))) as agent:
        for tool, asked in (
            ("call_verb", {"verb": "vault.open"}),
            ("run_runbook", {"calls": [{"verb": "desk.find", "args": {"name": "A"}}, {"verb": "vault.open"}]}),
        ):
            with pytest.raises(Refused, match=r"vault\.open") as refused:
                await agent(tool, **asked)
            assert refused.value.code == "command.forbidden"
        run = await agent("run_runbook", calls=[{"verb": "desk.letter", "args": {"client": "A"}}])
        with pytest.raises(Refused, match=r"vault\.open"):
            await agent("extend_runbook", id=run["id"], program="(vault.open)")
        assert place.done == ["letter"]


# --- what is grave ----------------------------------------------------------------------------------------------------

GRAVE: list[tuple[str, dict[str, Any]]] = [
    ("call_verb", {"verb": "desk.pay", "args": {"amount": 5}}),
    ("call_verb", {"verb": "desk.close"}),
    ("run_runbook", {"program": "(desk.pay :amount 5)"}),
    ("run_runbook", {"calls": [{"verb": "desk.find", "args": {"name": "A"}}, {"verb": "desk.close"}]}),
    (
        "run_runbook",
        {"calls": [{"verb": "desk.find", "args": {"name": "A"}, "on_failure": "decide", "alternative": "desk.judge"}]},
    ),
]


@pytest.mark.parametrize(("tool", "asked"), GRAVE)
@pytest.mark.parametrize("kind", ["agent", "service"])
async def test_what_is_grave_never_starts_by_an_agent(
    tmp_path: Path, tool: str, asked: dict[str, Any], kind: Kind
) -> None:
    async with office(tmp_path) as place, place.agent(principal(kind=kind)) as agent:
        told = await agent(tool, **asked)
        assert told["outcome"] == "needs_confirmation"
        confirmation = told["confirmation"]
        assert confirmation["sentences"]
        again = await agent(
            tool, **asked, confirm=confirmation["plan_hash"], phrase=confirmation.get("phrase", "")
        )  # fmt: skip
        assert again["outcome"] == "needs_confirmation"
        draft = confirmation["draft"]
        by_draft = await agent("run_runbook", draft=draft, confirm=confirmation["plan_hash"])
        assert by_draft["outcome"] == "needs_confirmation"
        assert by_draft["confirmation"]["plan_hash"] == confirmation["plan_hash"]
        assert (await agent("runbook_status", id=draft))["state"] == "draft"
        assert place.done == []


async def test_a_person_starts_what_an_agent_drafted_by_its_hash(tmp_path: Path) -> None:
    async with office(tmp_path) as place:
        async with place.agent() as agent:
            asked = await agent("call_verb", verb="desk.close")
        found = asked["confirmation"]
        async with place.agent(principal("ana", "person")) as person:
            with pytest.raises(Refused) as wrong:
                await person("run_runbook", draft=found["draft"], confirm="sha256:00", phrase=found["phrase"])
            assert wrong.value.code == "confirmation.required"
            with pytest.raises(Refused):
                await person("run_runbook", draft=found["draft"], confirm=found["plan_hash"], phrase="yes")
            assert (await person("run_runbook", draft=found["draft"]))["outcome"] == "needs_confirmation"
            assert place.done == []
            run = await person(
                "run_runbook", draft=found["draft"], confirm=found["plan_hash"], phrase=found["phrase"]
            )  # fmt: skip
        assert run["outcome"] == "completed"
        assert place.done == ["close"]


async def test_a_person_confirms_a_call_by_the_hash_they_were_told(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent(principal("ana", "person")) as person:
        asked: dict[str, Any] = {"verb": "desk.pay", "args": {"amount": 5}}
        told = await person("call_verb", **asked)
        hash = told["confirmation"]["plan_hash"]
        with pytest.raises(Refused):
            await person("call_verb", verb="desk.pay", args={"amount": 6}, confirm=hash)
        assert place.done == []
        assert (await person("call_verb", **asked, confirm=hash))["outcome"] == "completed"
        assert place.done == ["pay"]


async def test_grave_steps_are_not_added_by_an_agent(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        run = await agent("run_runbook", program='(desk.letter :client "A")')
        told = await agent("extend_runbook", id=run["id"], program="(desk.pay :amount 1)")
        assert told["outcome"] == "needs_confirmation"
        again = await agent(
            "extend_runbook", id=run["id"], program="(desk.pay :amount 1)", confirm=told["confirmation"]["plan_hash"]
        )  # fmt: skip
        assert again["outcome"] == "needs_confirmation"
        assert (await agent("runbook_status", id=run["id"]))["step_count"] == 1
        await agent("complete_wait", key="A/letter", result={"accepted": True})
        assert place.done == ["letter"]


async def test_a_person_adds_grave_steps_by_the_hash_of_the_longer_plan(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent(principal("ana", "person")) as person:
        run = await person("run_runbook", program='(desk.letter :client "A")')
        asked = {"id": run["id"], "program": "(desk.pay :amount 1)"}
        told = await person("extend_runbook", **asked)
        done = await person("extend_runbook", **asked, confirm=told["confirmation"]["plan_hash"])
        assert done["runbook"]["step_count"] == 2


GRAVE_ADDED: list[Any] = [
    [{"verb": "desk.pay", "args": {"amount": 1}}],
    [{"verb": "pay", "args": {"amount": 1}}],
    [{"verb": "desk.find", "args": {"name": "A"}, "on_failure": "decide", "alternative": "desk.judge"}],
    "(desk.pay :amount 1)",
]


@pytest.mark.parametrize("added", GRAVE_ADDED)
async def test_an_agent_that_decides_adds_nothing_grave(tmp_path: Path, added: Any) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        run = await agent("run_runbook", program="(desk.weigh :as @w)")
        for named in ({}, {"verb": "desk.weigh"}):
            with pytest.raises(Refused) as refused:
                await agent("complete_wait", key=f"{run['id']}:1", result={"add": added}, **named)
            assert refused.value.code in ("command.blocked", "command.not_found")
        early = await agent("complete_wait", key="A/letter", result={"accepted": True})
        assert early["outcome"] == "dead_letter"
        assert (await agent("runbook_status", id=run["id"]))["step_count"] == 1
        added_well = [{"verb": "desk.find", "args": {"name": "A"}, "name": "found"}]
        done = await agent("complete_wait", key=f"{run['id']}:1", result={"add": added_well})
        assert done["outcome"] == "applied"
        told = await agent("runbook_status", id=run["id"])
        assert told["step_count"] == 2
        assert "pay" not in place.done


async def test_who_decides_adds_only_verbs_their_key_reaches(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent(principal(verbs=("desk.*",))) as agent:
        run = await agent("run_runbook", program="(desk.weigh :as @w)")
        with pytest.raises(Refused) as refused:
            await agent(
                "complete_wait", key=f"{run['id']}:1", verb="desk.weigh", result={"add": [{"verb": "vault.open"}]}
            )  # fmt: skip
        assert refused.value.code == "command.forbidden"
        assert place.done == []


async def test_what_an_agent_proposes_no_agent_decides_upon(tmp_path: Path) -> None:
    inner, _ = deciding(confidence=0.4)
    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with opened(url, "{confidence: 0.8, ask: compliance}", decide=inner) as sandbox:
        view = await started(sandbox)
        key = f"{view.id}:2"

        def server(who: Principal) -> Any:
            return Protocol(sandbox, lambda context: who).server()

        async with Client(server(principal("helper", groups=("compliance",)))) as client:
            agent = Agent(client)
            for tool, asked in (
                ("answer_decision", {"agree": True}),
                ("claim_task", {}),
                ("complete_task", {"data": {"verdict": "go on"}}),
                ("complete_wait", {"result": {"verdict": "go on"}}),
            ):
                with pytest.raises(Refused):
                    await agent(tool, key=key, **asked)
            with pytest.raises(Refused):
                await agent("complete_wait", key=view.id, result={"verdict": "go on"})
        async with Client(server(principal("rita", "person", groups=("compliance",)))) as client:
            person = Agent(client)
            [task] = (await person("pending_work"))["tasks"]
            assert (task["kind"], task["proposal"]["data"]) == ("proposal", {"verdict": "go on"})
            assert (await person("answer_decision", key=key, agree=True))["id"] == view.id
        assert (await settled(sandbox, view.id)).state == "completed"


# --- runbooks ---------------------------------------------------------------------------------------------------------


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


# --- what waits -------------------------------------------------------------------------------------------------------


async def test_a_task_is_claimed_and_completed_by_its_form(tmp_path: Path) -> None:
    async with office(tmp_path) as place:
        async with place.agent() as asker:
            run = await asker("run_runbook", program='(desk.review :what "a file")')
            assert (await asker("pending_work"))["tasks"] == []
        async with place.agent(principal("helper", groups=("reviewers",))) as agent:
            [task] = (await agent("pending_work", kind="tasks"))["tasks"]
            assert (task["kind"], task["title"]) == ("task", "Look at a file")
            await agent("claim_task", key=task["key"])
            with pytest.raises(Refused) as refused:
                await agent("complete_task", key=task["key"], data={"verdict": "perhaps"})
            assert refused.value.error["errors"][0]["path"] == "$.verdict"
            done = await agent("complete_task", key=task["key"], data={"verdict": "good"}, message_id="m1")
            assert (done["id"], done["state"]) == (run["id"], "completed")
            again = await agent("complete_task", key=task["key"], data={"verdict": "good"}, message_id="m1")
            assert again["state"] == "completed"
            with pytest.raises(Refused) as over:
                await agent("complete_task", key=task["key"], data={"verdict": "bad"})
            assert over.value.code == "command.not_found"


async def test_a_gate_is_answered_by_its_group_and_never_by_who_asked(tmp_path: Path) -> None:
    async with office(tmp_path) as place:
        async with place.agent(principal(groups=("chiefs",))) as asker:
            run = await asker("run_runbook", calls=[{"verb": "desk.find", "args": {"name": "A"}, "gate": "chiefs"}])
            assert run["outcome"] == "waiting"
            key = f"{run['id']}:1"
            for tool, asked in (
                ("answer_decision", {"agree": True}),
                ("complete_task", {"data": {"agree": True}}),
                ("complete_wait", {"result": {"agree": True}}),
            ):
                with pytest.raises(Refused):
                    await asker(tool, key=key, **asked)
        async with place.agent(principal("clerk", roles=frozenset({"operator"}), groups=("chiefs",))) as clerk:
            with pytest.raises(Refused) as refused:
                await clerk("complete_task", key=key, data={"agree": True})
            assert "runbook.answer" in refused.value.text
        assert place.done == []
        async with place.agent(principal("chief", groups=("chiefs",))) as chief:
            [task] = (await chief("pending_work"))["tasks"]
            assert (task["kind"], task["key"]) == ("decision", key)
            done = await chief("answer_decision", key=key, agree=True, reason="fine")
            assert done["id"] == run["id"]
            assert (await chief("runbook_status", id=run["id"], seen=1, wait_seconds=30))["id"] == run["id"]


async def test_a_wait_ends_once_and_a_key_nobody_waits_under_is_a_dead_letter(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        call = await agent("call_verb", verb="desk.letter", args={"client": "A"})
        assert call["outcome"] == "waiting"
        [wait] = (await agent("pending_work", kind="waits"))["waits"]
        assert (wait["key"], wait["verb"]) == ("A/letter", "desk.letter")
        with pytest.raises(Refused) as refused:
            await agent("complete_wait", key="A/letter", result={"accepted": "perhaps"})
        assert refused.value.code == "payload.schema"
        first = await agent("complete_wait", key="A/letter", result={"accepted": True}, message_id="m1")
        second = await agent("complete_wait", key="A/letter", result={"accepted": True}, message_id="m1")
        assert (first["outcome"], second["outcome"]) == ("applied", "duplicate")
        assert (await agent("complete_wait", key="B/letter", result={}))["outcome"] == "dead_letter"
        assert (await agent("workflow_status", id=call["id"]))["result"] == {"accepted": True}


async def test_a_key_for_some_verbs_ends_no_wait_of_others(tmp_path: Path) -> None:
    async with office(tmp_path) as place:
        async with place.agent() as agent:
            await agent("call_verb", verb="desk.letter", args={"client": "A"})
        async with place.agent(principal(verbs=("vault.*",))) as other:
            assert (await other("pending_work"))["waits"] == []
            for named in ({}, {"verb": "desk.letter"}, {"verb": "desk_letter"}):
                with pytest.raises(Refused):
                    await other("complete_wait", key="A/letter", result={"accepted": True}, **named)
            told = await other("complete_wait", key="A/letter", result={}, verb="vault.open")
            assert told["outcome"] == "dead_letter"
        async with place.agent() as agent:
            [wait] = (await agent("pending_work"))["waits"]
            assert wait["key"] == "A/letter"


async def test_what_is_stuck_is_listed_and_tried_again(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        await agent("call_verb", verb="desk.break")
        await agent("call_verb", verb="desk.break")
        page = await agent("list_incidents", limit=1)
        rest = await agent("list_incidents", limit=1, after=page["next"])
        assert "next" not in rest
        ids = {page["items"][0]["id"], rest["items"][0]["id"]}
        assert len(ids) == 2
        place.mended.append(True)
        for id in ids:
            assert (await agent("retry_incident", id=id))["state"] == "completed"
        assert (await agent("list_incidents"))["items"] == []


async def test_a_message_nobody_wants_says_so(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        assert (await agent("publish_message", name="hello", key="1"))["outcome"] == "no_subscription"
        assert (await agent("publish_message", name="hello", key="1", ttl_seconds=60))["outcome"] == "buffered"


async def test_what_was_begun_goes_on_when_whoever_asked_goes_away(tmp_path: Path) -> None:
    begun, going = asyncio.Event(), asyncio.Event()

    async def slow(call: Any) -> dict[str, Any]:
        begun.set()
        await going.wait()
        return {"open": True}

    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with Perdure.open(url, definitions=verbs(), handlers={**HANDLERS, "vault.open": slow}) as perdure:
        protocol = Protocol(perdure, lambda context: principal())
        params = CallToolRequestParams(name="call_verb", arguments={"verb": "vault.open", "idempotency_key": "k"})
        context: Any = SimpleNamespace(meta=None)
        asking = asyncio.ensure_future(protocol.call_tool(context, params))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        going.set()
        await protocol.finish()
        told = (await protocol.call_tool(context, params)).structured_content
        assert (told["outcome"], told["result"]) == ("completed", {"open": True})


# --- what is malformed ------------------------------------------------------------------------------------------------

MALFORMED: list[tuple[str, dict[str, Any], str]] = [
    ("list_verbs", {"limit": "many"}, "request.invalid"),
    ("list_verbs", {"limit": 0}, "request.invalid"),
    ("list_verbs", {"unknown": 1}, "request.invalid"),
    ("describe_verb", {}, "request.invalid"),
    ("call_verb", {"verb": "desk.find", "args": []}, "request.invalid"),
    ("call_verb", {"verb": "desk.find", "args": {"name": 7}}, "payload.schema"),
    ("call_verb", {"verb": "desk.find", "args": {"name": "A", "more": 1}}, "payload.schema"),
    ("call_verb", {"verb": "desk.find", "version": 9}, "command.not_found"),
    ("call_verb", {"verb": "desk.pay", "args": {"amount": "x"}}, "payload.schema"),
    ("run_runbook", {"program": "((("}, "program.invalid"),
    ("run_runbook", {"calls": [{"verb": 7}]}, "request.invalid"),
    ("run_runbook", {"calls": [{"verb": "desk.find", "handler": "os.system"}]}, "request.invalid"),
    ("run_runbook", {"draft": "no id at all"}, "command.not_found"),
    ("runbook_status", {"id": ""}, "command.not_found"),
    ("runbook_status", {"id": "x" * 81}, "request.invalid"),
    ("runbook_status", {"id": "../../etc/passwd"}, "command.not_found"),
    ("workflow_status", {"id": "' OR 1=1 --"}, "command.not_found"),
    ("runbook_events", {"id": "nothing", "after": -1}, "request.invalid"),
    ("complete_task", {"key": "nothing"}, "command.not_found"),
    ("complete_task", {"key": "nothing:x", "message_id": "m"}, "command.not_found"),
    ("answer_decision", {"key": "x:1", "agree": "yes"}, "request.invalid"),
    ("retry_incident", {"id": "nothing"}, "command.not_found"),
    ("cancel_runbook", {"id": "nothing", "reason": ""}, "command.not_found"),
    ("list_runbooks", {"after": "no cursor"}, "command.invalid"),
    ("list_incidents", {"after": "no cursor"}, "command.invalid"),
    ("list_runbooks", {"state": "asleep"}, "request.invalid"),
]


async def test_malformed_arguments_are_told_and_break_nothing(tmp_path: Path) -> None:
    async with office(tmp_path) as place, place.agent() as agent:
        told: list[tuple[str, dict[str, Any], str]] = []
        for tool, asked, _ in MALFORMED:
            with pytest.raises(Refused) as refused:
                await agent(tool, **asked)
            assert "Traceback" not in refused.value.text
            told.append((tool, asked, refused.value.code))
        assert told == MALFORMED
        assert (await agent("call_verb", verb="vault.open"))["outcome"] == "completed"
        with pytest.raises(MCPError) as unknown:
            await agent("drop_everything")
        assert unknown.value.error.code == -32602

"""What is offered to whom, verbs, and that malformed arguments break nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

from perdure.access.principal import ROLES, Role
from perdure.access.roles import OPERATIONS
from perdure.surfaces.mcp.tool import object_schema
from perdure.surfaces.mcp.tool_list import every_tool, is_offered
from tests.surfaces.mcp.protocol_agent import Refused, verbs
from tests.surfaces.mcp.tool_office import READING, office, principal

pytestmark = [pytest.mark.req("P5")]


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
    assert all(
        tool.is_reading == (name in READING | {"plan_runbook", "deployment_impact"})
        for name, tool in every_tool().items()
    )


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


async def test_a_key_for_some_verbs_cancels_no_step_of_a_runbook_with_others(tmp_path: Path) -> None:
    calls = [
        {"verb": "desk.letter", "args": {"client": "A"}, "name": "a"},
        {"verb": "vault.open", "after": ["a"], "name": "v"},
    ]
    async with office(tmp_path) as place:
        async with place.agent() as agent:
            run = await agent("run_runbook", calls=calls, wait_seconds=1)
        async with place.agent(principal(verbs=("vault.*",))) as other:
            for step in ({}, {"step": "v"}):
                with pytest.raises(Refused, match=r"desk\.letter") as refused:
                    await other("cancel_runbook", id=run["id"], reason="why not", **step)
                assert refused.value.code == "command.forbidden"
        async with place.agent() as agent:
            assert (await agent("runbook_status", id=run["id"]))["state"] == "parked"


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

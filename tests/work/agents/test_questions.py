"""Graphs that ask by interrupt(): a person's task, whose answer resumes them once, also after a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

from perdure.errors import RejectedError, SchemaViolationError
from perdure.runbooks.machine import journal_entries as e
from perdure.runbooks.machine.apply import apply
from perdure.runbooks.machine.state import STATE_VERSION, Course, Links, Runbook, Step
from perdure.testing.sandbox import Sandbox
from perdure.verbs import load_text
from tests.conftest import ROOT
from tests.crash.audit import assert_audit_passes
from tests.engines.embedded.process_models import Event, boundary, error, failure, flow, line, service, user
from tests.work.agents.agent_verbs import answer, graph, opened
from tests.work.agents.asking_graph import MODEL, VERBS, graph_of

PATIENCE_SECONDS = 240
RETRIED = VERBS.replace("kind: sync\n", "kind: sync\n    retry: {max_attempts: 1}\n")


def sandbox_of(url: str, ran: list[str] | None = None, verbs: str = RETRIED, made: Any = None) -> Any:
    note: Callable[[str], None] = (ran if ran is not None else []).append
    return Sandbox.open(url, definitions=load_text(verbs), handlers={"ubo.judge": made or graph_of(note)})


def acting(sandbox: Any, name: str = "rita", *groups: str) -> Any:
    return sandbox.acting(principal=name, groups=list(groups or ("compliance",)))


async def asked(sandbox: Any) -> Any:
    (task,) = await acting(sandbox).tasks.list(mine=True)
    return await acting(sandbox).tasks.get(task.key)


async def begun(sandbox: Any, kind: str) -> str:
    """A call, a step of a runbook or a service task that asks; its id."""
    if kind == "process":
        await sandbox.processes.deploy(MODEL, profile="open")
        id = (await sandbox.instances.start("judged", {"entity": "Allianz"})).id
    elif kind == "step":
        id = (await sandbox.runbooks.start('LET a = EXEC ubo.judge(entity: "Allianz")')).id
    else:
        id = (await sandbox.call("ubo.judge", {"entity": "Allianz"})).id
    await sandbox.run_until_idle()
    return str(id)


async def result_of(sandbox: Any, kind: str, id: str) -> tuple[str, Any]:
    await sandbox.run_until_idle()
    if kind == "process":
        view = await sandbox.instances.get(id)
        return view.state, view.data.get("verdict")
    if kind == "step":
        shown = await sandbox.runbooks.show(id)
        return shown.state, (shown.steps[0].result or {}).get("verdict")
    status = await sandbox.status(id)
    return status.state, (status.result or {}).get("verdict")


KINDS = pytest.mark.parametrize("kind", ["call", "step", "process"])


@pytest.mark.req("O13")
@KINDS
async def test_an_interrupt_is_a_task_of_its_group_whose_answer_resumes_the_graph(store_url: str, kind: str) -> None:
    ran: list[str] = []
    async with sandbox_of(store_url, ran) as sandbox:
        id = await begun(sandbox, kind)
        assert await acting(sandbox, "otto", "others").tasks.list(mine=True) == []
        task = await asked(sandbox)
        assert task.question.text == task.body == "Who owns Allianz?" and task.question.data == {"found": 2}
        assert task.form["properties"]["answer"] == {"enum": ["Ana", "Bo"]} and task.groups == "compliance"
        with pytest.raises(RejectedError, match="compliance"):
            await acting(sandbox, "otto", "others").tasks.complete(task.key, {"answer": "Ana"})
        with pytest.raises(SchemaViolationError, match="answer"):
            await acting(sandbox).tasks.complete(task.key, {"answer": "Charlie"})
        await acting(sandbox).tasks.claim(task.key)
        await acting(sandbox).tasks.complete(task.key, {"answer": "Ana"}, seen=task.seen)
        assert await result_of(sandbox, kind, id) == ("completed", "Allianz of Ana")
        assert await sandbox.tasks.list() == []
        if kind == "process":
            told = (await sandbox.workflows.story(id)).executions
            assert [(each.kind, each.state) for each in told] == [
                ("service_task", "asked"), ("user_task", "completed"), ("service_task", "completed"),
            ]  # fmt: skip
    assert ran == ["find", "ask", "ask", "judge"]  # a node begins anew after its interrupt, as LangGraph has it
    await assert_audit_passes(store_url)


@pytest.mark.req("O13", "V14")
@KINDS
async def test_an_answer_that_comes_twice_is_counted_once(store_url: str, kind: str) -> None:
    async with sandbox_of(store_url) as sandbox:
        id = await begun(sandbox, kind)
        task, rita = await asked(sandbox), acting(sandbox)
        await rita.tasks.complete(task.key, {"answer": "Ana"}, message_id="m-1")
        await rita.tasks.complete(task.key, {"answer": "Ana"}, message_id="m-1")
        with pytest.raises(RejectedError):
            await acting(sandbox, "bea").tasks.complete(task.key, {"answer": "Bo"}, message_id="m-2")
        assert await result_of(sandbox, kind, id) == ("completed", "Allianz of Ana")
        with pytest.raises(RejectedError):
            await acting(sandbox, "bea").tasks.complete(task.key, {"answer": "Bo"})
    await assert_audit_passes(store_url)


@pytest.mark.req("O13", "V14")
@pytest.mark.parametrize("kind", ["call", "process"])
async def test_a_question_outlives_kills_and_its_answer_is_used_once(store_url: str, tmp_path: Path, kind: str) -> None:
    def lived(life: str) -> int:
        words = [sys.executable, "-m", "tests.work.agents.asking_graph", store_url, str(tmp_path), kind, life]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr[-4000:]
        return done.returncode

    assert [lived(life) for life in ("ask", "answer", "resume")] == [-signal.SIGKILL] * 3
    assert lived("end") == 0
    assert (tmp_path / "ran.txt").read_text().split() == ["find", "ask", "ask", "judge", "judge"]
    async with sandbox_of(store_url, verbs=VERBS) as sandbox:
        if kind == "call":
            call = await sandbox.call("ubo.judge", {"entity": "Allianz"}, idempotency_key="one")
            assert call.result == {"verdict": "Allianz of Ana"}
        else:
            (view,) = await sandbox.instances.list()
            assert (await sandbox.instances.get(view.id)).data["verdict"] == "Allianz of Ana"


class Two(TypedDict, total=False):
    """Of a graph that asks twice."""

    entity: str
    verdict: str


class Decision(BaseModel):
    """The shape of an answer."""

    approved: bool
    amount: int = 0


def twice() -> Any:
    """One node that asks two questions, the second with a schema of its own."""

    async def ask(state: Two) -> Two:
        name = interrupt("What is its name?")
        decision = interrupt({"question": f"Approve {name}?"}, response_schema=Decision)
        return {"verdict": f"{name} {decision.approved} {decision.amount}"}

    made = StateGraph(Two)
    made.add_node("ask", ask)
    made.add_edge(START, "ask")
    made.add_edge("ask", END)
    return made.compile()


@pytest.mark.req("O13")
@KINDS
async def test_a_second_question_is_another_task_and_takes_no_answer_meant_for_the_first(
    store_url: str, kind: str
) -> None:
    async with sandbox_of(store_url, made=twice()) as sandbox:
        id, rita = await begun(sandbox, kind), acting(sandbox)
        first = await asked(sandbox)
        assert first.form["properties"]["answer"] == {"type": "string"}
        await rita.tasks.complete(first.key, {"answer": "Ana"})
        await sandbox.run_until_idle()
        second = await asked(sandbox)
        assert second.question.text == "Approve Ana?" and "approved" in second.form["properties"]
        for stale in ("", first.seen):
            with pytest.raises(RejectedError):
                await rita.tasks.complete(second.key, {"approved": True, "amount": 1}, seen=stale)
        await rita.tasks.complete(second.key, {"approved": True, "amount": 3}, seen=second.seen)
        assert await result_of(sandbox, kind, id) == ("completed", "Ana True 3")
    await assert_audit_passes(store_url)


@pytest.mark.req("O13")
@KINDS
async def test_a_graph_that_asks_when_nothing_says_whom_is_an_incident(sqlite_url: str, kind: str) -> None:
    silent = RETRIED.replace("{ask: compliance}", "{max_requests: 9}")
    async with sandbox_of(sqlite_url, verbs=silent) as sandbox:
        await begun(sandbox, kind)
        (incident,) = await sandbox.incidents()
        assert "nothing says whom" in repr(incident)


@pytest.mark.req("O13")
async def test_questions_say_for_whom_they_are_and_until_when(sqlite_url: str) -> None:
    questions = "{questions: {title: 'Owner of {entity}', assignee: ana, due: P1D, four_eyes: true}}"
    async with sandbox_of(sqlite_url, verbs=RETRIED.replace("{ask: compliance}", questions)) as sandbox:
        mine = acting(sandbox, "ana")
        call = await mine.call("ubo.judge", {"entity": "Allianz"})
        (task,) = await sandbox.tasks.list()
        assert (task.assignee, task.name, task.due) == ("ana", "Owner of Allianz", "P1D")
        with pytest.raises(RejectedError, match="four eyes"):
            await mine.tasks.complete(task.key, {"answer": "Ana"})
        assert call.waiting_for.kind == "task"


ASKED = line(
    "asked", service("judge", "ubo.judge"),
    more=(boundary("unsure", "judge", error("agent.unsure")), user("person"), Event(id="told", position="end")),
    flows=(flow("unsure", "person"), flow("person", "told")), errors=(failure("agent.unsure"),),
)  # fmt: skip
PLAIN = line("plain", service("judge", "ubo.judge"))


@pytest.mark.req("O13")
@pytest.mark.parametrize("how", ["accepts", "answers otherwise"])
async def test_an_agent_of_a_process_that_is_not_sure_asks_its_group(store_url: str, how: str) -> None:
    async with opened(
        store_url, "{confidence: 0.8, ask: compliance}", judge=graph(answer(), confidence=0.3)
    ) as sandbox:
        await sandbox.processes.deploy(PLAIN, profile="open")
        view = await sandbox.instances.start("plain", {"entity": "Allianz"})
        await sandbox.run_until_idle()
        task = await asked(sandbox)
        assert task.proposal.data == {"verdict": "good"} and "0.3 sure" in task.proposal.why
        if how == "accepts":
            await acting(sandbox).tasks.accept(task.key)
        else:
            await acting(sandbox).tasks.complete(task.key, {"verdict": "bad"})
        await sandbox.run_until_idle()
        shown = await sandbox.instances.get(view.id)
        assert (shown.state, shown.data["verdict"]) == ("completed", "good" if how == "accepts" else "bad")
        assert shown.usage.attempts == 1  # the person's answer asked no model
    await assert_audit_passes(store_url)


@pytest.mark.req("O13")
async def test_a_model_that_catches_the_doubt_keeps_its_own_way(sqlite_url: str) -> None:
    async with opened(
        sqlite_url, "{confidence: 0.8, ask: compliance}", judge=graph(answer(), confidence=0.3)
    ) as sandbox:
        await sandbox.processes.deploy(ASKED, profile="open")
        await sandbox.instances.start("asked", {"entity": "Allianz"})
        await sandbox.run_until_idle()
        assert [task.element for task in await sandbox.tasks.list()] == ["person"]


@pytest.mark.req("O13")
@KINDS
async def test_a_question_that_is_cancelled_is_gone(sqlite_url: str, kind: str) -> None:
    async with sandbox_of(sqlite_url) as sandbox:
        id = await begun(sandbox, kind)
        (task,) = await sandbox.tasks.list()
        cancels = sandbox.instances.cancel if kind == "process" else sandbox.cancel
        await cancels(id)
        assert await sandbox.tasks.list() == []
        with pytest.raises(RejectedError):
            await acting(sandbox).tasks.complete(task.key, {"answer": "Ana"})
    await assert_audit_passes(sqlite_url)


@pytest.mark.req("O13")
def test_of_a_question_and_a_proposal_of_one_step_the_later_one_is_open() -> None:
    definition, at = b"d" * 32, 1_000_000
    asked = (
        e.QuestionAsked(1, 1, at, "agent:judge", b"q" * 32), e.StepParked(1, at, "ubo.judge"),
    )  # fmt: skip
    proposed = (
        e.ProposalMade(1, at, "agent:judge", b"p" * 32, "the agent is 0.3 sure"), e.StepParked(1, at, "ubo.judge"),
    )  # fmt: skip
    begun = (
        e.CallStarted("ubo.judge", 1, definition, b"i" * 32, at, "ada", "", ""), e.AttemptStarted(1, 1, at, 1),
    )  # fmt: skip

    def step_after(*entries: Any) -> Step:
        state: Runbook | None = None
        for entry in (*begun, *entries):
            state = apply(state, entry)
        assert state is not None
        return state.steps[0]

    assert step_after(*asked).is_asking
    assert not step_after(*asked, *proposed).is_asking
    assert step_after(*proposed, *asked).is_asking and not step_after(*proposed, *asked).proposal


@pytest.mark.req("O13", "X26")
def test_a_step_that_is_retried_has_forgotten_what_its_agent_asked_and_proposed() -> None:
    step = Step(
        "ubo.judge", 1, b"d" * 32, "failed", b"i" * 32, links=Links("a"), proposal=b"p" * 32, question=b"q" * 32,
        answer=b"a" * 32,
    )  # fmt: skip
    state = Runbook(STATE_VERSION, "failed", 1, "ada", "", (step,), course=Course(b"c" * 32, (), (1,) * 20))
    again = apply(state, e.StepRetried(1, 2, "it is back")).steps[0]
    assert (again.status, again.proposal, again.question, again.answer) == ("pending", b"", b"", b"")

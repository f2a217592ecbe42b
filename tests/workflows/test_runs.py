"""Workflows run: agents, people, timers, retries and compensation, on both stores and on virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from perdure.errors import BusinessError, RejectedError, SchemaViolationError
from perdure.orchestration import (
    CompensationHandler,
    ErrorEvent,
    EventBasedGateway,
    ExclusiveGateway,
    InclusiveGateway,
    MessageEvent,
    RetryPolicy,
    ScriptTask,
    ServiceTask,
    Timer,
    TimerEvent,
    UserTask,
    Workflow,
    WorkflowContext,
    WorkflowEngine,
    WorkflowInstance,
    WorkflowTransaction,
)
from perdure.testing import Sandbox
from tests.acceptance.commands import Shell
from tests.workflows.samples import Deployer, review


class Run:
    """An engine over a sandbox: time passes when it is told to."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.engine = WorkflowEngine(perdure=sandbox)

    async def start(self, id: str, variables: dict[str, Any] | None = None, **options: Any) -> WorkflowInstance:
        instance = await self.engine.start_workflow(id, variables=variables, **options)
        await self.sandbox.run_until_idle()
        return instance

    async def answer(self, instance: WorkflowInstance, by: str, **answer: Any) -> None:
        (task,) = await instance.tasks()
        await self.engine.complete_task(task.key, by=by, **answer)
        await self.sandbox.run_until_idle()


@asynccontextmanager
async def running(url: str, *workflows: Workflow) -> AsyncIterator[Run]:
    async with Sandbox.open(url, workflows=workflows) as sandbox:
        yield Run(sandbox)


def chain(id: str, *nodes: Any, **options: Any) -> Workflow:
    workflow = Workflow(id, **options)
    flow = workflow.start()
    for node in nodes:
        flow = flow.then(node)
    return flow.end()


@pytest.mark.req("O1", "O5")
async def test_a_risky_change_is_reviewed_by_an_agent_and_a_person_and_deployed(store_url: str) -> None:
    async with running(store_url, review()) as run:
        instance = await run.start("review", {"number": 142})
        (task,) = await instance.tasks()
        assert (task.name.lower(), task.assignee) == ("decide about a risky change", "ada")
        assert (task.body, task.labels) == ("Change 142 is of risk high.", ["human-task", "needs-review"])
        with pytest.raises(RejectedError, match="ada"):
            await run.engine.complete_task(task.key, by="eve", approved=True)
        with pytest.raises(SchemaViolationError, match="approved"):
            await run.engine.complete_task(task.key, by="ada", approved="perhaps")
        await run.answer(instance, "ada", approved=True, comment="fine")
        assert await instance.state() == "completed"
        assert await instance.get_variable("decide_decision") == {"approved": True, "comment": "fine"}
        assert await instance.get_variable("url") == "https://example.org/142"
        assert await instance.get_variable("unasked") is None  # no output variable of that name


@pytest.mark.req("O4")
async def test_what_every_execution_got_gave_and_cost_is_told(store_url: str) -> None:
    async with running(store_url, review()) as run:
        instance = await run.start("review", {"number": 142})
        await run.sandbox.advance("PT1H")
        await run.answer(instance, "ada", approved=True)
        told = {each.task: each for each in await instance.executions()}
        validate, decide = told["validate"], told["decide"]
        assert (validate.kind, validate.actor, validate.attempt, validate.state) == (
            "service_task", "Reviewer", 1, "completed",
        )  # fmt: skip
        assert (validate.input, validate.output) == ({"number": 142}, {"approved": True, "risk": "high"})
        assert validate.cost == "0.25"
        assert (decide.kind, decide.actor, decide.duration_ms) == ("user_task", "ada", 3_600_000.0)
        assert decide.output == {"decide_decision": {"approved": True}}


@pytest.mark.req("O3")
async def test_variables_have_versions_authors_and_a_history(store_url: str) -> None:
    async def once(inputs: dict[str, Any]) -> dict[str, Any]:
        return {"price": 10}

    async def twice(inputs: dict[str, Any]) -> dict[str, Any]:
        return {"price": inputs["price"] + 1}

    first = ServiceTask("offer", function=once, output_variables=["price"])
    second = ServiceTask("raise_it", function=twice, input_variables=["price"], output_variables=["price"])
    async with running(store_url, chain("pricing", first, second)) as run:
        instance = await run.start("pricing", {"customer": "ana"})
        history = await instance.get_variable_history("price")
        assert [(each.version, each.value, each.type, each.updated_by) for each in history] == [
            (1, 10, "integer", "once"), (2, 11, "integer", "twice"),
        ]  # fmt: skip
        assert {each.created_by for each in history} == {"once"}
        assert (await instance.variables())["customer"].updated_by == "local"


@pytest.mark.req("O4")
async def test_a_task_is_tried_again_and_every_attempt_is_told(store_url: str) -> None:
    attempts: list[int] = []

    async def flaky(ctx: WorkflowContext) -> dict[str, Any]:
        attempts.append(ctx.call.attempt)
        if len(attempts) < 3:
            raise RuntimeError("not yet")
        return {"done": True}

    policy = RetryPolicy(max_attempts=3, backoff="fixed", base_delay=timedelta(seconds=5), jitter=0)
    task = ServiceTask("flaky", function=flaky, output_variables=["done"], retry_policy=policy)
    async with running(store_url, chain("retried", task)) as run:
        instance = await run.start("retried")
        await run.sandbox.advance("PT10S")
        assert await instance.state() == "completed"
        told = await instance.executions()
        assert [(each.attempt, each.state) for each in told] == [(1, "failed"), (2, "failed"), (3, "completed")]
        assert "not yet" in told[0].error


@pytest.mark.req("O5")
async def test_a_function_decides_when_nobody_answers_within_the_sla(store_url: str) -> None:
    def refuse(ctx: WorkflowContext) -> dict[str, Any]:
        return {"approved": False, "comment": f"nobody answered about {ctx['number']}"}

    person = UserTask("decide", title="Decide", assignee="ada", sla_hours=4, on_timeout=refuse)
    async with running(store_url, chain("late", person)) as run:
        instance = await run.start("late", {"number": 7})
        await run.sandbox.advance("PT3H59M")
        assert await instance.state() == "active"
        await run.sandbox.advance("PT2M")
        assert await instance.state() == "completed"
        decided = await instance.get_variable("decide_decision")
        assert decided == {"approved": False, "comment": "nobody answered about 7"}
        asked = next(each for each in await instance.executions() if each.task == "decide")
        assert (asked.state, asked.duration_ms) == ("cancelled", 14_400_000.0)
        answered = await run.start("late", {"number": 8})
        await run.answer(answered, "ada", approved=True)
        assert await answered.get_variable("decide_decision") == {"approved": True}


@pytest.mark.req("O5")
async def test_without_a_function_the_managers_may_answer_after_the_sla(store_url: str) -> None:
    person = UserTask("decide", title="Decide", assignee="ada", sla_hours=4, form={"grade": "integer"})
    async with running(store_url, chain("escalated", person)) as run:
        instance = await run.start("escalated")
        (task,) = await instance.tasks()
        with pytest.raises(RejectedError):
            await run.engine.complete_task(task.key, by="max", groups=["managers"], grade=2)
        await run.sandbox.advance("PT4H")
        await run.engine.complete_task(task.key, by="max", groups=["managers"], grade=2)
        await run.sandbox.run_until_idle()
        assert await instance.get_variable("decide_decision") == {"grade": 2}


class Shop:
    """Books, charges and ships; notes what was undone."""

    def __init__(self, fails_at: str, undo_fails_at: str = "") -> None:
        self.fails_at, self.undo_fails_at = fails_at, undo_fails_at
        self.undone: list[str] = []

    def task(self, id: str) -> ServiceTask:
        async def work(inputs: dict[str, Any]) -> dict[str, Any]:
            if id == self.fails_at:
                raise RuntimeError(f"{id} is out of order")
            return {id: True}

        return ServiceTask(id, function=work, output_variables=[id])

    def handler(self, id: str, order: int = 0) -> CompensationHandler:
        async def undo(instance: WorkflowContext) -> None:
            assert instance.get_variable(id) is True
            if id == self.undo_fails_at:
                raise BusinessError("undo.refused", "too late")
            self.undone.append(id)

        return CompensationHandler(task_id=id, compensate=undo, order=order)


def shopping(shop: Shop) -> Workflow:
    transaction = WorkflowTransaction()
    for order, id in ((3, "book"), (2, "charge"), (1, "ship")):
        transaction.execute_task(shop.task(id), shop.handler(id, order))
    workflow = Workflow("shopping")
    return workflow.start().transaction(transaction).then(shop.task("thank")).end()


@pytest.mark.req("O8")
async def test_a_failure_undoes_what_was_done_last_first(store_url: str) -> None:
    shop = Shop(fails_at="thank")
    async with running(store_url, shopping(shop)) as run:
        instance = await run.start("shopping")
        assert (await instance.state(), shop.undone) == ("compensated", ["ship", "charge", "book"])
        failed = [each for each in await instance.executions() if each.state == "failed"]
        assert [each.task for each in failed] == ["thank"]
        assert "thank is out of order" in failed[0].error


@pytest.mark.req("O8")
async def test_only_what_completed_is_undone_and_a_failing_undo_does_not_stop_the_others(store_url: str) -> None:
    shop = Shop(fails_at="thank", undo_fails_at="charge")
    async with running(store_url, shopping(shop)) as run:
        instance = await run.start("shopping")
        assert (await instance.state(), shop.undone) == ("compensation_failed", ["ship", "book"])
    early = Shop(fails_at="charge")
    async with running(f"{store_url}", shopping(early)) as run:
        instance = await run.start("shopping", idempotency_key="early")
        assert (await instance.state(), early.undone) == ("compensated", ["book"])


@pytest.mark.req("O4")
async def test_without_compensation_a_failure_is_an_incident_that_a_person_mends() -> None:
    fails = [True]

    def work(inputs: dict[str, Any]) -> dict[str, Any]:
        if fails[0]:
            raise KeyError("gone")
        return {"done": 1}

    async with running(
        "sqlite://", chain("stuck", ServiceTask("work", function=work, output_variables=["done"]))
    ) as run:
        instance = await run.start("stuck")
        (incident,) = (await instance.view()).incidents
        assert (incident.element, incident.code) == ("work", "job.contract")
        fails[0] = False
        await run.sandbox.instances.retry(instance.instance_id)
        await run.sandbox.run_until_idle()
        assert await instance.state() == "completed"


@pytest.mark.req("O6")
@pytest.mark.parametrize(("came", "way"), [("message", "thanked"), ("signal", "stopped"), ("", "reminded")])
async def test_the_first_event_wins_and_a_message_brings_its_outputs(came: str, way: str) -> None:
    def note(text: str) -> ServiceTask:
        return ServiceTask(text, function=lambda inputs: {"way": text}, output_variables=["way"])

    from perdure.orchestration import SignalEvent  # noqa: PLC0415

    race = EventBasedGateway(
        "race",
        {
            "paid": MessageEvent("paid", correlation="order", output_variables=["amount"]),
            "stop": SignalEvent("stop", signal="halt"),
            "late": Timer("late", duration="P1D"),
        },
    )
    workflow = Workflow("order", variables={"order": {"type": "string", "required": True}})
    workflow.start().then(race).route("paid", note("thanked")).route("stop", note("stopped")).route(
        "late", note("reminded")
    ).end()
    async with running("sqlite://", workflow) as run:
        instance = await run.start("order", {"order": "O-1"})
        await run.start("order", {"order": "O-2"})
        if came == "message":
            await run.sandbox.publish("paid", "O-1", {"amount": 12, "secret": "x"}, message_id="m1")
        elif came == "signal":
            await run.sandbox.signal("halt")
        await run.sandbox.advance("PT1S" if came else "P1D")
        assert await instance.state() == "completed"
        assert await instance.get_variable("way") == way
        assert await instance.get_variable("secret") is None
        assert await instance.get_variable("amount") == (12 if came == "message" else None)


@pytest.mark.req("O6")
@pytest.mark.parametrize(("number", "route"), [(1, ["small"]), (10, ["small", "even"]), (101, ["other"])])
async def test_an_inclusive_gateway_takes_every_way_that_holds_else_the_default(number: int, route: list[str]) -> None:
    taken: list[str] = []

    def way(id: str) -> ServiceTask:
        return ServiceTask(id, function=lambda inputs: taken.append(id))

    some = InclusiveGateway(
        "some", {"small": lambda ctx: ctx["number"] < 100, "even": lambda ctx: ctx["number"] % 2 == 0}, "other"
    )
    workflow = Workflow("ways")
    flow = workflow.start().then(some)
    for each in ("small", "even", "other"):
        flow = flow.route(each, way(each))
    flow.then(InclusiveGateway("meet", mode="join")).end()
    async with running("sqlite://", workflow) as run:
        instance = await run.start("ways", {"number": number})
        assert (await instance.state(), sorted(taken)) == ("completed", sorted(route))


@pytest.mark.req("O6")
async def test_a_gateway_without_a_way_is_an_incident_that_names_it() -> None:
    choice = ExclusiveGateway("choice", {"a": lambda ctx: ctx.get("x") == 1, "b": lambda ctx: ctx.get("x") == 2})
    workflow = Workflow("no_way")
    workflow.start().then(choice).route("a").route("b").end()
    async with running("sqlite://", workflow) as run:
        instance = await run.start("no_way", {"x": 3})
        (incident,) = (await instance.view()).incidents
        assert "No path matched in gateway 'choice'" in incident.text


@pytest.mark.req("O7")
async def test_a_trial_waits_seven_days_and_a_report_comes_every_morning(store_url: str) -> None:
    reports: list[int] = []
    trial = chain(
        "trial", TimerEvent("wait_7_days", "duration", timedelta(days=7)),
        ScriptTask("check", script=lambda ctx: ctx["score"] > 7, output_variable="converted"),
    )  # fmt: skip
    daily = Workflow("daily")
    daily.start_on_timer(TimerEvent("daily_9am", "cycle", "0 9 * * *")).then(
        ServiceTask("report", function=lambda inputs: reports.append(1))
    ).end()
    async with running(store_url, trial, daily) as run:
        instance = await run.start("trial", {"score": 8})
        await run.sandbox.advance("P6D")
        assert (await instance.state(), len(reports)) == ("active", 6)
        await run.sandbox.advance("P1D")
        assert (await instance.state(), await instance.get_variable("converted")) == ("completed", True)


@pytest.mark.req("O7")
async def test_a_boundary_event_takes_over_and_one_that_does_not_interrupt_lets_the_task_go_on() -> None:
    noted: list[str] = []

    def note(text: str) -> ServiceTask:
        return ServiceTask(text, function=lambda inputs: noted.append(text))

    workflow = Workflow("bounded")
    person = UserTask("approval", title="Approve", assignee="ada", sla_hours=48)
    workflow.start().then(person).end()
    workflow.add_boundary_event(person, Timer("timeout_4h", duration="PT4H"), interrupt=False, then=note("remind"))
    workflow.add_boundary_event(person, Timer("timeout_1d", duration="P1D"), interrupt=True, then=note("escalate"))
    async with running("sqlite://", workflow) as run:
        instance = await run.start("bounded")
        await run.sandbox.advance("PT5H")
        assert (noted, len(await instance.tasks())) == (["remind"], 1)
        await run.sandbox.advance("P1D")
        assert (noted, await instance.state()) == (["remind", "escalate"], "completed")


@pytest.mark.req("O6")
async def test_a_business_error_takes_the_way_of_its_boundary_event() -> None:
    def work(inputs: dict[str, Any]) -> dict[str, Any]:
        raise BusinessError("card.declined", "no money")

    charge = ServiceTask("charge", function=work, errors=["card.declined"])
    workflow = chain("declined", charge)
    ask = ServiceTask("ask", function=lambda inputs: {"asked": True}, output_variables=["asked"])
    workflow.add_boundary_event(charge, ErrorEvent("no_money", "card.declined"), then=ask)
    async with running("sqlite://", workflow) as run:
        instance = await run.start("declined")
        assert (await instance.state(), await instance.get_variable("asked")) == ("completed", True)


@pytest.mark.req("O3")
async def test_a_condition_in_text_reads_what_tasks_people_and_starts_bring(store_url: str) -> None:
    choice = ExclusiveGateway(
        "choice", {"yes": "decide_decision.approved == true and amount < 100", "no": "amount >= 100"}, "no"
    )  # fmt: skip
    workflow = Workflow("asked", variables={"amount": {"type": "integer", "required": True}})
    says = [
        ServiceTask(id, function=lambda inputs, id=id: {"way": id}, output_variables=["way"]) for id in ("yes", "no")
    ]
    workflow.start().then(UserTask("decide", title="Decide")).then(choice).route("yes", says[0]).route(
        "no", says[1]
    ).end()
    async with running(store_url, workflow) as run:
        with pytest.raises(SchemaViolationError, match="amount"):
            await run.engine.start_workflow("asked", variables={"amount": "many"})
        for amount, approved, way in ((5, True, "yes"), (5, False, "no"), (500, True, "no")):
            instance = await run.start("asked", {"amount": amount})
            await run.answer(instance, "ada", approved=approved)
            assert await instance.get_variable("way") == way


@pytest.mark.req("O12")
async def test_an_instance_is_suspended_and_resumed() -> None:
    async with running("sqlite://", chain("paused", Timer("day", duration="P1D"))) as run:
        instance = await run.start("paused")
        await instance.suspend("holidays")
        await run.sandbox.advance("P3D")
        assert await instance.state() == "suspended"
        await instance.resume()
        await run.sandbox.run_until_idle()
        assert await instance.state() == "completed"


def test_an_agent_is_told_what_it_works_for_only_when_it_asks() -> None:
    assert Deployer("i").instance_id == "i"


@pytest.mark.req("O3")
async def test_a_variable_is_set_by_hand_with_its_author_and_conditions_follow_it(store_url: str) -> None:
    choice = ExclusiveGateway("choice", {"yes": "ready == true"}, "no")
    workflow = Workflow("by_hand", variables={"ready": "boolean", "n": {"type": "integer", "default": 1}})
    says = [ServiceTask(id, function=lambda inputs, id=id: id, output_variables=["way"]) for id in ("yes", "no")]
    flow = workflow.start().then(Timer("day", duration="P1D")).then(choice)
    flow.route("yes", says[0]).route("no", says[1]).end()
    async with running(store_url, workflow) as run:
        instance, other = await run.start("by_hand"), await run.start("by_hand")
        with pytest.raises(SchemaViolationError, match="ready"):
            await instance.set_variable("ready", "soon", actor="eve")
        await instance.set_variable("ready", False, actor="carl")
        await instance.set_variable("ready", True, actor="ana", reason="it came by phone")
        await run.sandbox.advance("P1D")
        assert [await each.get_variable("way") for each in (instance, other)] == ["yes", "no"]
        history = await instance.get_variable_history("ready")
        assert [(each.version, each.value, each.updated_by) for each in history] == [
            (1, False, "carl"),
            (2, True, "ana"),
        ]
        assert {each.created_by for each in history} == {"carl"}
        with pytest.raises(RejectedError):
            await instance.set_variable("ready", False)  # it has ended


@pytest.mark.req("O3", "O4")
def test_variables_and_executions_are_shown_and_set_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "perdure.yaml").write_text("workflows: [flows]\n")
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "waits.py").write_text(
        "from perdure.orchestration import Workflow, ServiceTask, UserTask\n"
        "def look(inputs):\n    return {'seen': inputs['n'] + 1}\n"
        "waits = Workflow('waits', variables={'n': {'type': 'integer', 'required': True}, 'ready': 'boolean'})\n"
        "waits.start().then(ServiceTask('look', function=look, input_variables=['n'], output_variables=['seen']))"
        ".then(UserTask('go', title='Go on?')).end()\n"
    )
    shell = Shell(tmp_path)
    shell.run("call", "waits", "n=4")
    (instance,) = shell.json("instances", "list")
    id = instance["id"]
    assert {each["name"]: each["value"] for each in shell.json("workflows", "variables", id)} == {"n": 4, "seen": 5}
    shell.run("workflows", "set", id, "ready", "true", "--reason", "by phone", "--as", "ana")
    (ready,) = shell.json("workflows", "variables", id, "ready")
    assert (ready["value"], ready["version"], ready["updated_by"]) == (True, 1, "ana")
    told = {each["task"]: each for each in shell.json("workflows", "executions", id)}
    assert (told["look"]["input"], told["look"]["output"], told["look"]["state"]) == (
        {"n": 4},
        {"seen": 5},
        "completed",
    )
    assert told["go"]["state"] == "active"
    assert "seen = 5  integer, version 1 by look" in shell.run("workflows", "variables", id).out

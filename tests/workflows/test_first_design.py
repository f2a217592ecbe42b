"""Every listing of the first design runs, with its imports and a documented table of corrections changed."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from perdure import orchestration
from perdure.orchestration import Workflow, WorkflowEngine, WorkflowRegistry
from perdure.testing import Sandbox
from perdure.workflows.files import imported
from perdure.workflows.names import kept
from perdure.workflows.yaml_reader import read_workflow
from tests.conftest import ROOT
from tests.workflows import first_design as design
from tests.workflows.first_design import Listing

pytestmark = pytest.mark.req("O15")
TABLE = ROOT / "docs" / "decisions" / "orchestration.md"


@pytest.fixture
def found(shared_folder: Path) -> list[Listing]:
    return design.listings((shared_folder / "seeds" / design.TEXT).read_text(encoding="utf-8"))


@pytest.fixture
def load(tmp_path: Path, found: list[Listing]) -> Iterator[Callable[..., ModuleType]]:
    """Imports the listing of a section, the `number`th that has some words."""
    before = list(sys.path)

    def by(section: str, words: str, name: str = "listing", stubs: bool = True) -> ModuleType:
        (listing,) = [
            each for each in found if each.section == section and words in each.text and each.language == "python"
        ]
        sys.modules.pop("agents", None)
        file = design.write(tmp_path, name, design.module(listing, stubs=stubs))
        return imported(file, file.parent)

    yield by
    sys.path[:] = before
    for name in [each for each in sys.modules if each in ("agents", "workflows") or each.startswith("workflows.")]:
        del sys.modules[name]


class Run:
    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.engine = sandbox, WorkflowEngine(perdure=sandbox)

    async def start(self, workflow: Workflow, **variables: Any) -> Any:
        instance = await self.engine.start_workflow(workflow.id, variables=variables)
        await self.sandbox.run_until_idle()
        return instance

    async def answer(self, instance: Any, by: str, **answer: Any) -> None:
        (task,) = await instance.tasks()
        await self.engine.complete_task(task.key, by=by, **answer)
        await self.sandbox.run_until_idle()


@asynccontextmanager
async def running(*workflows: Any) -> AsyncIterator[Run]:
    async with Sandbox.open(workflows=workflows) as sandbox:
        yield Run(sandbox)


def chain(module: ModuleType, *nodes: Any) -> Workflow:
    flow = module.workflow.start()
    for node in nodes:
        flow = flow.then(node)
    return flow.end()


# --- the table -----------------------------------------------------------------------------------------------------


def test_every_correction_is_needed_and_stands_in_the_documented_table(found: list[Listing]) -> None:
    rows = TABLE.read_text(encoding="utf-8")
    used = [each for listing in found if not _defines(listing) for each in design.corrected(listing)[1]]
    assert [each for each in design.CORRECTIONS if each not in used] == []
    assert [each.row for each in used if f"\n{each.row}" not in rows] == []


# --- classes: every name, argument and method the text shows --------------------------------------------------------


NOT_OURS = {
    "execute": "a node is a part of a workflow",
    "completed_tasks": "kept by the journal",
    "compensate_all": "the engine compensates",
    "load_instance": "engine.instance", "create_checkpoint": "the journal is the checkpoint",
    "migrate_variables": "variables=", "resume": "the engine resumes",
}  # fmt: skip


def _defines(listing: Listing) -> bool:
    """Whether a listing shows how a class of ours might be written, and is no program."""
    return listing.language == "python" and "\nclass " in f"\n{listing.text}"


def test_every_class_takes_the_arguments_and_has_the_methods_that_the_text_shows(found: list[Listing]) -> None:
    missing = []
    for listing in filter(_defines, found):
        for shown in [node for node in ast.parse(listing.text).body if isinstance(node, ast.ClassDef)]:
            name = {"WAAOOWAgent": "WorkflowAgent"}.get(shown.name, shown.name)
            missing.extend(_missing(getattr(orchestration, name), shown))
    assert missing == []


def _missing(ours: type, shown: ast.ClassDef) -> Iterator[str]:
    fields = [
        node.target.id for node in shown.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    has = set(inspect.signature(ours).parameters)
    yield from (f"{shown.name}({field}=)" for field in fields if field not in has)
    for method in [node for node in shown.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]:
        if method.name == "__init__":
            if shown.name != "WorkflowInstance":  # made by the engine, not by a program
                given = [each.arg for each in method.args.args[1:]]
                yield from (f"{shown.name}({each}=)" for each in given if each not in has)
        elif not method.name.startswith("_") and not callable(getattr(ours, method.name, None)):
            yield from (f"{shown.name}.{each}" for each in (method.name,) if each not in NOT_OURS)


# --- programs ------------------------------------------------------------------------------------------------------


async def test_2_1_a_workflow_is_defined_and_routes(load: Callable[..., ModuleType]) -> None:
    module = load("2.1", "wowvision_validate")
    async with running(module.workflow) as run:
        instance = await run.start(module.workflow, pr_number=1, files_changed=[])
        assert await instance.state() == "completed"
        assert module.DONE == ["execute", "deploy_task"]


def test_2_2_the_same_in_yaml(found: list[Listing]) -> None:
    (listing,) = [each for each in found if each.language == "yaml"]
    workflow = read_workflow(listing.text, "pr_review.yaml", kept)
    assert (workflow.id, len(workflow.compile().verbs)) == ("pr_review", 5)


async def test_3_3_variables_are_set_read_and_followed(load: Callable[..., ModuleType]) -> None:
    module = load("3.3", "Audit trail available")
    waiting = chain(module, orchestration.Timer("later", duration="P1D"))
    async with running(waiting) as run:
        told = await module.main(run.engine, waiting)
        assert (told["approved"], told["violations"]) == (True, [])
        (first,) = told["history"]
        assert (first.version, first.value, first.updated_by) == (1, True, "WowVision Prime")


async def test_4_1_a_service_task(load: Callable[..., ModuleType]) -> None:
    module = load("4.1", "vision_task = ")
    async with running(chain(module, module.vision_task)) as run:
        instance = await run.start(module.workflow, pr_number=1, files_changed=[])
        assert await instance.get_variable("vision_approved") is True


async def test_4_2_a_user_task(load: Callable[..., ModuleType]) -> None:
    module = load("4.2", "human_review = ")
    async with running(chain(module, module.human_review)) as run:
        instance = await run.start(module.workflow, files_changed=["a.py", "b.py"], risk_level="high")
        (task,) = await instance.tasks()
        assert "- Files changed: a.py, b.py\n- Risk level: high" in task.body
        assert f"**Workflow**: {instance.instance_id}" in task.body
        await run.sandbox.advance("PT4H")
        assert (await instance.get_variable("architect_approval_decision"))["comment"] == "nobody answered"


async def test_4_3_a_script_task(load: Callable[..., ModuleType]) -> None:
    module = load("4.3", "calculate_priority = ")
    async with running(chain(module, module.calculate_priority)) as run:
        for files, priority in ((["a"] * 11, 5), (["a"], 3)):
            instance = await run.start(module.workflow, files_changed=files)
            assert await instance.get_variable("priority_level") == priority


async def test_5_1_an_exclusive_gateway(load: Callable[..., ModuleType]) -> None:
    module = load("5.1", "approval_gate = ")
    flow = module.workflow.start().then(module.approval_gate)
    for route in module.approval_gate.routes:
        flow = flow.route(route, module.stub(route))
    flow.end()
    async with running(module.workflow) as run:
        for approved, violations, way in ((True, 0, "deploy"), (False, 2, "fix_violations"), (False, 9, "reject")):
            await run.start(module.workflow, vision_approved=approved, violations=["x"] * violations)
            assert module.DONE.pop() == way


async def test_5_2_a_parallel_gateway(load: Callable[..., ModuleType]) -> None:
    module = load("5.2", "parallel_review = ")
    async with running(module.workflow) as run:
        instance = await run.start(module.workflow)
        assert (await instance.state(), sorted(module.DONE)) == ("completed", ["brand", "domain", "execute"])


@pytest.mark.parametrize("came", ["approved", "rejected", "timeout"])
async def test_5_3_an_event_based_gateway(load: Callable[..., ModuleType], came: str) -> None:
    module = load("5.3", "wait_for_event = ")
    flow = module.workflow.start().then(module.wait_for_event)
    for route in module.wait_for_event.events:
        flow = flow.route(route, module.stub(f"was_{route}"))
    flow.end()
    async with running(module.workflow) as run:
        await run.start(module.workflow, issue="I-1")
        if came != "timeout":
            await run.sandbox.publish(came, "I-1", message_id="m")
        await run.sandbox.advance("PT1H")
        assert [f"was_{came}"] == module.DONE


async def test_6_2_a_trial_expires_after_seven_days(load: Callable[..., ModuleType]) -> None:
    module = load("6.2", "trial_timer = ")
    async with running(module.workflow) as run:
        await run.start(module.workflow)
        await run.sandbox.advance("P6DT23H")
        assert module.DONE == ["start_trial"]
        await run.sandbox.advance("PT1H")
        assert module.DONE == ["start_trial", "check_conversion"]


async def test_6_2_b_a_timeout_takes_over_from_a_person(load: Callable[..., ModuleType]) -> None:
    module = load("6.2", "timeout_4h")
    async with running(chain(module, module.human_task)) as run:
        instance = await run.start(module.workflow)
        await run.sandbox.advance("PT4H")
        assert (await instance.state(), module.DONE) == ("completed", ["escalate_task"])


async def test_6_2_c_a_report_comes_every_day(load: Callable[..., ModuleType]) -> None:
    module = load("6.2", "daily_9am")
    async with running(module.workflow) as run:
        await run.sandbox.advance("P3D")
        assert module.DONE == ["generate_report", "send_email"] * 3


async def test_7_2_a_failing_step_undoes_those_before_it(load: Callable[..., ModuleType]) -> None:
    module = load("7.2", "Define workflow with compensation")
    workflow = module.workflow.start().transaction(module.transaction).end()
    async with running(workflow) as run:
        instance = await run.start(workflow, issue_number=7, campaign_record_id=3, customer_email="ana")
        assert await instance.state() == "compensated"
        assert module.DONE == ["create_issue", "create_campaign", ("delete", "campaign"), ("close_issue", 7)]


def test_8_3_rollout_and_segments(load: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins  # noqa: PLC0415

    registry = WorkflowRegistry()
    for id, version in (
        ("pr_review", "1.0"),
        ("pr_review", "1.1"),
        ("onboarding", "2.0-strict"),
        ("onboarding", "2.0-standard"),
    ):
        registry.register(Workflow(id, version))
    monkeypatch.setattr(builtins, "registry", registry, raising=False)
    load("8.3", "random.random()", "rollout")
    arms = {registry.choose("pr_review", f"k{number}").version for number in range(100)}
    assert arms == {"1.0", "1.1"}
    for segment, version in (("enterprise", "2.0-strict"), ("small", "2.0-standard")):
        monkeypatch.setattr(builtins, "customer", type("Customer", (), {"segment": segment}), raising=False)
        assert load("8.3", "customer.segment", f"of_{segment}").workflow.version == version


def test_10_1_every_class_is_imported(load: Callable[..., ModuleType]) -> None:
    module = load("10.1", "CompensationHandler, WorkflowTransaction", stubs=False)
    assert module.WorkflowRegistry is WorkflowRegistry


@pytest.mark.req("O14")
@pytest.mark.parametrize(("number", "way"), [(42, "high"), (7, "low"), (142, "issue")])
async def test_10_2_the_review_of_a_pull_request(load: Callable[..., ModuleType], number: int, way: str) -> None:
    module = load("10.2", "pr_review = Workflow(")
    async with running(module.registry) as run:
        instance = await run.start(module.pr_review, pr_number=number, author="johndoe", files_changed=["app.py"])
        if way == "high":
            (task,) = await instance.tasks()
            assert "**WowVision**: yes" in task.body
            assert task.assignee == "engineering-lead"
            await run.answer(instance, "engineering-lead", approved=True)
        assert await instance.state() == "completed"
        assert await instance.get_variable("issue_number") == (7 if way == "issue" else None)
        deployed = f"https://example.org/{number}" if way != "issue" else None
        assert await instance.get_variable("deployment_url") == deployed


async def test_10_3_an_engine_loads_listens_and_starts(
    load: Callable[..., ModuleType], found: list[Listing], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (review,) = [each for each in found if each.section == "10.2"]
    design.write(tmp_path, "pr_review", design.module(review, stubs=False))
    module = load("10.3", "Manual start", "main", stubs=False)
    (tmp_path / "workflows" / "main.py").unlink()  # a program, and no workflow
    (listener,) = [each for each in found if each.section == "9.1" and "customer.trial.expired" in each.text]
    assert design.corrected(listener)[1] == []
    monkeypatch.chdir(tmp_path)
    told = await module.main(None)
    engine, instance = told["engine"], told["instance"]
    try:
        assert instance.workflow_version == "1.0"
        for _ in range(2):
            await engine.message_bus.publish("github.pull_request.opened", {"pr_number": 7}, message_id="hook-1")
        perdure = await engine.open()
        assert len(await perdure.instances.list(process="pr_review")) == 2  # one by hand, one by the message
    finally:
        await engine.close()


@pytest.mark.req("O14")
@pytest.mark.parametrize(
    ("email", "way"), [("ana", "activate_subscription"), ("cleo", "send_special_offer"), ("bo", "record_churn")]
)
async def test_11_1_a_trial_of_seven_days(load: Callable[..., ModuleType], email: str, way: str) -> None:
    module = load("11.1", "onboarding = Workflow(")
    async with running(module.onboarding) as run:
        instance = await run.start(module.onboarding, email=email, industry="pharma", day_number=1)
        await run.sandbox.advance("P6D")
        assert await instance.state() == "active"
        await run.sandbox.advance("P1D")
        assert (await instance.state(), module.DONE) == ("completed", [way])


@pytest.mark.req("O14")
async def test_11_2_a_campaign_is_made_approved_and_launched(load: Callable[..., ModuleType]) -> None:
    module = load("11.2", "campaign = Workflow(")
    async with running(module.campaign) as run:
        instance = await run.start(module.campaign, campaign_name="Spring", topic="tulips")
        (task,) = await instance.tasks()
        assert "**Campaign**: Spring\n**Blog**: https://example.org/blog (900 words)" in task.body
        await run.answer(instance, "marketing-manager", approved=True)
        assert (await instance.state(), module.DONE) == ("completed", [["https://example.org/blog#1"]])

"""YAML workflows: the form of the first design, strict, and converted to and from Python and BPMN."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.bpmn.xml import read_model
from perdure.errors import DefinitionError
from perdure.orchestration import (
    CallActivity,
    EventBasedGateway,
    ExclusiveGateway,
    InclusiveGateway,
    MessageEvent,
    ParallelGateway,
    RetryPolicy,
    ScriptTask,
    ServiceTask,
    SignalEvent,
    Timer,
    UserTask,
    Workflow,
    WorkflowEngine,
)
from perdure.testing import Sandbox
from perdure.workflows.bpmn_reader import workflow_of
from perdure.workflows.conversion import convert, read_any
from perdure.workflows.names import kept
from perdure.workflows.yaml_reader import read_workflow
from tests.workflows.samples import Reviewer, is_high, is_low, review, take_back

PR_REVIEW = """
workflow:
  id: pr_review
  version: "1.0"
  name: Pull Request Review Workflow

  variables:
    pr_number: {type: integer, required: true}
    files_changed: {type: list, required: true}
    vision_approved: {type: boolean}
    violations: {type: list}

  tasks:
    - id: wowvision_validate
      type: service_task
      agent: WowVisionPrime
      input: [pr_number, files_changed]
      output: [vision_approved, violations]
      compensation: rollback_vision_state

    - id: check_approval
      type: exclusive_gateway
      conditions:
        deploy:
          expression: vision_approved == true
        create_issue:
          expression: vision_approved == false

    - id: deploy_changes
      type: service_task
      agent: WowDeploy
      precondition: check_approval.deploy

    - id: create_github_issue
      type: service_task
      agent: WowVision
      method: create_issue
      precondition: check_approval.create_issue

  flow:
    - start → wowvision_validate
    - wowvision_validate → check_approval
    - check_approval[deploy] → deploy_changes
    - check_approval[create_issue] → create_github_issue
    - deploy_changes → end
    - create_github_issue → end
"""
AGENTS = """
from perdure.orchestration import WorkflowAgent

class WowVisionPrime(WorkflowAgent):
    async def execute(self, inputs):
        return {"vision_approved": inputs["pr_number"] < 100, "violations": []}

class WowVision(WorkflowAgent):
    async def create_issue(self, inputs):
        return {}

class WowDeploy(WorkflowAgent):
    async def execute(self, inputs):
        return {}

def rollback_vision_state(context):
    pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "agents.py").write_text(AGENTS)
    (tmp_path / "flows" / "pr_review.yaml").write_text(PR_REVIEW)
    return tmp_path / "flows"


@pytest.mark.req("O2")
@pytest.mark.parametrize(("number", "taken"), [(42, "deploy_changes"), (142, "create_github_issue")])
async def test_the_form_of_the_first_design_loads_and_runs(folder: Path, number: int, taken: str) -> None:
    engine = WorkflowEngine(folders=[folder], open=Sandbox.open)
    engine.load_workflow(folder / "pr_review.yaml")
    async with engine:
        sandbox = await engine.open()
        assert isinstance(sandbox, Sandbox)
        instance = await engine.start_workflow("pr_review", variables={"pr_number": number, "files_changed": ["a.py"]})
        await sandbox.run_until_idle()
        assert await instance.state() == "completed"
        assert [each.task for each in await instance.executions()] == ["wowvision_validate", taken]


WRONG: list[tuple[Callable[[str], str], str, str]] = [
    (lambda text: text.replace("agent: WowDeploy", "agnet: WowDeploy"), ":31:7:", "Did you mean 'agent'?"),
    (lambda text: text.replace("type: integer", "type: int"), ":8:23:", "'int' is not one of"),
    (lambda text: text.replace("agent: WowDeploy", "agent: WowDeply"), ":31:14:", "Did you mean 'WowDeploy'?"),
    (lambda text: text.replace("start → wowvision_validate", "start = wowvision_validate"), ":41:7:", "Write 'a → b'"),
    (lambda text: text.replace("→ deploy_changes\n", "→ deploy_chnges\n"), ":43:7:", "no task 'deploy_chnges'"),
    (lambda text: text.replace("check_approval.deploy\n", "approval.deploy\n"), ":32:21:", "no route of a gateway"),
    (lambda text: text.replace('version: "1.0"', "version: 1.0"), ":4:12:", "Put it in quotes."),
    (lambda text: text.replace("vision_approved == true", "len(violations) > 0"), "", "is no condition"),
    (lambda text: text.replace("exclusive_gateway", "xor"), ":22:13:", "'xor' is not one of"),
]


@pytest.mark.req("O2")
@pytest.mark.parametrize(("change", "place", "hint"), WRONG)
def test_a_mistake_is_told_with_its_line_and_what_to_write(
    folder: Path, change: Callable[[str], str], place: str, hint: str
) -> None:
    file = folder / "pr_review.yaml"
    file.write_text(change(PR_REVIEW))
    assert file.read_text() != PR_REVIEW
    with pytest.raises(DefinitionError) as raised:
        WorkflowEngine(folders=[folder]).load_workflow(file)[0].compile()
    told = str(raised.value)
    assert f"{file}{place}" in told
    assert hint in told


@pytest.mark.req("O2")
def test_arrows_may_be_written_in_ascii_and_chained(folder: Path) -> None:
    plain = read_workflow(PR_REVIEW, "a.yaml", kept)
    lines = PR_REVIEW.replace("→", "->").replace(
        "    - start -> wowvision_validate\n    - wowvision_validate -> check_approval\n",
        "    - start -> wowvision_validate -> check_approval\n",
    )
    assert read_workflow(lines, "b.yaml", kept).content_hash() == plain.content_hash()
    without = "".join(line for line in PR_REVIEW.splitlines(True) if "check_approval[" not in line)
    assert read_workflow(without, "c.yaml", kept).content_hash() == plain.content_hash()  # preconditions say it


def rich() -> Workflow:
    """Everything that each form can say."""
    workflow = Workflow(
        "rich",
        "2.0-strict",
        "Everything",
        "All that can be said",
        {"key": "string", "n": {"type": "integer", "default": 3}},
    )
    retry = RetryPolicy(4, "linear", timedelta(seconds=2), timedelta(minutes=3), 0.5)
    race = EventBasedGateway(
        "race", {"paid": MessageEvent("paid", "payment", "key", ["amount"]), "late": Timer("late", duration="P1D"),
                 "stop": SignalEvent("stop", "halt")}
    )  # fmt: skip
    some = InclusiveGateway("some", {"a": "n > 1", "b": is_high}, "c")
    work = ServiceTask(
        "work", agent=Reviewer, method="report", input_variables=["n"], output_variables=["issue_number"],
        timeout=timedelta(minutes=1), retry_policy=retry, compensation=take_back, errors=["no.way"], name="Do the work",
    )  # fmt: skip
    person = UserTask(
        "ask", title="May we?", body_template="{n}\nof {key}", groups=["risk", "legal"], labels=["urgent"],
        sla_hours=1.5, on_timeout=is_low, decision_variable="verdict", form={"grade": "integer"}, four_eyes=True,
    )  # fmt: skip
    flow = workflow.start().then(some).route("a", work).route("b", ScriptTask("count", is_low, "counted")).route("c")
    flow = (
        flow.then(InclusiveGateway("meet", mode="join"))
        .then(ParallelGateway("fork"))
        .parallel([person, Timer("pause", cycle="R3/PT1H")])
    )
    choice = ExclusiveGateway("choice", {"yes": "verdict.grade > 2", "no": is_low}, "no")
    flow.then(race).route("paid", choice).route("late").route("stop").end()
    workflow.add_edge("choice", "end", route="yes")
    workflow.add_edge("choice", "fork", route="no")
    workflow.add_boundary_event("ask", Timer("remind", duration="PT30M"), interrupt=False, then="end")
    return workflow


@pytest.mark.req("O2")
@pytest.mark.parametrize("make", [review, rich])
def test_python_yaml_and_bpmn_say_one_process_with_one_hash(make: Callable[[], Workflow], tmp_path: Path) -> None:
    workflow = make()
    for form, suffix in (("yaml", ".yaml"), ("bpmn", ".bpmn"), ("python", ".py")):
        made = convert(workflow, form)  # type: ignore[arg-type]
        assert made.losses == []
        file = tmp_path / f"{form}_form{suffix}"
        file.write_text(made.text)
        assert read_any(file).content_hash() == workflow.content_hash(), form


@pytest.mark.req("O2")
def test_what_a_form_cannot_say_is_named() -> None:
    workflow = Workflow("w")
    workflow.start().then(ExclusiveGateway("g", {"yes": lambda ctx: True}, "no")).route("yes").route("no").end()
    for form in ("yaml", "python"):
        (loss,) = convert(workflow, form).losses  # type: ignore[arg-type]
        assert "g: " in loss
        assert "the condition 'yes', which has no name" in loss


OUTPUTS: list[list[str]] = [[], ["ok"], ["n", "ok"]]
CONDITIONS: list[Any] = ["ok == true", "n > 3 and not(ok == true)", is_high]
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


@st.composite
def workflows(draw: st.DrawFn) -> Workflow:
    """Chains of tasks, choices and forks, each with what it may have."""
    workflow = Workflow(
        "drawn", draw(st.sampled_from(["1.0", "2.1-beta"])), variables={"n": "integer", "ok": "boolean"}
    )
    flow, count = workflow.start(), iter(range(100))

    def task() -> Any:
        id = f"{draw(st.sampled_from(NAMES))}_{next(count)}"
        match draw(st.integers(0, 5)):
            case 5:
                return CallActivity(id, "another", draw(st.sampled_from(OUTPUTS)))
            case 0:
                return Timer(id, duration=draw(st.sampled_from(["P1D", "PT2H30M", "PT1.5S"])))
            case 1:
                return UserTask(
                    id, title=draw(st.text("abc é&<\"'", min_size=1, max_size=12)).strip() or "t",
                    body_template=draw(st.sampled_from(["", "{n}", "a\nb: {ok}"])),
                    sla_hours=draw(st.sampled_from([1, 36.5])),
                    on_timeout=draw(st.sampled_from([None, is_low])),
                )  # fmt: skip
            case 2:
                return ScriptTask(id, is_high, draw(st.sampled_from(["", "ok"])))
            case _:
                return ServiceTask(
                    id, agent=Reviewer, method="validate", output_variables=draw(st.sampled_from(OUTPUTS)),
                    timeout=draw(st.sampled_from([None, timedelta(seconds=90)])),
                    compensation=draw(st.sampled_from([None, take_back])),
                    retry_policy=draw(st.sampled_from([None, RetryPolicy(2)])),
                )  # fmt: skip

    for _ in range(draw(st.integers(1, 4))):
        match draw(st.integers(0, 2)):
            case 0:
                flow = flow.then(task())
            case 1:
                gate = ExclusiveGateway(
                    f"g_{next(count)}", {"yes": draw(st.sampled_from(CONDITIONS))}, "no"
                )  # fmt: skip
                flow = flow.then(gate).route("yes", task()).route("no", *([task()] if draw(st.booleans()) else []))
            case _:
                flow = flow.then(ParallelGateway(f"f_{next(count)}")).parallel([[task(), task()], task()])
    return flow.end()


@pytest.mark.req("O2")
@settings(max_examples=40)
@given(workflows())
def test_any_workflow_comes_back_from_yaml_and_bpmn_as_it_was(workflow: Workflow) -> None:
    text = convert(workflow, "yaml").text
    assert read_workflow(text, "drawn.yaml", kept).content_hash() == workflow.content_hash()
    read = workflow_of(read_model(workflow.to_bpmn(), "drawn.bpmn"))
    assert read.content_hash() == workflow.content_hash()
    assert sorted(convert(read, "yaml").text.splitlines()) == sorted(text.splitlines())


@pytest.mark.req("O2")
def test_a_file_is_converted_from_the_command_line(folder: Path) -> None:
    perdure = [sys.executable, "-m", "perdure", "workflows"]
    made = subprocess.run(
        [*perdure, "convert", "flows/pr_review.yaml", "--to", "bpmn", "-o", "pr.bpmn"],
        cwd=folder.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "says pr_review 1.0" in made.stdout
    back = subprocess.run(
        [*perdure, "convert", "pr.bpmn", "--to", "yaml"], cwd=folder.parent, capture_output=True, text=True, check=False
    )
    assert (
        read_workflow(back.stdout, "x.yaml", kept).content_hash() == read_any(folder / "pr_review.yaml").content_hash()
    )

"""Workflows that several tests share: a review of a change with agents, a person and something to undo."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from perdure.workflows import (
    ExclusiveGateway,
    ParallelGateway,
    ServiceTask,
    UserTask,
    Workflow,
    WorkflowAgent,
    WorkflowContext,
)


class Reviewer(WorkflowAgent):
    """Says of a change what its number says."""

    async def validate(self, inputs: dict[str, Any]) -> dict[str, Any]:
        risk = "high" if inputs["number"] >= 100 else "low"
        self.last_execution_cost = "0.25"
        return {"approved": inputs["number"] > 0, "risk": risk, "unasked": True}

    async def report(self, inputs: dict[str, Any]) -> dict[str, Any]:
        self.set_workflow_variable("reported_by", self.agent_id)
        return {"issue_number": inputs["number"] + 1000}


class Deployer:
    """Any class will do; it is told which instance it works for when it asks."""

    def __init__(self, instance_id: str) -> None:
        self.instance_id = instance_id

    def execute(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"url": f"https://example.org/{inputs['number']}"}


def take_back(context: WorkflowContext) -> None:
    context.set_variable("taken_back", True)


def is_high(context: WorkflowContext) -> bool:
    return bool(context["approved"]) and context["risk"] == "high"


def is_low(context: WorkflowContext) -> bool:
    return bool(context["approved"]) and context["risk"] == "low"


def is_refused(context: WorkflowContext) -> bool:
    return not context["approved"]


VARIABLES = {"number": {"type": "integer", "required": True}, "approved": "boolean", "risk": "string"}


def validate_task() -> ServiceTask:
    return ServiceTask(
        id="validate", agent=Reviewer, method="validate", input_variables=["number"],
        output_variables=["approved", "risk"], timeout=timedelta(minutes=2),
    )  # fmt: skip


def review(version: str = "1.0", id: str = "review") -> Workflow:
    """By nodes and edges, with functions as conditions."""
    workflow = Workflow(id=id, version=version, name="Review a change", variables=VARIABLES)
    gate = ExclusiveGateway("check", {"people": is_high, "deploy": is_low, "report": is_refused})
    fork = ParallelGateway("together")
    again = ServiceTask("again", agent=Reviewer, method="validate", input_variables=["number"])
    person = UserTask(
        "decide", title="Decide about a risky change", body_template="Change {number} is of risk {risk}.",
        assignee="ada", sla_hours=4,
    )  # fmt: skip
    deploy = ServiceTask(
        "deploy", agent=Deployer, input_variables=["number"], output_variables=["url"], compensation=take_back
    )  # fmt: skip
    report = ServiceTask("report", agent=Reviewer, method="report", input_variables=["number"],
                         output_variables=["issue_number"])  # fmt: skip
    workflow.add_start_event("opened")
    for node in (validate_task(), gate, deploy, report):
        workflow.add_node(node)
    workflow.add_edge("opened", "validate")
    workflow.add_edge("validate", "check")
    workflow.add_conditional_edge("check", condition="people", true_target=fork)
    workflow.add_parallel_tasks(fork, [again, person])
    workflow.add_edge(fork, "deploy")
    workflow.add_conditional_edge("check", condition="deploy", true_target="deploy")
    workflow.add_conditional_edge("check", condition="report", true_target="report")
    workflow.add_edge("deploy", "end")
    workflow.add_edge("report", "end")
    return workflow

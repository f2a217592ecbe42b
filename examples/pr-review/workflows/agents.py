"""Agents of the review. They stand for models: what they say depends on the number and the files alone."""

from __future__ import annotations

from typing import Any

from perdure.orchestration import WorkflowAgent, WorkflowContext


class VisionAgent(WorkflowAgent):
    """Compares a pull request with what the product is meant to be."""

    async def validate_pr(self, inputs: dict[str, Any]) -> dict[str, Any]:
        self.last_execution_cost = "0.03"
        violations = [f"{file}: names a secret" for file in inputs["files_changed"] if "secret" in file]
        is_risky = any(file.endswith((".yaml", ".tf")) for file in inputs["files_changed"])
        return {
            "vision_approved": not violations, "violations": violations, "risk_level": "high" if is_risky else "low",
        }  # fmt: skip

    async def create_issue(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"issue_number": 10_000 + inputs["pr_number"]}


class DomainAgent(WorkflowAgent):
    async def validate_domain_knowledge(self, inputs: dict[str, Any]) -> dict[str, Any]:
        self.last_execution_cost = "0.05"
        return {"domain_approved": True, "domain_concerns": []}


class DeployAgent(WorkflowAgent):
    async def deploy_pr(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"deployment_url": f"https://pr-{inputs['pr_number']}.example.org", "deployment_status": "done"}


async def roll_back(context: WorkflowContext) -> None:
    context.set_variable("deployment_status", "rolled back")


def is_high_risk(context: WorkflowContext) -> bool:
    return bool(context["vision_approved"]) and context["risk_level"] == "high"


def is_low_risk(context: WorkflowContext) -> bool:
    return bool(context["vision_approved"]) and context["risk_level"] == "low"


def is_refused(context: WorkflowContext) -> bool:
    return not context["vision_approved"]


def nobody_answered(context: WorkflowContext) -> dict[str, Any]:
    return {"approved": False, "comment": "no architect answered in time"}

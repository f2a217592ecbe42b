"""A pull request is looked at by agents; a risky one by an architect as well; then it is deployed, or an issue made."""

from __future__ import annotations

from datetime import timedelta

from workflows.agents import (
    DeployAgent,
    DomainAgent,
    VisionAgent,
    is_high_risk,
    is_low_risk,
    is_refused,
    nobody_answered,
    roll_back,
)

from perdure.orchestration import (
    ExclusiveGateway,
    ParallelGateway,
    RetryPolicy,
    ServiceTask,
    UserTask,
    Workflow,
)

pr_review = Workflow(
    id="pr_review",
    version="1.0",
    name="Review and deploy a pull request",
    variables={
        "pr_number": {"type": "integer", "required": True},
        "author": {"type": "string", "required": True},
        "files_changed": {"type": "list", "required": True},
    },
)
vision = ServiceTask(
    id="validate", agent=VisionAgent, method="validate_pr", input_variables=["pr_number", "files_changed"],
    output_variables=["vision_approved", "violations", "risk_level"], timeout=timedelta(minutes=2),
    retry_policy=RetryPolicy(max_attempts=3, base_delay=timedelta(seconds=10)),
)  # fmt: skip
gate = ExclusiveGateway(
    id="check", name="Approved?", conditions={"review": is_high_risk, "deploy": is_low_risk, "report": is_refused}
)  # fmt: skip
both = ParallelGateway(id="both")
domain = ServiceTask(
    id="validate_domain", agent=DomainAgent, method="validate_domain_knowledge",
    input_variables=["pr_number", "files_changed"], output_variables=["domain_approved", "domain_concerns"],
)  # fmt: skip
architect = UserTask(
    id="architect_review",
    title="A risky pull request needs an architect",
    body_template="""
**PR**: #{pr_number} by {author}, risk {risk_level}

**Files**: {files_changed}
**Violations**: {violations}
""",
    assignee="engineering-lead",
    sla_hours=2,
    on_timeout=nobody_answered,
)
verdict = ExclusiveGateway(
    id="verdict", name="What did the architect say?",
    conditions={"deploy": "architect_review_decision.approved == true"}, default_path="report",
)  # fmt: skip
deploy = ServiceTask(
    id="deploy", agent=DeployAgent, method="deploy_pr", input_variables=["pr_number"],
    output_variables=["deployment_url", "deployment_status"], compensation=roll_back,
)  # fmt: skip
report = ServiceTask(
    id="report", agent=VisionAgent, method="create_issue", input_variables=["pr_number", "violations"],
    output_variables=["issue_number"],
)  # fmt: skip

pr_review.start("pr_opened").then(vision).then(gate).route("deploy", deploy).route("report", report).end()
pr_review.add_conditional_edge(gate, condition="review", true_target=both)
pr_review.add_parallel_tasks(both, [domain, architect])
pr_review.add_edge(both, verdict)
pr_review.add_edge(verdict, "deploy", route="deploy")
pr_review.add_edge(verdict, "report", route="report")

"""A purchase: an agent assesses it, a person approves what is risky, and what cannot be shipped is cancelled."""

from __future__ import annotations

from typing import Any

from perdure.orchestration import ExclusiveGateway, ServiceTask, UserTask, Workflow, WorkflowAgent, WorkflowContext


class Assessor(WorkflowAgent):
    """Stands for a model: put your call here, and say what it cost."""

    async def assess(self, inputs: dict[str, Any]) -> dict[str, Any]:
        self.last_execution_cost = "0.01"
        return {"risk": "high" if inputs["amount"] > 1000 else "low"}


async def order(inputs: dict[str, Any]) -> dict[str, Any]:
    return {"order": f"O-{inputs['amount']}"}


async def cancel_order(context: WorkflowContext) -> None:
    context.set_variable("order", None)


async def ship(inputs: dict[str, Any]) -> dict[str, Any]:
    if inputs["amount"] == 666:
        raise RuntimeError("no carrier takes it")
    return {"shipped": True}


def nobody_answered(context: WorkflowContext) -> dict[str, Any]:
    return {"approved": False, "comment": "nobody answered within a day"}


purchase = Workflow("purchase", version="1.0", variables={"amount": {"type": "integer", "required": True}})
look = ServiceTask("assess", Assessor, "assess", input_variables=["amount"], output_variables=["risk"])
is_risky = ExclusiveGateway("is_risky", {"ask": "risk == 'high'"}, default_path="buy")
person = UserTask(
    "approve", "Buy this?", "{amount}, risk {risk}", assignee="ada", sla_hours=24, on_timeout=nobody_answered
)
is_approved = ExclusiveGateway("is_approved", {"buy": "approve_decision.approved == true"}, default_path="no")
buy = ServiceTask(
    "order", function=order, input_variables=["amount"], output_variables=["order"], compensation=cancel_order
)
send = ServiceTask("ship", function=ship, input_variables=["amount"], output_variables=["shipped"])

purchase.start().then(look).then(is_risky).route("buy", buy, send).route("ask", person, is_approved).end()
purchase.add_edge("is_approved", "order", route="buy")
purchase.add_edge("is_approved", "end", route="no")

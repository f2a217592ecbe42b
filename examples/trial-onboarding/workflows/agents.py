"""Agents of a trial. They stand for models and services."""

from __future__ import annotations

from typing import Any

from perdure.orchestration import WorkflowAgent

BUYERS = {"ana@example.org"}
ENGAGED = {"ana@example.org": 9, "cleo@example.org": 8}


class ConnectAgent(WorkflowAgent):
    async def capture_lead(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"customer_id": f"C-{inputs['email']}"}


class OnboardAgent(WorkflowAgent):
    async def deliver_daily_value(self, inputs: dict[str, Any]) -> dict[str, Any]:
        self.last_execution_cost = "0.01"
        return {"engagement_score": ENGAGED.get(inputs["email"], 3)}


class RevenueAgent(WorkflowAgent):
    async def check_trial_conversion(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"converted": inputs["email"] in BUYERS}

    async def activate(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"outcome": "subscribed"}

    async def send_special_offer(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"outcome": "offered"}

    async def record_churn(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"outcome": "lost"}

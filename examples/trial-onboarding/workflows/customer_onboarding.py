"""A customer tries the product for seven days; what they did decides what follows."""

from __future__ import annotations

from datetime import timedelta

from workflows.agents import ConnectAgent, OnboardAgent, RevenueAgent

from perdure.orchestration import ExclusiveGateway, ServiceTask, TimerEvent, Workflow

onboarding = Workflow(
    id="customer_onboarding",
    version="1.0",
    name="A trial of seven days",
    variables={"email": {"type": "string", "required": True}, "industry": "string"},
)
capture = ServiceTask(
    id="capture_lead", agent=ConnectAgent, method="capture_lead", input_variables=["email", "industry"],
    output_variables=["customer_id"],
)  # fmt: skip
engage = ServiceTask(
    id="engage", agent=OnboardAgent, method="deliver_daily_value", input_variables=["customer_id", "email"],
    output_variables=["engagement_score"],
)  # fmt: skip
trial = TimerEvent(id="wait_7_days", timer_type="duration", timer_value=timedelta(days=7))
check = ServiceTask(
    id="check_conversion", agent=RevenueAgent, method="check_trial_conversion", input_variables=["email"],
    output_variables=["converted"],
)  # fmt: skip
gate = ExclusiveGateway(
    id="converted",
    name="Converted?",
    conditions={"activate": "converted == true", "nurture": "engagement_score > 7"},
    default_path="churn",
)


def step(id: str, method: str) -> ServiceTask:
    return ServiceTask(id=id, agent=RevenueAgent, method=method, output_variables=["outcome"])


onboarding.start().then(capture).then(engage).then(trial).then(check).then(gate).route(
    "activate", step("activate_subscription", "activate")
).route("nurture", step("send_offer", "send_special_offer")).route("churn", step("record_churn", "record_churn")).end()

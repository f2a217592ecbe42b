"""Agents of a campaign. They stand for models and services."""

from __future__ import annotations

from typing import Any

from perdure.orchestration import WorkflowAgent, WorkflowContext


class ContentAgent(WorkflowAgent):
    async def create_blog_post(self, inputs: dict[str, Any]) -> dict[str, Any]:
        self.last_execution_cost = "0.20"
        return {"blog_url": f"https://blog.example.org/{inputs['topic']}", "word_count": 900}


class SocialAgent(WorkflowAgent):
    async def create_social_posts(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"post_ids": [f"post about {inputs['blog_url']}"]}


class EmailAgent(WorkflowAgent):
    async def create_email_campaign(self, inputs: dict[str, Any]) -> dict[str, Any]:
        return {"campaign_id": "E-1"}


class MarketingAgent(WorkflowAgent):
    async def launch_campaign(self, inputs: dict[str, Any]) -> dict[str, Any]:
        if "forbidden" in inputs["blog_url"]:
            raise RuntimeError("the advertising network refused it")
        return {"launched": True}


async def take_down(context: WorkflowContext) -> None:
    context.set_variable("taken_down", [*context.get_variable("taken_down", []), "blog"])


async def delete_posts(context: WorkflowContext) -> None:
    context.set_variable("posts_deleted", context["post_ids"])


async def cancel_email(context: WorkflowContext) -> None:
    context.set_variable("email_cancelled", context["campaign_id"])

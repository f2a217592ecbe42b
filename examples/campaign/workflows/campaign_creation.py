"""A blog post, then posts and an e-mail at once; a manager approves; whatever fails takes all of it down again."""

from __future__ import annotations

from workflows.agents import (
    ContentAgent,
    EmailAgent,
    MarketingAgent,
    SocialAgent,
    cancel_email,
    delete_posts,
    take_down,
)

from perdure.orchestration import ExclusiveGateway, ParallelGateway, ServiceTask, UserTask, Workflow

campaign = Workflow(
    id="campaign_creation",
    version="1.0",
    name="Make and launch a campaign",
    variables={"campaign_name": {"type": "string", "required": True}, "topic": {"type": "string", "required": True}},
)
blog = ServiceTask(
    id="blog", agent=ContentAgent, method="create_blog_post", input_variables=["topic"],
    output_variables=["blog_url", "word_count"], compensation=take_down,
)  # fmt: skip
social = ServiceTask(
    id="social", agent=SocialAgent, method="create_social_posts", input_variables=["blog_url"],
    output_variables=["post_ids"], compensation=delete_posts,
)  # fmt: skip
email = ServiceTask(
    id="email", agent=EmailAgent, method="create_email_campaign", input_variables=["blog_url"],
    output_variables=["campaign_id"], compensation=cancel_email,
)  # fmt: skip
approval = UserTask(
    id="approval",
    title="Approve the launch of a campaign",
    body_template="""
**Campaign**: {campaign_name}
**Blog**: {blog_url} ({word_count} words)
**Posts**: {post_ids}
""",
    assignee="marketing-manager",
    sla_hours=24,
)
approved = ExclusiveGateway(
    id="approved", name="Approved?", conditions={"launch": "approval_decision.approved == true"}, default_path="stop"
)  # fmt: skip
launch = ServiceTask(
    id="launch", agent=MarketingAgent, method="launch_campaign",
    input_variables=["campaign_id", "post_ids", "blog_url"], output_variables=["launched"],
)  # fmt: skip

campaign.start().then(blog).then(ParallelGateway("content")).parallel([social, email]).then(
    ParallelGateway("content_done", mode="join")
).then(approval).then(approved).route("launch", launch).route("stop").end()

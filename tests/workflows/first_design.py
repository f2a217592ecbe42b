"""Listings of the first design: taken out of its text, corrected by a table, and put where they can be imported."""
# ruff: noqa: E501  lines of listings stay as they are

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

TEXT = "004_c4bcdaf3dbf3faf1.txt"
_FENCE = re.compile(r"^```(python|yaml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{2,3} (\d+(?:\.\d+)?)", re.MULTILINE)


class Listing(NamedTuple):
    section: str
    language: str
    text: str


class Correction(NamedTuple):
    """What is written instead in listings of a section; `row` is how the row of the documented table begins."""

    section: str
    old: str
    new: str
    row: str


ALL = "| all |"
STARTS = "| 3.3, 9.1 |"
AWAITED = "| 3.3, 4, 7 |"
TEMPLATE = "| 4.2, 10.2 | `{"
LENGTH = "| 4.3 |"
BY_HAND = "| 5.2, 5.3, 7.2 |"
EVENTS = "| 5.3 |"
UNDEFINED = "| 6.2, 10.2 |"
RANDOM = "| 8.3 | `random"
NO_BROKER = "| 10.3 |"
DECLARED = "| 11.2 | `campaign_name`"
ORDER = "| 11.2 | `blog_url`"

CORRECTIONS = (
    Correction("*", "from waooaw.orchestration import", "from perdure.orchestration import", ALL),
    Correction("*", "from waooaw.agents import", "from agents import", ALL),
    Correction("*", "from waooaw.messaging import", "from perdure.orchestration import", ALL),
    Correction("3.3", "instance = workflow.start(variables=", "instance = await engine.start_workflow(workflow.id, variables=", STARTS),
    Correction("3.3", "instance.set_variable(", "await instance.set_variable(", AWAITED),
    Correction("3.3", "instance.get_variable", "await instance.get_variable", AWAITED),
    Correction("4.3", 'ctx.get_variable("files_changed") > 10', 'len(ctx.get_variable("files_changed")) > 10', LENGTH),
    Correction("5.2", "# All execute in parallel\nresults = await parallel_review.execute(instance, tasks)\n", "", BY_HAND),
    Correction("5.2", 'mode="join")\n', 'mode="join")\nworkflow.start().then(parallel_review).parallel(tasks).then(join).end()\n', BY_HAND),
    Correction("5.3", 'wait_for_github_label("approved")', 'MessageEvent("approved", correlation="issue")', EVENTS),
    Correction("5.3", 'wait_for_github_label("rejected")', 'MessageEvent("rejected", correlation="issue")', EVENTS),
    Correction("5.3", "asyncio.sleep(3600)", 'TimerEvent("timeout", "duration", timedelta(hours=1))', EVENTS),
    Correction("5.3", "outcome = await wait_for_event.execute(instance)\n", "", BY_HAND),
    Correction("7.2", "await transaction.execute_task(", "transaction.execute_task(", BY_HAND),
    Correction("7.2", "    instance=instance,\n", "", BY_HAND),
    Correction("8.3", 'if random.random() < 0.1:\n    workflow = registry.get("pr_review", "1.1")\nelse:\n    workflow = registry.get("pr_review", "1.0")',
               'registry.rollout("pr_review", {"1.1": 10, "1.0": 90})', RANDOM),
    Correction("10.1", "from .workflow import", "from perdure.orchestration import", ALL),
    Correction("10.1", "from .tasks import", "from perdure.orchestration import", ALL),
    Correction("10.1", "from .gateways import", "from perdure.orchestration import", ALL),
    Correction("10.1", "from .events import", "from perdure.orchestration import", ALL),
    Correction("10.1", "from .compensation import", "from perdure.orchestration import", ALL),
    Correction("10.1", "from .registry import", "from perdure.orchestration import", ALL),
    Correction("10.2", "pr_review.add_node(approval_gate)\n", "pr_review.add_node(approval_gate)\npr_review.add_node(deploy_task)\npr_review.add_node(issue_task)\n", UNDEFINED),
    Correction("10.3", 'MessageBus(redis_url="redis://localhost:6379")', "MessageBus()", NO_BROKER),
    Correction("11.2", 'Workflow(id="campaign_creation", version="1.0")', 'Workflow(id="campaign_creation", version="1.0", variables=["campaign_name"])', DECLARED),
    Correction("11.2", ".then(content_gate)", ".then(blog_task).then(content_gate)", ORDER),
    Correction("11.2", "[blog_task, social_task, email_task]", "[social_task, email_task]", ORDER),
)  # fmt: skip
_EXPRESSION = re.compile(r"\{\"[^{}\n]*\" if (\w+) else \"[^{}\n]*\"\}")

AGENTS = '''
"""Agents of the listings: they answer what they are asked for, and remember what they did."""
from perdure.orchestration import WorkflowAgent

DONE = []


class WowVisionPrime(WorkflowAgent):
    async def validate_pr(self, inputs):
        DONE.append("validate_pr")
        number = inputs["pr_number"] or 0
        return {"vision_approved": number < 100, "violations": ["naming"] * (number // 100), "risk_level": "high" if number > 40 else "low"}

    async def execute(self, inputs):
        DONE.append("execute")
        return {"vision_approved": True, "violations": []}

    async def create_github_issue(self, inputs):
        DONE.append("create_github_issue")
        return {"issue_number": 7}


class WowVision(WorkflowAgent):
    async def create_issue(self, inputs):
        DONE.append("create_issue")
        return {"issue_number": 7}


class WowDomainEnforcer(WorkflowAgent):
    async def validate_domain_knowledge(self, inputs):
        return {"domain_approved": True, "domain_concerns": []}

    async def execute(self, inputs):
        DONE.append("domain")


class WowBrandVoice(WorkflowAgent):
    async def execute(self, inputs):
        DONE.append("brand")


class WowDeploy(WorkflowAgent):
    async def deploy_pr(self, inputs):
        return {"deployment_url": f"https://example.org/{inputs['pr_number']}", "deployment_status": "done"}

    async def execute(self, inputs):
        DONE.append("deployed")


class WowRevenue(WorkflowAgent):
    async def create_campaign(self, inputs):
        DONE.append("create_campaign")

    async def check_trial_conversion(self, inputs):
        return {"converted": inputs["customer_id"] == "C-ana", "payment_status": "open"}


class WowConnect(WorkflowAgent):
    async def send_email(self, inputs):
        raise RuntimeError("the mail server is away")

    async def capture_lead(self, inputs):
        return {"customer_id": f"C-{inputs['email']}", "trial_start_date": "2026-01-01"}


class WowOnboard(WorkflowAgent):
    async def deliver_daily_value(self, inputs):
        return {"engagement_score": 3 if inputs["customer_id"] == "C-bo" else 9}


class WowContent(WorkflowAgent):
    async def create_blog_post(self, inputs):
        return {"blog_url": "https://example.org/blog", "word_count": 900}


class WowSocial(WorkflowAgent):
    async def create_social_posts(self, inputs):
        return {"post_ids": [inputs["blog_url"] + "#1"]}


class WowEmail(WorkflowAgent):
    async def create_email_campaign(self, inputs):
        return {"campaign_id": "E-1"}


class WowMarketing(WorkflowAgent):
    async def launch_campaign(self, inputs):
        DONE.append(inputs["post_ids"])


class Api:
    """Stands for GitHub, a database and a mail server."""

    def __getattr__(self, name):
        async def call(*given, **named):
            DONE.append((name, *given))
        return call
'''
PRELUDE = """
import asyncio
import random
from datetime import timedelta

from agents import *
from agents import DONE, Api
from perdure.orchestration import *

github_api = db = email_api = Api()
Campaign = "campaign"


def stub(id):
    return ServiceTask(id, function=lambda inputs: DONE.append(id))


async def undo(instance):
    DONE.append("undone")


async def escalate(instance):
    return {"approved": False, "comment": "nobody answered"}


rollback_vision_state = rollback_deployment = rollback_campaign_launch = undo
escalate_to_cto = escalate
"""
STUBS = """
deploy_task, issue_task, start_trial, check_conversion = map(stub, ("deploy_task", "issue_task", "start_trial", "check_conversion"))
escalate_task, generate_report, send_email = map(stub, ("escalate_task", "generate_report", "send_email"))
activate_subscription, send_special_offer, record_churn = map(stub, ("activate_subscription", "send_special_offer", "record_churn"))
workflow = Workflow("listing", variables=["agent_requesting", "change_description", "files_changed", "risk_level", "impact", "issue"])
"""


def listings(text: str) -> list[Listing]:
    """Every listing in its order, with the number of its section."""
    headings = [(match.start(), match[1]) for match in _HEADING.finditer(text)]
    found = []
    for match in _FENCE.finditer(text):
        section = [number for at, number in headings if at < match.start()][-1]
        found.append(Listing(section, match[1], match[2]))
    return found


def corrected(listing: Listing) -> tuple[str, list[Correction]]:
    """The text as it runs here, and which rows of the table it needed."""
    text, used = listing.text, []
    for each in CORRECTIONS:
        if each.section in ("*", listing.section) and each.old in text:
            text = text.replace(each.old, each.new)
            used.append(each)
    if _EXPRESSION.search(text):
        text = _EXPRESSION.sub(r"{\1}", text)
        used.append(Correction(listing.section, "{… if … else …}", "{name}", TEMPLATE))
    return text, used


def module(listing: Listing, *, stubs: bool) -> str:
    """A module that runs the listing when it is imported, or defines `main` where the listing awaits."""
    text, _ = corrected(listing)
    head = PRELUDE + (STUBS if stubs else "")
    if re.search(r"^(?!async def).*\bawait\b", _top(text), re.MULTILINE):
        body = "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())
        return f"{head}\n\nasync def main(engine, workflow=None, customer=None):\n{body}    return locals()\n"
    return f"{head}\n{text}"


def _top(text: str) -> str:
    """The text without the bodies of its functions."""
    return re.sub(r"^async def .*?(?=^\S|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)


def write(folder: Path, name: str, text: str) -> Path:
    (folder / "agents.py").write_text(AGENTS, encoding="utf-8")
    (folder / "workflows").mkdir(exist_ok=True)
    file = folder / "workflows" / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    return file

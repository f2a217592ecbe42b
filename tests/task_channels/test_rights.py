"""Rights of a task channel: what could not be shown is refused when a process is deployed, with what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure import load_config
from perdure.access.principal_names import PLATFORM
from perdure.app.documents.request_delivery import VERB as SEND
from perdure.app.documents.request_delivery import with_delivery_verb
from perdure.app.task_channels.card_dispatch import VERB, with_card_verb
from perdure.bpmn.xml import read_model
from perdure.errors import DefinitionError, RejectedError
from perdure.processes.verb_bindings import bind
from perdure.verbs import Catalogue
from tests.task_channels.reviews import Reviews, reviewing

pytestmark = [pytest.mark.req("O5")]
TASK = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x">
<process id="{id}" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/>
<userTask id="t" name="Look"/><sequenceFlow id="g" sourceRef="t" targetRef="e"/><endEvent id="e"/></process>
</definitions>"""

CALLING = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x"
xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
<process id="calls" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/>
<serviceTask id="t" name="Call"><extensionElements><zeebe:taskDefinition type="{verb}"/></extensionElements>
</serviceTask><sequenceFlow id="g" sourceRef="t" targetRef="e"/><endEvent id="e"/></process></definitions>"""


async def deployed(reviews: Reviews, status: int, id: str = "looks") -> Any:
    made = await reviews.perdure.access.create_key(f"ada {id}", principal="ada", kind="person", roles=["author"])
    headers = {"Authorization": f"Bearer {made.text}"}
    body = {"xml": TASK.format(id=id), "profile": "open"}
    answer = await reviews.client.post("/api/processes", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.parametrize("lacks", ["label", "issues", "repository", "login", "assignee", "token"])
async def test_a_process_whose_tasks_could_not_be_shown_is_not_deployed(lacks: str) -> None:
    async with reviewing("sqlite://", tasks=("looks",)) as reviews:
        github = reviews.github
        told = {
            "label": "may not label", "issues": "has no issues", "repository": "no repository",
            "login": "is account 999 now, and 101 is configured", "assignee": "'octo-boss' cannot be given issues",
            "token": "401 Bad credentials",
        }[lacks]  # fmt: skip
        if lacks == "label":
            github.permissions = dict.fromkeys(github.permissions, False)
        github.has_issues = lacks != "issues"
        if lacks == "login":
            github.accounts["octo-ana"] = 999
        if lacks == "assignee":
            github.strangers.add("octo-boss")
        github.is_gone = lacks == "repository"
        github.refuses = 401 if lacks == "token" else 0
        refused = await deployed(reviews, 423)
        assert told in refused["detail"] and "reviews" in refused["detail"]
        await deployed(reviews, 201, "others")


async def test_one_that_is_away_is_asked_when_a_task_opens() -> None:
    async with reviewing("sqlite://", tasks=("looks",)) as reviews:
        reviews.github.is_away = True
        await deployed(reviews, 201)


async def test_only_tasks_that_a_channel_wants_are_shown() -> None:
    async with reviewing("sqlite://", tasks=("pr_review/another",)) as reviews:
        data = {"author": "carl", "risk": "high"}
        id = (await reviews.perdure.acting(principal="carl").instances.start("pr_review", data, until="rest")).id
        args = {"channel": "reviews", "task": await reviews.key(id)}
        shown = await reviews.perdure.acting(principal=PLATFORM).call(VERB, args, wait=True)
        assert shown.state == "completed" and not reviews.github.issues


async def test_a_channel_shows_nothing_for_another_tenant() -> None:
    async with reviewing("sqlite://") as reviews:
        github, id = reviews.github, await reviews.begun()
        github.issues[1]["body"] = github.issues[1]["body"].replace("high", "none")
        acting = reviews.perdure.acting(tenant="elsewhere", principal=PLATFORM)
        shown = await acting.call(VERB, {"channel": "reviews", "task": await reviews.key(id)}, wait=True)
        assert shown.state == "failed" and "none" in github.issues[1]["body"]


@pytest.mark.parametrize("verb", [VERB, VERB.replace("-", "_"), SEND])
def test_no_model_calls_the_verbs_of_the_platform(verb: str) -> None:
    catalogue = with_card_verb(with_delivery_verb(Catalogue()), True)
    model = read_model(CALLING.format(verb=verb).encode(), "model")
    (process,) = model.definitions.executable()
    with pytest.raises(RejectedError, match="only the platform itself calls"):
        bind(model.definitions, process, "open", None, catalogue)


SETTINGS = """
task_channels:
  reviews:
    kind: github
    repository: acme/approvals
    token_env: GITHUB_TOKEN
    secret_env: [GITHUB_SECRET]
    {more}
"""


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("people: [{login: octo-ana, person: ana}]", "an account needs its number"),
        ("people: [{account: 1, login: a, person: a}, {account: 1, login: b, person: b}]", "account 1 is there twice"),
        ("decisions: {approved: true}", "says no fields of an answer"),
        ("title: Look", "it names no title"),
        ("api: ftp://api.example.com", "no http or https address"),
        ("token: abc", "token"),
    ],
)
def test_settings_that_mean_nothing_are_told_with_their_place(tmp_path: Path, more: str, told: str) -> None:
    (tmp_path / "perdure.yaml").write_text(SETTINGS.replace("{more}", more))
    with pytest.raises(DefinitionError) as refused:
        load_config(tmp_path / "perdure.yaml")
    assert told in str(refused.value) and "perdure.yaml:8" in str(refused.value)

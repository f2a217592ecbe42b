"""Rights of a task channel: what could not be shown is refused when a process is deployed, with what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure import load_config
from perdure.errors import DefinitionError
from tests.task_channels.reviews import Reviews, reviewing

pytestmark = [pytest.mark.req("O5")]
TASK = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x">
<process id="{id}" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/>
<userTask id="t" name="Look"/><sequenceFlow id="g" sourceRef="t" targetRef="e"/><endEvent id="e"/></process>
</definitions>"""


async def deployed(reviews: Reviews, status: int, id: str = "looks") -> Any:
    made = await reviews.perdure.access.create_key(f"ada {id}", principal="ada", kind="person", roles=["author"])
    headers = {"Authorization": f"Bearer {made.text}"}
    body = {"xml": TASK.format(id=id), "profile": "open"}
    answer = await reviews.client.post("/api/processes", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.parametrize("lacks", ["label", "issues", "repository", "login", "assignee"])
async def test_a_process_whose_tasks_could_not_be_shown_is_not_deployed(lacks: str) -> None:
    async with reviewing("sqlite://", tasks=("looks",)) as reviews:
        github = reviews.github
        told = {
            "label": "may not label", "issues": "has no issues", "repository": "no repository",
            "login": "is account 999 now, and 101 is configured", "assignee": "'octo-boss' cannot be given issues",
        }[lacks]  # fmt: skip
        if lacks == "label":
            github.permissions = dict.fromkeys(github.permissions, False)
        github.has_issues = lacks != "issues"
        if lacks == "login":
            github.accounts["octo-ana"] = 999
        if lacks == "assignee":
            github.strangers.add("octo-boss")
        github.is_gone = lacks == "repository"
        refused = await deployed(reviews, 423)
        assert told in refused["detail"] and "reviews" in refused["detail"]
        await deployed(reviews, 201, "others")


async def test_one_that_is_away_is_asked_when_a_task_opens() -> None:
    async with reviewing("sqlite://", tasks=("looks",)) as reviews:
        reviews.github.is_away = True
        await deployed(reviews, 201)


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

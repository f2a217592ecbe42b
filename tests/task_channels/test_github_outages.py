"""GitHub away or at its limits, and processes of ours that stop: one issue for a task, one answer, nothing lost."""

from __future__ import annotations

import asyncio
import sys

import pytest

from perdure.errors import Transient
from tests.house.tree import ROOT
from tests.task_channels.github_stand_in import Github
from tests.task_channels.reviews import opened, pr_review, reviewing

pytestmark = [pytest.mark.req("O5"), pytest.mark.both_stores]
EASY = {"groups": [], "four_eyes": False, "assignee": "ana"}


async def test_an_issue_is_put_once_though_its_answer_was_lost(store_url: str) -> None:
    async with Github().listening() as github, opened(store_url, github) as reviews:
        github.loses = "POST"
        id = await reviews.begun()
        await github.until(lambda: github.count("GET", "state=all") == 2)
        await github.until(lambda: github.count("GET", "/issues/1") >= 1)
        assert len(github.issues) == 1
        await reviews.told(github.label(1, "approved", "octo-ana"), status=202)
        assert (await reviews.ended(id))["architect_review_issue_number"] == 1


@pytest.mark.parametrize("status", [401, 403])
async def test_a_token_that_is_not_taken_is_waited_for(store_url: str, status: int) -> None:
    async with Github().listening() as github, opened(store_url, github) as reviews:
        github.refuses = status
        acting = reviews.perdure.acting(principal="carl")
        await acting.instances.start("pr_review", {"author": "carl", "risk": "high"}, until="rest")
        await github.until(lambda: any(each[2] == status and "state=all" in each[1] for each in github.asked))
        github.refuses = 0
        await github.until(lambda: len(github.issues) == 1)


async def test_a_process_killed_between_the_issue_and_its_number_leaves_one_issue(store_url: str) -> None:
    async with Github().listening() as github:
        command = [sys.executable, "-m", "tests.task_channels.worker", store_url, str(github.port)]
        for held in ("POST", ""):
            github.holds = held
            worker = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=ROOT)
            try:
                assert worker.stdout is not None
                id = (await worker.stdout.readline()).decode().strip()
                await github.until(lambda: len(github.issues) == 1)
                if not held:
                    await github.until(lambda: github.count("GET", "state=all") == 2)
            finally:
                worker.kill()
                await worker.wait()
        async with opened(store_url, github) as reviews:
            await reviews.told(github.label(1, "approved", "octo-ana"), status=202)
            assert (await reviews.ended(id))["architect_review_issue_number"] == 1
        assert len(github.issues) == 1


async def test_what_happened_while_github_or_we_were_away_is_caught_up_with(store_url: str) -> None:
    async with Github().listening() as github:
        github.is_away = True
        async with opened(store_url, github) as reviews:
            acting = reviews.perdure.acting(principal="carl")
            id = (await acting.instances.start("pr_review", {"author": "carl", "risk": "high"}, until="rest")).id
        github.is_away = False
        async with opened(store_url, github) as reviews:
            await github.until(lambda: len(github.issues) == 1)
            await github.until(lambda: github.count("POST", "/issues") == 1)
        github.label(1, "approved", "octo-ana")
        async with opened(store_url, github) as reviews:
            assert await reviews.look() == ["answered"]
            assert (await reviews.ended(id))["deployed"] is True
            await github.until(lambda: github.issues[1]["state"] == "closed")
        assert len(github.issues) == 1


async def test_a_webhook_that_comes_while_github_is_away_is_caught_up_with_by_a_look(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun()
        assert await reviews.look() == []
        happened = github.label(1, "approved", "octo-ana")
        github.is_away = True
        assert (await reviews.told(happened, status=503))["code"] == "task_channel.away"
        assert await reviews.look() == []
        github.is_away = False
        assert await reviews.look() == ["answered"]
        await reviews.ended(id)


async def test_a_word_on_a_text_that_has_changed_since_is_no_answer(store_url: str) -> None:
    async with reviewing(store_url, pr_review(**EASY)) as reviews:
        github, id = reviews.github, await reviews.begun()
        await github.until(lambda: github.count("POST", "/issues") == 1)
        github.is_away = True
        await reviews.perdure.workflows.set_variable(id, "risk", "enormous", "the scan was late")
        github.is_away = False
        told = await reviews.told(github.label(1, "approved", "octo-ana"), "d-1", 200)
        if told["outcome"] == "changed":
            assert github.said(1)[-1].startswith("What this asks has changed")
        await github.until(lambda: "enormous" in github.issues[1]["body"])
        assert "approved" not in github.words(1)
        assert (await reviews.perdure.instances.get(id)).state == "active"
        await reviews.told(github.label(1, "approved", "octo-ana"), "d-2", 202)
        await reviews.ended(id)


async def test_a_task_that_nobody_answers_in_time_is_shown_to_the_managers(store_url: str) -> None:
    async with reviewing(store_url, pr_review(sla_hours=1 / 3600)) as reviews:
        github, id = reviews.github, await reviews.begun()
        await github.until(lambda: "escalated" in github.words(1))
        assert "octo-boss" in [each["login"] for each in github.issues[1]["assignees"]]
        await reviews.told(github.label(1, "approved", "octo-boss"), status=202)
        assert (await reviews.ended(id))["deployed"] is True


async def test_no_look_uses_up_the_requests_that_writing_needs(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, _ = reviews.github, await reviews.begun()
        github.label(1, "approved", "octo-mallory")
        assert await reviews.look() == ["refused"]
        github.left, looks = 500, github.count("GET", "state=open")
        assert await reviews.cards.channel.read(1) is not None, "what answers is read, whatever is left"
        for _ in range(3):
            assert await reviews.look() == []
        assert github.count("GET", "state=open") == looks, "a tenth is left, and is kept"
        github.left = 0
        with pytest.raises(Transient, match="rate limit") as limited:
            await reviews.cards.channel.read(1)
        assert limited.value.after == 3600

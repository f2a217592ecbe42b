"""Tasks as issues of GitHub: shown, answered by a label, closed when they end elsewhere, and kept to the rules."""

from __future__ import annotations

import pytest

from perdure.journal import Origin
from perdure.orchestration import ExclusiveGateway, UserTask, Workflow
from tests.task_channels.reviews import reviewing

pytestmark = [pytest.mark.req("O5"), pytest.mark.both_stores]


async def test_a_task_is_an_issue_that_a_label_answers(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github = reviews.github
        id = await reviews.begun()
        issue = github.issues[1]
        assert issue["title"] == f"[Workflow {id}] High-risk change"
        assert issue["body"].startswith("**Author**: carl\n**Risk**: high")
        assert github.words(1) == ["perdure-task", "human-task", "needs-review", "workflow-pr_review"]
        assert sorted(each["login"] for each in issue["assignees"]) == ["octo-ana", "octo-bob"]
        github.say(1, "Looks sound to me", "octo-ana")
        answer = await reviews.told(github.label(1, "approved", "octo-ana"), status=202)
        assert answer["outcome"] == "answered"
        data = await reviews.ended(id)
        assert data["architect_review_decision"] == {"approved": True, "comment": "Looks sound to me"}
        assert (data["architect_review_issue_number"], data["deployed"]) == (1, True)
        await github.until(lambda: github.issues[1]["state"] == "closed")
        assert github.said(1)[-1].startswith("Answered by ana.")


async def test_a_look_takes_in_what_no_webhook_told_and_costs_nothing_while_nothing_changes(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun()
        assert await reviews.look() == []
        for _ in range(3):
            assert await reviews.look() == []
        looks = [status for _, target, status in github.asked if "state=open" in target]
        assert looks == [200, 304, 304, 304], "GitHub counts no answer that nothing has changed"
        github.label(1, "rejected", "octo-bob")
        assert await reviews.look() == ["answered"]
        assert (await reviews.ended(id))["architect_review_decision"] == {"approved": False, "comment": ""}


async def test_who_asked_does_not_answer_and_an_account_counts_whatever_it_is_called(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun(by="ana")
        assert [each["login"] for each in github.issues[1]["assignees"]] == ["octo-bob"], "not who asked"
        refused = await reviews.told(github.label(1, "approved", "octo-ana"), "d-1", 200)
        assert refused["outcome"] == "refused" and "four eyes" in refused["reason"]
        assert "approved" not in github.words(1) and "four eyes" in github.said(1)[-1]
        stranger = await reviews.told(github.label(1, "approved", "octo-mallory"), "d-2", 200)
        assert stranger["outcome"] == "refused" and "account 666" in github.said(1)[-1]
        github.accounts |= {"octo-bob": 667, "bob-renamed": 102}
        taken_over = await reviews.told(github.label(1, "approved", "octo-bob"), "d-3", 200)
        assert taken_over["outcome"] == "refused" and "account 667" in github.said(1)[-1]
        assert "approved" not in github.words(1)
        await reviews.told(github.label(1, "approved", "bob-renamed"), "d-4", 202)
        assert (await reviews.ended(id))["deployed"] is True


async def test_the_first_answer_wins_whichever_way_it_comes(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun()
        bob = reviews.perdure.acting(principal="bob", groups=["seniors"])
        await bob.tasks.complete(await reviews.key(id), {"approved": False, "comment": "not now"})
        await github.until(lambda: github.issues[1]["state"] == "closed")
        assert github.said(1)[-1].startswith("Answered by bob.")
        late = await reviews.told(github.label(1, "approved", "octo-ana"), status=200)
        assert late["outcome"] == "over"
        assert (await reviews.ended(id))["architect_review_decision"] == {"approved": False, "comment": "not now"}


async def test_duplicates_and_words_taken_away_again_answer_once_or_not_at_all(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun()
        hasty = github.label(1, "rejected", "octo-ana")
        message = github.delivery(hasty, "d-1")
        github.unlabel(1, "rejected", "octo-ana")
        answer = await reviews.client.post("/api/task-channels/reviews", content=message[1], headers=message[0])
        assert answer.json()["outcome"] == "unknown", "it came late, and was taken away meanwhile"
        approved = github.label(1, "approved", "octo-ana")
        told = [await reviews.told(approved, each) for each in ("d-2", "d-2", "d-3")]
        assert [each["outcome"] for each in told] == ["answered", "over", "over"]
        await reviews.look()
        await reviews.ended(id)
        history = await reviews.perdure.runtime.instances.history(id, Origin("default"))
        names = [type(entry).__name__ for record in history for entry in record.entries]
        assert names.count("TaskCompleted") == 1


async def test_nothing_is_taken_from_who_has_no_secret_or_copies_a_mark(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun()
        headers, body = github.delivery(github.label(1, "approved", "octo-ana"))
        for signature in ("", "sha256=00", headers["x-hub-signature-256"][:-2] + "00"):
            given = {**headers, "x-hub-signature-256": signature}
            answer = await reviews.client.post("/api/task-channels/reviews", content=body, headers=given)
            assert answer.status_code == 401
        github.unlabel(1, "approved", "octo-ana")
        github.answer("POST", "/repos/acme/approvals/issues", {"title": "Free beer?", "body": github.issues[1]["body"]})
        copied = await reviews.told(github.label(2, "approved", "octo-ana"), "d-2", 200)
        assert copied["outcome"] == "unknown", "a copy of a card is none"
        github.issues[1]["body"] = github.issues[1]["body"].replace("high", "none")
        shown = github.issues[1]["body"].partition("shown=")[2][:64]
        github.issues[1]["body"] = github.issues[1]["body"].replace(shown, "0" * 64)
        forged = await reviews.told(github.label(1, "approved", "octo-ana"), "d-3", 200)
        assert forged["outcome"] == "unknown", "nobody makes a mark for another text"
        assert (await reviews.perdure.instances.get(id)).state == "active"


async def test_an_edited_comment_counts_until_the_answer_and_no_longer(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun()
        said = github.say(1, "fine", "octo-ana")
        github.say(1, "to be removed", "octo-ana")
        github.comments[1].pop()
        said["body"] = "fine, after the freeze"
        await reviews.told(github.label(1, "approved", "octo-ana"), status=202)
        said["body"] = "I never said that"
        headers, body = github.delivery({"issue": 1, "word": "approved", "login": "octo-ana"}, "d-9")
        headers["x-github-event"] = "issue_comment"
        edited = await reviews.client.post("/api/task-channels/reviews", content=body, headers=headers)
        assert edited.json()["outcome"] == "unknown"
        assert (await reviews.ended(id))["architect_review_decision"]["comment"] == "fine, after the freeze"


@pytest.mark.parametrize("edited", ["body", "title"])
async def test_a_label_on_a_text_that_somebody_edited_is_no_answer(store_url: str, edited: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun()
        issue, asked = github.issues[1], dict(github.issues[1])
        issue[edited] = issue[edited].replace("high", "none").replace("High-risk", "Harmless")
        told = await reviews.told(github.label(1, "approved", "octo-ana"), "d-1", 200)
        assert told["outcome"] == "changed" and github.said(1)[-1].startswith("What this asks has changed")
        assert "approved" not in github.words(1)
        assert (issue["title"], issue["body"]) == (asked["title"], asked["body"]), "it is shown anew"
        issue[edited] += " (never mind)"
        github.label(1, "approved", "octo-ana")
        assert await reviews.look() == ["changed"]
        assert "approved" not in github.words(1)
        assert (await reviews.perdure.instances.get(id)).state == "active"
        issue["body"] = asked["body"].replace("\n", "\r\n") + "\r\n"
        await reviews.told(github.label(1, "approved", "octo-ana"), "d-2", 202)
        assert (await reviews.ended(id))["deployed"] is True


async def test_an_old_message_is_no_answer_where_somebody_else_has_added_the_label(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun()
        headers, body = github.delivery(github.label(1, "approved", "octo-ana"))
        github.unlabel(1, "approved", "octo-ana")
        github.label(1, "approved", "octo-mallory")
        again = await reviews.client.post("/api/task-channels/reviews", content=body, headers=headers)
        assert again.json()["outcome"] == "unknown"
        assert await reviews.look() == ["refused"]
        assert "account 666" in github.said(1)[-1]
        assert (await reviews.perdure.instances.get(id)).state == "active"


async def test_of_two_labels_after_an_outage_the_first_one_counts(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun()
        github.label(1, "rejected", "octo-bob")
        github.label(1, "approved", "octo-ana")
        github.issues[1]["labels"].reverse()
        assert await reviews.look() == ["answered", "over"]
        assert (await reviews.ended(id))["deployed"] is False


async def test_what_others_say_is_not_the_comment_of_who_answers(store_url: str) -> None:
    async with reviewing(store_url) as reviews:
        github, id = reviews.github, await reviews.begun()
        github.say(1, "Sound", "octo-ana")
        github.say(1, "Ship it at once", "octo-mallory")
        await reviews.told(github.label(1, "approved", "octo-ana"), status=202)
        assert (await reviews.ended(id))["architect_review_decision"]["comment"] == "Sound"


async def test_words_titles_and_labels_are_as_the_channel_says(store_url: str) -> None:
    decisions = {"architect-approved": {"approved": True}, "architect-rejected": {"approved": False}}
    async with reviewing(store_url, decisions=decisions, title="{process}: {title}", label="board") as reviews:
        github, id = reviews.github, await reviews.begun()
        assert github.issues[1]["title"] == "pr_review: High-risk change"
        assert github.words(1)[0] == "board" and "`architect-approved`" in github.issues[1]["body"]
        assert (await reviews.told(github.label(1, "approved", "octo-ana"), status=200))["outcome"] == "unknown"
        await reviews.told(github.label(1, "architect-rejected", "octo-ana"), "d-2", 202)
        assert (await reviews.ended(id))["deployed"] is False


async def test_a_task_that_comes_again_is_another_issue(store_url: str) -> None:
    workflow = Workflow("pr_review", variables={"author": "string", "risk": "string"})
    review = UserTask("architect_review", title="Look at it", body_template="{risk}", groups=["seniors"])
    once_more = {"again": "architect_review_decision.approved == false"}
    agreed = ExclusiveGateway("agreed", once_more, "done")
    workflow.start().then(review).then(agreed).route("again", review).route("done").end()
    async with reviewing(store_url, workflow) as reviews:
        github, id = reviews.github, await reviews.begun()
        await reviews.told(github.label(1, "rejected", "octo-ana"), "d-1", 202)
        await github.until(lambda: len(github.issues) == 2)
        await reviews.look()
        await github.until(lambda: github.issues[1]["state"] == "closed")
        assert github.issues[2]["state"] == "open" and github.words(2)[0] == "perdure-task"
        stale = await reviews.told(github.label(1, "approved", "octo-bob"), "d-2", 200)
        assert stale["outcome"] == "over", "a label of the first round does not answer the second"
        await reviews.told(github.label(2, "approved", "octo-bob"), "d-3", 202)
        data = await reviews.ended(id)
        assert (data["architect_review_issue_number"], data["architect_review_decision"]["approved"]) == (2, True)

"""The inbox in the browser: finding a task, its form, its clocks, handing it on and answering it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.browser.claims_office import CLAIMS, answer, call, filed, task_of
from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("V20")]

PROJECT = CLAIMS


def opened(eyes: Eyes, server: Server, instance: str) -> Page:
    page = eyes.open(f"/inbox/{task_of(server, instance)}")
    page.get_by_role("heading", name="Your answer").wait_for()
    return page


def test_a_task_for_me_appears_in_the_inbox_by_itself_and_opens(eyes: Eyes, server: Server) -> None:
    page = eyes.open("/inbox")
    page.locator('[data-live="live"]').wait_for()
    instance = filed(server, "K-1")
    link = page.locator(f'a[href="/inbox/{task_of(server, instance).replace(":", "%3A")}"]')
    expect(link).to_have_text("Approve the claim")
    link.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Approve the claim")
    eyes.pictures("/inbox", "inbox", "table tbody tr")


@pytest.mark.deep
def test_an_empty_inbox_says_what_would_be_there(eyes: Eyes) -> None:
    page = eyes.open("/inbox?view=overdue")
    expect(page.get_by_text("There are no such tasks")).to_be_visible()


def test_the_form_is_made_from_the_schema_and_its_answer_ends_the_task(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-2")
    page = opened(eyes, server, instance)
    known = page.get_by_label("Known already")
    expect(known).to_have_text("ClaimK-2")
    expect(known.locator("input, textarea, select")).to_have_count(0)
    expect(page.get_by_label("Claim", exact=True)).to_have_count(0)
    page.get_by_role("radio", name="yes").check()
    page.get_by_label("Because").fill("it is small")
    page.get_by_label("Paid on").fill("2026-05-04")
    page.get_by_label("Wait", exact=True).fill("P3D")
    expect(page.get_by_text("3 days", exact=True)).to_be_visible()
    page.get_by_role("button", name="Add paper").click()
    page.get_by_label("Title").fill("invoice")
    page.get_by_label("Channel").select_option(label="By letter")
    page.get_by_label("Street").fill("Main Street 1")
    eyes.picture(page, "task-form")
    with page.expect_request("**/complete") as sent:
        page.get_by_role("button", name="Complete").click()
    body = sent.value.post_data_json
    assert body["seen"]
    assert body["data"] == {
        "decision": "yes", "because": "it is small", "paid_on": "2026-05-04", "wait": "P3D",
        "papers": [{"title": "invoice"}], "channel": {"street": "Main Street 1"},
    }  # fmt: skip
    expect(page).to_have_url(f"{server.url}/inbox")
    ended = eyes.open(f"/instances/{instance}")
    expect(ended.locator(".page-head .badge").first).to_contain_text("completed")


@pytest.mark.deep
def test_what_is_missing_is_said_beside_its_field_and_takes_the_focus(eyes: Eyes, server: Server) -> None:
    page = opened(eyes, server, filed(server, "K-3"))
    page.get_by_role("button", name="Complete").click()
    expect(page.get_by_text("2 fields need another look.")).to_be_visible()
    expect(page.get_by_role("group", name="Decision").get_by_text("This is required.")).to_be_visible()
    expect(page.get_by_label("Paid on")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("radio", name="yes")).to_be_focused()
    eyes.picture(page, "task-faults")


@pytest.mark.deep
def test_what_the_server_refuses_is_said_beside_its_field(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-4")
    page = opened(eyes, server, instance)
    page.get_by_role("radio", name="no").check()
    page.get_by_label("Paid on").fill("2026-05-04")
    page.get_by_label("Reference").fill("seventeen")
    page.get_by_role("button", name="Complete").click()
    field = page.locator(".field", has=page.get_by_label("Reference")).last
    expect(field.locator(".fault")).to_contain_text("^C-[0-9]+$")
    expect(page.get_by_label("Reference")).to_be_focused()
    page.get_by_label("Reference").fill("C-17")
    page.get_by_role("button", name="Complete").click()
    expect(page).to_have_url(f"{server.url}/inbox")


@pytest.mark.deep
def test_a_task_is_answered_by_the_keyboard_alone(eyes: Eyes, server: Server) -> None:
    page = opened(eyes, server, filed(server, "K-5"))
    page.get_by_role("radio", name="yes").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="no")).to_be_checked()
    page.get_by_label("Paid on").focus()
    page.keyboard.type("04052026")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{server.url}/inbox")


@pytest.mark.deep
def test_a_task_is_claimed_given_back_and_delegated(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-6")
    page = opened(eyes, server, instance)
    page.get_by_role("button", name="Claim").click()
    expect(page.get_by_text("You have it")).to_be_visible()
    page.get_by_role("button", name="Give back").click()
    expect(page.get_by_text("for administrators")).to_be_visible()
    page.get_by_role("button", name="Delegate").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("To whom").fill("dieter")
    eyes.picture(page, "task-delegate")
    dialog.get_by_role("button", name="Delegate").click()
    expect(page.get_by_text("for dieter")).to_be_visible()
    expect(page.get_by_text("Handed on by local.")).to_be_visible()


def test_what_somebody_else_has_claimed_cannot_be_answered(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-7")
    page = opened(eyes, server, instance)
    page.locator('[data-live="live"]').wait_for()
    server.run("tasks", "claim", task_of(server, instance), "--as", "rita", "--group", "administrators")
    expect(page.get_by_text("rita has claimed it and answers it.")).to_be_visible()
    expect(page.get_by_role("button", name="Complete")).to_have_count(0)
    expect(page.get_by_label("Because")).to_be_disabled()


@pytest.mark.deep
def test_a_task_that_somebody_answered_meanwhile_is_over(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-8")
    page = opened(eyes, server, instance)
    page.locator('[data-live="live"]').wait_for()
    answer(server, instance)
    expect(page.get_by_role("heading", name="This task is over")).to_be_visible()
    eyes.picture(page, "task-over")


def test_the_first_answer_wins_and_the_second_is_told_so(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-9")
    page = eyes.open("/inbox")
    page.route("**/api/events*", lambda route: route.abort())
    page.goto(f"/inbox/{task_of(server, instance)}")
    page.get_by_role("radio", name="yes").check()
    page.get_by_label("Paid on").fill("2026-05-04")
    answer(server, instance, "no")
    page.get_by_role("button", name="Complete").click()
    expect(page.get_by_role("heading", name="This task is over")).to_be_visible()
    expect(page.get_by_text("The first answer counts.")).to_be_visible()
    assert server.get(f"/instances/{instance}")["flags"]["orch_decision"] == "no"


@pytest.mark.deep
def test_due_and_ladder_clocks_say_when_what_happens(eyes: Eyes, server: Server) -> None:
    made = call(server, "loan.approve", loan="L-1")
    page = opened(eyes, server, made["id"])
    due = page.get_by_role("complementary", name="What it is about, and until when")
    expect(due).to_contain_text("due in 2 days 23 hours")
    expect(due).to_contain_text("L-1")
    rungs = due.get_by_role("listitem")
    expect(rungs).to_have_count(3)
    expect(rungs.nth(0)).to_contain_text("Remind whoever has it")
    expect(rungs.nth(1)).to_contain_text("Give it to seniors")
    expect(rungs.nth(2)).to_contain_text("Escalate to boss")
    expect(rungs.nth(0)).to_have_attribute("aria-current", "step")
    eyes.pictures(f"/inbox/{task_of(server, made['id'])}", "task", ".ladder")


@pytest.mark.deep
def test_a_yes_or_no_is_never_answered_by_silence(eyes: Eyes, server: Server) -> None:
    made = call(server, "loan.approve", loan="L-2")
    page = opened(eyes, server, made["id"])
    page.get_by_role("button", name="Complete").click()
    expect(page.get_by_text("This is required.")).to_be_visible()
    page.get_by_role("radio", name="No").check()
    page.get_by_role("button", name="Complete").click()
    expect(page).to_have_url(f"{server.url}/inbox")
    assert server.get(f"/calls/{made['id']}")["result"] == {"agreed": False}


def test_what_an_agent_proposes_is_accepted_by_a_person(eyes: Eyes, server: Server) -> None:
    made = call(server, "claim.judge", claim="K-10")
    page = opened(eyes, server, made["id"])
    proposal = page.get_by_role("region", name="agent:judge proposes")
    expect(proposal).to_contain_text("fair")
    expect(proposal).to_contain_text("0.6 sure")
    eyes.picture(page, "task-proposal")
    proposal.get_by_role("button", name="Accept").click()
    page.get_by_role("dialog").get_by_role("button", name="Accept").click()
    expect(page).to_have_url(f"{server.url}/inbox")
    assert server.get(f"/calls/{made['id']}")["result"] == {"verdict": "fair"}


@pytest.mark.deep
def test_axe_finds_nothing_serious_in_the_inbox(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-11")
    eyes.check_accessible("/inbox", "table tbody tr")
    page = eyes.open(f"/inbox/{task_of(server, instance)}", bypass_csp=True)
    page.get_by_role("button", name="Add paper").click()
    page.get_by_role("button", name="Complete").click()
    page.get_by_text("fields need another look.").wait_for()
    eyes.check_page(page)
    eyes.check_accessible(f"/inbox/{task_of(server, instance)}", ".form-fields")

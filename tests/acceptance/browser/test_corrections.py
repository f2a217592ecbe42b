"""Correcting the data of a call on its page: one person proposes, another one agrees; and erasing them for good."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import DESK, Server

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("P3")]
PROJECT = DESK
SETTINGS = "server: {authentication: [keys]}\n"


@pytest.fixture(scope="module")
def ana(server: Server) -> str:
    key = server.make_key("ana", "admin")
    server.sign_in(key)
    return key


@pytest.fixture(scope="module")
def ben(server: Server) -> str:
    return server.make_key("ben", "reviewer")


def noted(server: Server, text: str) -> str:
    id: str = server.post("/verbs/desk.note/calls", {"args": {"text": text}})["id"]
    return id


def propose(page: Page, text: str) -> None:
    page.get_by_role("button", name="Correct data").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Text").fill(text)
    dialog.get_by_label("Reason").fill("a slip of the pen")
    dialog.get_by_role("button", name="Propose").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_correction_is_proposed_by_one_and_approved_by_another(
    eyes: Eyes, server: Server, ana: str, ben: str
) -> None:  # fmt: skip
    id = noted(server, "helo there")
    page = eyes.open(f"/runbooks/{id}", key=ana)
    propose(page, "hello there")
    told = page.get_by_role("region", name="Corrections")
    expect(told).to_contain_text("waits for a second person")
    expect(told).to_contain_text("Somebody else has to approve it.")
    expect(told.get_by_role("button")).to_have_count(0)
    assert server.get(f"/calls/{id}")["args"]["text"] == "helo there"
    second = eyes.open(f"/runbooks/{id}", key=ben)
    told = second.get_by_role("region", name="Corrections")
    expect(told.locator(".changes")).to_contain_text("helo there")
    expect(told.locator(".changes ins")).to_have_text("hello there")
    expect(second.get_by_role("button", name="Correct data")).to_have_count(0)
    told.get_by_role("button", name="Approve correction 1").click()
    eyes.picture(second, "correction-approve")
    second.get_by_role("dialog").get_by_role("button", name="Approve").click()
    expect(told).to_contain_text("approved by ben")
    expect(page.get_by_role("region", name="Corrections")).to_contain_text("approved by ben")
    assert server.get(f"/calls/{id}")["args"]["text"] == "hello there"


@pytest.mark.deep
def test_a_result_is_corrected_in_the_form_of_the_verb(eyes: Eyes, server: Server, ana: str) -> None:
    id = noted(server, "kept")
    page = eyes.open(f"/runbooks/{id}", key=ana)
    page.get_by_role("button", name="Correct data").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Propose")).to_be_disabled()
    dialog.get_by_label("The result").check()
    dialog.get_by_role("textbox", name="Note id").fill("")
    dialog.get_by_label("Reason").fill("it has another number")
    dialog.get_by_role("button", name="Propose").click()
    expect(dialog.get_by_text("This is required.")).to_be_visible()
    dialog.get_by_role("textbox", name="Note id").fill("n-77")
    eyes.picture(page, "correction-propose")
    dialog.get_by_role("button", name="Propose").click()
    expect(page.get_by_role("region", name="Corrections").locator(".changes ins").first).to_have_text("n-77")
    shown = server.get(f"/calls/{id}/amendments")["items"][0]
    assert (shown["amendment"]["target"], shown["data"]["note_id"]) == ("result", "n-77")


def test_the_data_of_an_ended_call_are_erased_with_a_reason(eyes: Eyes, server: Server, ana: str, ben: str) -> None:
    id = noted(server, "forget me")
    expect(eyes.open(f"/runbooks/{id}", key=ben).get_by_role("button", name="Erase data")).to_have_count(0)
    page = eyes.open(f"/runbooks/{id}", key=ana)
    page.get_by_role("button", name="Erase data").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("they asked for it")
    expect(dialog.get_by_role("button", name="Erase")).to_be_disabled()
    dialog.get_by_label("Type erase to confirm").fill("erase")
    eyes.picture(page, "erase")
    dialog.get_by_role("button", name="Erase").click()
    expect(page.get_by_text("its data was erased", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Correct data")).to_have_count(0)
    assert server.get(f"/calls/{id}")["args"] is None


@pytest.mark.deep
def test_pictures_and_axe_of_corrections(eyes: Eyes, server: Server, ana: str, ben: str) -> None:
    id = noted(server, "look at me")
    server.post(f"/calls/{id}/amend", {"data": {"text": "look again", "tone": "stern"}, "reason": "too kind"})
    eyes.pictures(f"/runbooks/{id}", "corrections", ".corrections .changes", key=ben)
    eyes.check_accessible(f"/runbooks/{id}", ".corrections .changes", key=ben)
    page = eyes.open(f"/runbooks/{id}", key=ana, bypass_csp=True)
    page.get_by_role("button", name="Correct data").click()
    page.get_by_role("dialog").get_by_role("textbox", name="Text").wait_for()
    eyes.check_page(page)
    small = eyes.open(f"/runbooks/{id}", key=ana, scheme="dark", is_narrow=True)
    small.get_by_role("button", name="Correct data").click()
    small.get_by_role("dialog").get_by_role("textbox", name="Text").wait_for()
    assert eyes.has_no_sideways_scroll(small)
    eyes.picture(small, "correction-propose-narrow")

"""Composing: verbs by search, forms by their schema, the plan while one writes, drafts, and running it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import DESK, Server

pytestmark = [pytest.mark.req("P4")]
PROJECT = DESK


def add(page: Page, verb: str) -> None:
    search = page.get_by_label("Search verbs")
    search.fill(verb)
    page.locator(".verbs button", has_text=verb).first.wait_for()
    count = page.locator(".step-card").count()
    search.press("Enter")
    expect(page.locator(".step-card")).to_have_count(count + 1)


def field(within: Page | Locator, label: str) -> Locator:
    """A field for text, by its label."""
    return within.get_by_role("textbox", name=label)


def test_a_runbook_is_composed_from_forms_and_run(eyes: Eyes, server: Server) -> None:
    page = eyes.open("/compose")
    add(page, "desk.note")
    expect(page.get_by_role("radio", name="kind")).to_be_checked()
    field(page, "Text").fill("hello there")
    expect(page.get_by_role("region", name="What it would do")).to_contain_text("Note hello there")
    add(page, "desk.send")
    letter = page.locator(".step-card").nth(1)
    letter.get_by_role("button", name="Use a result").first.click()
    letter.get_by_role("combobox", name="Note id").fill("note.note_id")
    field(letter, "To").fill("ana@example.com")
    field(letter, "City").fill("Aarhus")
    letter.get_by_role("button", name="Add line").click()
    field(letter, "Line 1").fill("Havnegade 1")
    told = page.get_by_role("region", name="What it would do")
    expect(told).to_contain_text("requires confirmation")
    expect(told).to_contain_text("to ana@example.com")
    eyes.picture(page, "compose")
    page.get_by_role("button", name="Confirm and run").click()
    page.get_by_role("dialog").get_by_role("button", name="Run").click()
    expect(page.locator(".page-head .badge").first).to_contain_text("completed")
    id = page.url.rpartition("/")[2]
    steps = server.get(f"/runbooks/{id}")["steps"]
    assert steps[1]["args"] == {
        "note_id": "n-1", "to": "ana@example.com", "copies": 1, "address": {"city": "Aarhus", "lines": ["Havnegade 1"]}
    }  # fmt: skip


@pytest.mark.deep
def test_what_is_missing_is_said_beside_its_field(eyes: Eyes) -> None:
    page = eyes.open("/compose")
    add(page, "desk.send")
    field(page, "To").fill("nobody")
    page.get_by_label("Search verbs").focus()
    card = page.locator(".step-card")
    expect(card.locator(".fault", has_text="ana@example.com")).to_be_visible()
    expect(field(card, "Note id")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("region", name="What it would do")).to_contain_text("still to be filled in")


def test_what_is_grave_asks_for_its_phrase(eyes: Eyes, server: Server) -> None:
    page = eyes.open("/compose")
    add(page, "desk.wipe")
    field(page, "File").fill("A-1")
    page.get_by_role("button", name="Confirm and run").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Run")).to_be_disabled()
    dialog.get_by_label("Type authorise 1 step to authorise").fill("authorise 1 step")
    eyes.picture(page, "compose-authorise")
    dialog.get_by_role("button", name="Run").click()
    expect(page.locator(".page-head .badge").first).to_contain_text("completed")


def test_a_draft_is_kept_edited_again_and_started(eyes: Eyes, server: Server) -> None:
    page = eyes.open("/compose")
    add(page, "desk.note")
    field(page, "Text").fill("first words")
    page.get_by_label("Case").fill("DRAFT-1")
    page.get_by_role("button", name="Save draft").click()
    expect(page.locator(".page-head .badge").first).to_contain_text("draft")
    id = page.url.rpartition("/")[2]
    page.get_by_role("link", name="Edit").click()
    expect(field(page, "Text")).to_have_value("first words")
    field(page, "Text").fill("better words")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Note better words")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Run").click()
    expect(page.locator(".page-head .badge").first).to_contain_text("completed")
    assert server.get(f"/runbooks/{id}")["steps"][0]["args"]["text"] == "better words"


def test_two_who_edit_one_draft_do_not_overwrite_each_other(eyes: Eyes, server: Server) -> None:
    draft = server.post("/drafts", {"calls": [{"verb": "desk.note", "args": {"text": "mine"}, "name": "note"}]})
    page = eyes.open(f"/compose?draft={draft['id']}")
    expect(field(page, "Text")).to_have_value("mine")
    other = {"calls": [{"verb": "desk.note", "args": {"text": "theirs"}, "name": "note"}]}
    server.put(f"/drafts/{draft['id']}", other)
    field(page, "Text").fill("mine again")
    page.get_by_role("button", name="Save draft").click()
    expect(page.get_by_role("alert")).to_contain_text("changed")
    assert "theirs" in server.get(f"/drafts/{draft['id']}")["program"]


@pytest.mark.deep
def test_forms_become_text_and_text_is_planned(eyes: Eyes) -> None:
    page = eyes.open("/compose")
    add(page, "desk.note")
    field(page, "Text").fill('say "hi"')
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.get_by_label("Program")).to_have_value(
        'LET note = EXEC desk.note(\n    text: "say \\"hi\\"",\n    tone: "kind"\n)\n'
    )
    page.get_by_label("Program").fill('EXEC desk.nosuch(text: "x")')
    expect(page.get_by_role("alert")).to_contain_text("nosuch")
    page.get_by_label("Program").fill('EXEC desk.wait(who: "ana")')
    expect(page.get_by_role("region", name="What it would do")).to_contain_text("Wait for ana")


@pytest.mark.deep
def test_steps_are_added_to_a_runbook_that_runs(eyes: Eyes, server: Server) -> None:
    id = server.run_program('LET answer = EXEC desk.wait(who: "ana")')["id"]
    page = eyes.open(f"/runbooks/{id}")
    page.get_by_role("link", name="Extend").click()
    add(page, "desk.note")
    card = page.locator(".step-card")
    card.get_by_role("button", name="Use a result").first.click()
    card.get_by_role("combobox", name="Text").fill("answer.answer")
    told = page.get_by_role("region", name="What would be added")
    expect(told).to_contain_text("Note")
    expect(told).not_to_contain_text("Wait for ana")
    assert len(server.get(f"/runbooks/{id}")["steps"]) == 1
    page.get_by_role("button", name="Add these steps").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 step")
    eyes.picture(page, "compose-extend")
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page).to_have_url(f"{server.url}/runbooks/{id}")
    expect(page.locator('.sections li[data-step="note"]')).to_be_visible()


def test_what_is_grave_is_seen_and_agreed_to_before_it_is_added(eyes: Eyes, server: Server) -> None:
    id = server.run_program('EXEC desk.wait(who: "ana")')["id"]
    page = eyes.open(f"/compose?extend={id}")
    add(page, "desk.wipe")
    field(page, "File").fill("A-1")
    expect(page.get_by_role("region", name="What would be added")).to_contain_text("requires authorisation")
    page.get_by_role("button", name="Confirm and add").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Destroy the file A-1")
    expect(dialog.get_by_role("button", name="Add")).to_be_disabled()
    dialog.get_by_label("Type authorise 2 steps to authorise").fill("authorise 2 steps")
    dialog.get_by_role("button", name="Add").click()
    expect(page.locator('.sections li[data-step="wipe"]')).to_be_visible()


def test_changes_are_undone_and_done_again_by_button_and_by_keyboard(eyes: Eyes) -> None:
    page = eyes.open("/compose")
    undo, redo = page.get_by_role("button", name="Undo"), page.get_by_role("button", name="Redo")
    expect(undo).to_be_disabled()
    add(page, "desk.note")
    field(page, "Text").fill("hello there")
    page.get_by_role("radio", name="stern").check()
    page.get_by_role("button", name="Remove step 1").click()
    expect(page.locator(".step-card")).to_have_count(0)
    undo.click()
    expect(page.get_by_role("radio", name="stern")).to_be_checked()
    page.keyboard.press("Control+z")
    expect(page.get_by_role("radio", name="kind")).to_be_checked()
    field(page, "Text").press("Control+z")
    expect(field(page, "Text")).to_have_value("")
    expect(page.get_by_role("status").filter(has_text="Undone")).to_have_count(1)
    page.keyboard.press("Control+Shift+z")
    expect(field(page, "Text")).to_have_value("hello there")
    redo.click()
    expect(page.get_by_role("radio", name="stern")).to_be_checked()
    page.keyboard.press("Control+y")
    expect(page.locator(".step-card")).to_have_count(0)
    expect(redo).to_be_disabled()


def said(text: str) -> dict[str, object]:
    return {"calls": [{"verb": "desk.note", "args": {"text": text}, "name": "note"}]}


def draft_of(server: Server, *texts: str) -> str:
    """A draft that was kept once for each text."""
    draft = str(server.post("/drafts", said(texts[0]))["id"])
    for text in texts[1:]:
        server.put(f"/drafts/{draft}", said(text))
    return draft


def test_what_was_kept_of_a_draft_is_undone_and_done_again(eyes: Eyes, server: Server) -> None:
    page = eyes.open(f"/runbooks/{draft_of(server, 'first words', 'second words')}")
    title = page.get_by_role("heading", level=1)
    expect(title).to_contain_text("Note second words")
    expect(page.get_by_text("Revision 2 of 2")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(title).to_contain_text("Note first words")
    expect(page.get_by_text("Revision 1 of 2")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    eyes.picture(page, "draft-undone")
    page.keyboard.press("Control+Shift+z")
    expect(title).to_contain_text("Note second words")


def test_what_is_pressed_while_the_last_undo_is_under_way_comes_after_it(eyes: Eyes, server: Server) -> None:
    page = eyes.open(f"/runbooks/{draft_of(server, 'first words', 'second words', 'third words')}")
    title = page.get_by_role("heading", level=1)
    expect(title).to_contain_text("Note third words")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/undo", hold, times=1)
    with page.expect_request("**/undo"):
        page.get_by_role("button", name="Undo").click()
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+Shift+z")
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    assert len(held) == 1
    held[0].continue_()
    expect(page.get_by_text("Revision 2 of 3")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Done again")).to_have_count(1)
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    expect(title).to_contain_text("Note second words")


@pytest.mark.deep
def test_pictures_and_axe(eyes: Eyes) -> None:
    eyes.pictures("/compose?verb=desk.send", "compose-step", ".step-card input")
    eyes.check_accessible("/compose?verb=desk.send", ".step-card input")

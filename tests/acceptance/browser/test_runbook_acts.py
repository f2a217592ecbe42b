"""What is done with a runbook and its steps on its page: agreed to, sealed, taken back; and plans of five hundred."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import DESK, Server

pytestmark = [pytest.mark.req("P4")]
PROJECT = DESK


def test_a_gate_is_agreed_to_by_somebody_else(eyes: Eyes, server: Server) -> None:
    id = server.run_as("ben", 'EXEC desk.note(text: "gated") GATE "administrators"')
    page = eyes.open(f"/runbooks/{id}")
    expect(page.get_by_role("region", name="Waiting")).to_contain_text("waits for agreement")
    page.locator(".sections .sentence").first.click()
    page.get_by_role("button", name="Agree", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Agree").click()
    expect(page.locator(".page-head .badge").first).to_contain_text("completed")


@pytest.mark.deep
def test_a_gate_is_refused_with_a_reason(eyes: Eyes, server: Server) -> None:
    id = server.run_as("ben", 'EXEC desk.note(text: "gated") GATE "administrators"')
    page = eyes.open(f"/runbooks/{id}?step=note")
    page.get_by_role("button", name="Refuse", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("not today")
    dialog.get_by_role("button", name="Refuse").click()
    expect(page.locator(".page-head .badge").first).to_contain_text("failed")
    assert any("not today" in str(each["data"]) for each in server.get(f"/runbooks/{id}/events", limit=200)["items"])


@pytest.mark.deep
def test_an_open_runbook_is_sealed(eyes: Eyes, server: Server) -> None:
    id = server.post("/runbooks", {"program": 'EXEC desk.note(text: "open")', "sealed": False})["id"]
    page = eyes.open(f"/runbooks/{id}")
    page.get_by_role("button", name="Seal", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Seal").click()
    expect(page.locator(".page-head .badge").first).to_contain_text("completed")


def test_what_was_done_is_taken_back(eyes: Eyes, server: Server) -> None:
    program = 'EXEC desk.send(note_id: "n", to: "a@example.com", address: {city: "A"})'
    id = server.run_program(program)["id"]
    page = eyes.open(f"/runbooks/{id}")
    page.get_by_role("button", name="Compensate", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("sent in error")
    dialog.get_by_role("button", name="Compensate").click()
    expect(page.get_by_role("button", name="Recall the letter to a@example.com")).to_be_visible()


@pytest.mark.deep
def test_a_whole_case_is_cancelled_after_what_would_stop_was_shown(eyes: Eyes, server: Server) -> None:
    program = 'EXEC desk.wait(who: "{}")'
    ids = [server.run_program(program.replace("{}", who), case="CASE-9")["id"] for who in ("ana", "bo")]
    page = eyes.open(f"/runbooks/{ids[0]}")
    page.get_by_role("button", name="Cancel case").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Wait for ana")
    expect(dialog).to_contain_text("Wait for bo")
    dialog.get_by_label("Reason").fill("the client left")
    eyes.picture(page, "case-cancel")
    dialog.get_by_role("button", name="Cancel all of it").click()
    expect(page.locator(".page-head .badge").first).to_contain_text("cancelled")
    assert {server.get(f"/runbooks/{id}")["state"] for id in ids} == {"cancelled"}
    page.get_by_role("button", name="Cancel case").click()
    expect(dialog).to_contain_text("Nothing of this case is left to stop.")
    dialog.get_by_label("Reason").fill("again")
    expect(dialog.get_by_role("button", name="Cancel all of it")).to_be_disabled()


@pytest.mark.deep
def test_a_waiting_step_is_cancelled(eyes: Eyes, server: Server) -> None:
    id = server.run_program('EXEC desk.wait(who: "ana") ON FAILURE continue\nEXEC desk.wait(who: "bo")')["id"]
    page = eyes.open(f"/runbooks/{id}?step=wait")
    page.get_by_role("button", name="Cancel step").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("ana left")
    dialog.get_by_role("button", name="Cancel step").click()
    expect(page.locator('.sections li[data-step="wait"]')).to_have_attribute("data-state", "cancelled")


@pytest.mark.req("X20")
@pytest.mark.deep
def test_a_single_call_has_a_page_as_well(eyes: Eyes, server: Server) -> None:
    id = server.post("/verbs/desk.wait/calls", {"args": {"who": "cal"}})["id"]
    page = eyes.open(f"/runbooks/{id}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Wait for cal")
    expect(page.get_by_role("region", name="Waiting")).to_contain_text("8 d 23 h left")
    page.get_by_role("tab", name="Audit trail").click()
    expect(page.locator(".trail li").first).to_be_visible()


@pytest.mark.req("X20")
def test_a_step_that_changes_changes_on_the_page_without_reloading(eyes: Eyes, server: Server) -> None:
    id = server.run_program('LET a = EXEC desk.wait(who: "dee")\nEXEC desk.note(text: a.answer)')["id"]
    page = eyes.open(f"/runbooks/{id}")
    node = page.locator('.plan-graph g.node[data-step="a"]')
    expect(node).to_contain_text("parked")
    page.evaluate("window.isTheSamePage = true")
    key = server.get(f"/runbooks/{id}")["steps"][0]["waiting_for"]["key"]
    server.post("/completions", {"key": key, "result": {"answer": "gladly"}})
    expect(node).to_contain_text("completed")
    expect(page.locator('.sections li[data-step="note"][data-state="completed"]')).to_be_visible()
    assert page.evaluate("window.isTheSamePage") is True


@pytest.mark.req("X20")
@pytest.mark.deep
def test_a_plan_of_five_hundred_steps_is_drawn_and_moved(eyes: Eyes, server: Server) -> None:
    calls = [
        {
            "verb": "desk.note",
            "name": f"s{n}",
            "args": {"text": f"step {n}"},
            "after": [f"s{(n - 1) // 3}"] if n else [],
        }
        for n in range(500)
    ]
    id = server.post("/runbooks", {"calls": calls})["id"]
    page = eyes.open(f"/runbooks/{id}")
    expect(page.locator(".plan-graph g.node")).to_have_count(500)
    expect(page.locator(".page-head .badge").first).to_contain_text("completed")
    page.get_by_role("button", name="Fit").click()
    moved = page.locator(".plan-graph svg > g")
    before = moved.get_attribute("transform")
    page.locator(".plan-graph .room").focus()
    page.keyboard.press("ArrowUp")
    assert moved.get_attribute("transform") != before
    eyes.picture(page, "runbook-500")


def test_texts_of_users_are_never_read_as_markup(eyes: Eyes, server: Server) -> None:
    nasty = '<img src=x onerror="window.wasTricked=1"><script>window.wasTricked=1</script>'
    calls = [{"verb": "desk.wait", "args": {"who": nasty}}]
    id = server.post("/runbooks", {"calls": calls, "case": nasty})["id"]
    for path in (f"/runbooks/{id}?step=wait", f"/runbooks/{id}?tab=audit", f"/runbooks/{id}?tab=timeline", "/runbooks"):
        page = eyes.open(path)
        expect(page.get_by_text(nasty, exact=False).first).to_be_visible()
        assert page.evaluate("window.wasTricked === undefined")

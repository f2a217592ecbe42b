"""A runbook's page: graph, sentences, time, waits, audit trail, and everything that can be done there."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server

pytestmark = [pytest.mark.req("P4")]

CASE_ID = "4b8f0d60-6f0e-4b5e-9a35-0c1b7a1f0001"


@pytest.fixture(scope="module")
def onboarding(server: Server) -> dict[str, Any]:
    return server.onboard("NORD-1", CASE_ID)


def state_of(page: Page, step: str, state: str) -> None:
    expect(page.locator(f'.sections li[data-step="{step}"][data-state="{state}"]')).to_be_visible()


@pytest.mark.req("X20")
def test_a_runbook_shows_its_plan_in_sentences_and_as_a_graph(eyes: Eyes, onboarding: dict[str, Any]) -> None:
    page = eyes.open(f"/runbooks/{onboarding['id']}")
    state_of(page, "docs", "parked")
    expect(page.locator(".page-head .badge").first).to_have_text("‖parked")
    expect(page.get_by_role("button", name="Ask ana@nordlys.example for")).to_have_count(2)
    node = page.locator('.plan-graph g.node[data-step="gleif_result"]')
    expect(node).to_contain_text("completed")
    expect(page.locator(".plan-graph .edge")).not_to_have_count(0)
    eyes.pictures(f"/runbooks/{onboarding['id']}", "runbook", ".plan-graph g.node")


@pytest.mark.req("X20")
@pytest.mark.deep
def test_a_wait_shows_how_long_it_has_and_what_it_escalates_to(eyes: Eyes, onboarding: dict[str, Any]) -> None:
    page = eyes.open(f"/runbooks/{onboarding['id']}")
    waiting = page.get_by_role("region", name="Waiting")
    expect(waiting).to_contain_text("13 d 23 h left")
    waiting.get_by_role("button").first.click()
    expect(page).to_have_url(f"{page.url.partition('?')[0]}?step=docs")
    expect(page.locator(".details")).to_contain_text("compliance_escalation_v1")


@pytest.mark.req("X20")
@pytest.mark.deep
def test_the_timeline_draws_waits_to_scale_and_can_bend_it(eyes: Eyes, onboarding: dict[str, Any]) -> None:
    page = eyes.open(f"/runbooks/{onboarding['id']}?tab=timeline")
    lanes = page.get_by_role("list", name="Steps in time")
    expect(lanes.get_by_role("button", name="docs")).to_be_visible()
    wait = lanes.locator(".lane", has_text="docs").locator(".span.waits")
    expect(wait).to_be_visible()
    track = lanes.locator(".lane", has_text="docs").locator(".track")
    page.get_by_role("button", name="Linear").click()
    assert width(wait) > 0.9 * width(track)
    page.get_by_role("button", name="Logarithmic").click()
    expect(page.get_by_role("button", name="Logarithmic")).to_have_attribute("aria-pressed", "true")
    eyes.pictures(f"/runbooks/{onboarding['id']}?tab=timeline", "runbook-timeline", ".outcomes li")


def width(found: Any) -> float:
    box = found.bounding_box()
    assert box is not None
    return float(box["width"])


@pytest.mark.req("X20")
def test_the_timeline_tells_the_outcome_events_and_goes_on_by_itself(eyes: Eyes, server: Server) -> None:
    started = server.run_program('EXEC kyc.open-case(entity: "Allianz GmbH", case_type: "periodic-review")')
    page = eyes.open(f"/runbooks/{started['id']}?tab=timeline")
    told = page.get_by_role("region", name="Outcome events").get_by_role("listitem")
    expect(told.last).to_contain_text("Awaiting the documents · waits for an answer from outside")
    waits = server.get(f"/runbooks/{started['id']}/outcome-events")["items"][-1]["refs"]
    server.post("/messages", {"name": waits["message"], "key": waits["key"]})
    expect(told.last).to_contain_text("waits for a person")
    events = server.get(f"/runbooks/{started['id']}/outcome-events")["items"]
    assert [each.get_attribute("title") for each in told.all()] == [each["text"] for each in events]


@pytest.mark.req("X20")
@pytest.mark.deep
def test_the_audit_trail_lists_every_entry_and_can_be_filtered(
    eyes: Eyes, server: Server, onboarding: dict[str, Any]
) -> None:
    page = eyes.open(f"/runbooks/{onboarding['id']}?tab=audit")
    recorded = server.get(f"/runbooks/{onboarding['id']}/events", limit=200)["items"]
    expect(page.locator(".trail li")).to_have_count(len(recorded))
    page.get_by_label("Filter the audit trail").fill("StepParked")
    expect(page.locator(".trail li")).to_have_count(sum(each["entry"] == "StepParked" for each in recorded))
    page.locator(".trail summary").first.click()
    expect(page.locator(".trail details[open] .tree")).to_be_visible()
    eyes.picture(page, "runbook-audit")


@pytest.mark.deep
def test_the_graph_is_moved_and_zoomed_by_keys(eyes: Eyes, onboarding: dict[str, Any]) -> None:
    page = eyes.open(f"/runbooks/{onboarding['id']}")
    page.locator(".plan-graph g.node").first.wait_for()
    moved = page.locator(".plan-graph svg > g")
    before = moved.get_attribute("transform")
    page.locator(".plan-graph .room").focus()
    page.keyboard.press("ArrowLeft")
    after = moved.get_attribute("transform")
    assert after != before
    page.keyboard.press("+")
    assert moved.get_attribute("transform") != after
    page.keyboard.press("]")
    expect(page.locator('.sections li.open[data-step="gleif_result"]')).to_be_visible()


def test_a_failed_step_is_retried_and_skipped_with_a_reason(eyes: Eyes, server: Server) -> None:
    started = server.run_program('EXEC kyc.research_gleif_hierarchy(lei: "NOSUCHLEI00000000000") ON FAILURE ask')
    page = eyes.open(f"/runbooks/{started['id']}")
    page.locator('.sections li[data-state="failed"] .sentence').click()
    page.get_by_role("button", name="Retry", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Retry").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.locator('.sections li[data-state="failed"]').wait_for()
    page.get_by_role("button", name="Skip", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Skip")).to_be_disabled()
    dialog.get_by_label("Reason").fill("nobody needs it")
    dialog.get_by_role("button", name="Skip").click()
    expect(page.locator('.sections li[data-state="skipped"]')).to_be_visible()
    events = server.get(f"/runbooks/{started['id']}/events", limit=200)["items"]
    assert any("nobody needs it" in str(each["data"]) for each in events)


def test_a_runbook_is_cancelled_with_a_reason(eyes: Eyes, server: Server) -> None:
    started = server.onboard("NORD-9", CASE_ID.replace("0001", "0009"))
    page = eyes.open(f"/runbooks/{started['id']}")
    page.get_by_role("button", name="Cancel", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("the client went elsewhere")
    eyes.picture(page, "runbook-cancel")
    dialog.get_by_role("button", name="Cancel it").click()
    expect(page.locator(".page-head .badge").first).to_contain_text("cancelled")
    assert server.get(f"/runbooks/{started['id']}")["state"] == "cancelled"


def test_a_draft_is_confirmed_as_the_very_plan_on_the_page(eyes: Eyes, server: Server) -> None:
    program = 'EXEC kyc.open-case(entity: "Allianz GmbH", case_type: "periodic-review")'
    draft = server.post("/drafts", {"program": program, "case": "A-1"})
    page = eyes.open(f"/runbooks/{draft['id']}")
    expect(page.get_by_role("region", name="What it would do")).to_contain_text(draft["plan"]["plan_hash"])
    eyes.pictures(f"/runbooks/{draft['id']}", "draft", ".waves li")
    page.get_by_role("button", name="run", exact=False).first.click()
    page.get_by_role("dialog").get_by_role("button", name="Run").click()
    expect(page.locator(".page-head .badge").first).not_to_have_text("✎draft")
    assert server.get(f"/runbooks/{draft['id']}")["plan_hash"] == draft["plan"]["plan_hash"]


@pytest.mark.deep
def test_an_export_is_offered_for_people_and_for_machines(eyes: Eyes, onboarding: dict[str, Any]) -> None:
    page = eyes.open(f"/runbooks/{onboarding['id']}")
    page.locator(".menu summary").click()
    with page.expect_download() as loaded:
        page.get_by_role("link", name="Document for machines (JSON)").click()
    assert loaded.value.suggested_filename.endswith(".json")


@pytest.mark.deep
def test_a_runbook_that_is_not_there_says_so(eyes: Eyes) -> None:
    page = eyes.open("/runbooks")
    page.goto("/runbooks/01m7hktd3aee3vd8s8xjhzwf1e")
    expect(page.get_by_role("alert")).to_be_visible()


@pytest.mark.deep
def test_axe_finds_nothing_serious(eyes: Eyes, onboarding: dict[str, Any]) -> None:
    base = f"/runbooks/{onboarding['id']}"
    eyes.check_accessible(f"{base}?step=docs", ".plan-graph g.node")
    eyes.check_accessible(f"{base}?tab=timeline", ".outcomes li")
    eyes.check_accessible(f"{base}?tab=audit", ".trail li")

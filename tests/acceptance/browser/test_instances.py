"""Instances in the browser: the list, the diagram with its history, and everything an operator does there."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.browser.claims_office import (
    CLAIMS,
    answer,
    filed,
    mend,
    second_version,
    third_version,
    unrated_version,
)
from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("V20")]

PROJECT = CLAIMS
IS_ALONE = True
DRAWN = '.diagram-canvas[data-ready="true"]'


def opened(eyes: Eyes, instance: str) -> Page:
    page = eyes.open(f"/instances/{instance}")
    page.locator(DRAWN).wait_for()
    return page


def state_is(page: Page, state: str) -> None:
    expect(page.locator(".page-head .badge").first).to_contain_text(state)


def test_the_list_shows_instances_and_is_filtered_by_what_the_address_says(eyes: Eyes, server: Server) -> None:
    first = filed(server, "K-1")
    page = eyes.open("/instances")
    expect(page.locator(f'a[href="/instances/{first}"]')).to_be_visible()
    page.get_by_role("button", name="completed", exact=True).click()
    expect(page).to_have_url(f"{server.url}/instances?state=completed")
    expect(page.get_by_text("No instance fits")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Process").select_option("approve-claim")
    expect(page.locator(f'a[href="/instances/{first}"]')).to_be_visible()
    eyes.pictures("/instances", "instances", "table tbody tr")


@pytest.mark.deep
def test_an_instance_that_begins_elsewhere_appears_in_the_list_by_itself(eyes: Eyes, server: Server) -> None:
    page = eyes.open("/instances")
    page.locator('[data-live="live"]').wait_for()
    later = filed(server, "K-2")
    expect(page.locator(f'a[href="/instances/{later}"]')).to_be_visible()


def test_the_diagram_shows_tokens_the_way_taken_and_whose_drawing_it_is(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-3")
    page = opened(eyes, instance)
    expect(page.locator(".diagram-badge.token")).to_have_attribute("title", "1 token at Approve the claim")
    expect(page.locator('.djs-element[data-element-id="rate"].mark-passed')).to_have_count(1)
    expect(page.locator('.djs-element[data-element-id="f2"].mark-flow')).to_have_count(1)
    expect(page.locator('.djs-element[data-element-id="approve"].mark-active')).to_have_count(1)
    expect(page.locator(".bjs-powered-by")).to_be_visible()
    expect(page.locator("figcaption")).to_have_text("Tokens at Approve the claim.")
    eyes.pictures(f"/instances/{instance}", "instance", DRAWN)


def test_the_page_follows_its_instance_without_reloading(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-4")
    page = opened(eyes, instance)
    page.locator('[data-live="live"]').wait_for()
    page.evaluate("window.isTheSamePage = true")
    answer(server, instance)
    state_is(page, "completed")
    expect(page.locator(".diagram-badge.token")).to_have_count(0)
    expect(page.locator('.djs-element[data-element-id="paid"].mark-passed')).to_have_count(1)
    assert page.evaluate("window.isTheSamePage")


def test_the_slider_goes_through_history_by_mouse_and_by_keyboard(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-5")
    answer(server, instance)
    page = opened(eyes, instance)
    state_is(page, "completed")
    said = page.get_by_test_id("history-position")
    expect(said).to_contain_text("Ended: completed")
    page.get_by_role("button", name="To the beginning").click()
    expect(said).to_contain_text("1 of")
    expect(page.locator(".diagram-badge.token")).to_have_attribute("title", "1 token at Rate the claim")
    expect(page.get_by_text("This is how it was.")).to_be_visible()
    eyes.picture(page, "instance-past")
    slider = page.get_by_role("slider", name="Record")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("2 of")
    expect(page.locator(".diagram-badge.token")).to_have_attribute("title", "1 token at Approve the claim")
    expect(slider).to_have_attribute("aria-valuetext", said.inner_text().replace(" · ", ": ", 1).replace(" · ", ", "))
    page.get_by_role("button", name="Now", exact=True).click()
    expect(page.locator(".diagram-badge.token")).to_have_count(0)


@pytest.mark.deep
def test_variables_and_the_audit_trail_are_those_of_the_moment_shown(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-6")
    answer(server, instance)
    page = opened(eyes, instance)
    flags = page.locator(".flags")
    expect(flags).to_contain_text("yes")
    page.get_by_role("button", name="To the beginning").click()
    expect(flags).to_contain_text("open")
    page.get_by_role("tab", name="Audit trail").click()
    expect(page.locator(".trail > li").last).to_contain_text("Started")
    page.get_by_role("button", name="Show record 2 in the picture").click()
    expect(page.get_by_test_id("history-position")).to_contain_text("2 of")
    page.locator(".trail summary").last.click()
    expect(page.locator(".trail details[open] .tree").first).to_be_visible()


@pytest.mark.deep
def test_choosing_an_element_narrows_the_trail_to_it(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-7")
    page = opened(eyes, instance)
    page.get_by_role("tab", name="Audit trail").click()
    everything = page.locator(".trail > li").count()
    page.locator('.djs-element[data-element-id="rate"]').click()
    expect(page.get_by_text("Only what happened at Rate the claim.")).to_be_visible()
    assert page.locator(".trail > li").count() <= everything
    page.get_by_role("button", name="Show everything").click()
    expect(page.get_by_text("Only what happened at")).to_have_count(0)


def test_an_instance_is_suspended_resumed_and_cancelled_with_a_reason(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-8")
    page = opened(eyes, instance)
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Suspend").click()
    dialog.get_by_label("Reason").fill("the client rang")
    dialog.get_by_role("button", name="Suspend").click()
    state_is(page, "suspended")
    page.get_by_role("button", name="Resume").click()
    dialog.get_by_role("button", name="Resume").click()
    state_is(page, "active")
    page.get_by_role("button", name="Cancel", exact=True).click()
    eyes.picture(page, "instance-cancel")
    dialog.get_by_role("button", name="Cancel it").click()
    state_is(page, "cancelled")
    expect(page.get_by_role("button", name="Suspend")).to_have_count(0)
    events = server.get(f"/instances/{instance}/events", limit=200)["items"]
    assert any(each["data"].get("reason") == "the client rang" for each in events)


def test_a_token_is_moved_by_hand_with_a_reason(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-9")
    page = opened(eyes, instance)
    page.get_by_role("button", name="Move tokens").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Move")).to_be_disabled()
    dialog.get_by_label("Put a token before").select_option("refused")
    dialog.get_by_label("Reason").fill("decided on the telephone")
    eyes.picture(page, "instance-modify")
    dialog.get_by_role("button", name="Move").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    state_is(page, "completed")
    expect(page.locator('.djs-element[data-element-id="refused"].mark-passed')).to_have_count(1)
    overrides = page.get_by_role("region", name="Overrides")
    expect(overrides).to_contain_text("used")
    expect(overrides).to_contain_text("decided on the telephone")
    eyes.picture(page, "instance-override")


def test_a_migration_is_tried_dry_and_then_done(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-10")
    version = second_version(server)
    page = opened(eyes, instance)
    page.get_by_role("button", name="Migrate").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Migrate")).to_be_disabled()
    dialog.get_by_role("button", name="See what would happen").click()
    expect(dialog.get_by_text("Approve the claim stays")).to_be_visible()
    assert server.get(f"/instances/{instance}")["version"] != version
    eyes.picture(page, "instance-migrate")
    dialog.get_by_role("button", name="Migrate").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text(f", version {version}")).to_be_visible()
    expect(page.locator(".diagram-badge.token")).to_have_attribute("title", "1 token at Approve the claim again")


@pytest.mark.deep
def test_a_dry_migration_says_which_work_gets_another_verb(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "BROKEN-10")
    unrated_version(server)
    page = opened(eyes, instance)
    page.get_by_role("button", name="Migrate").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="See what would happen").click()
    expect(dialog.get_by_text("Verb of Rate the claim: claim.rate v1 → claim.remind v1")).to_be_visible()
    eyes.picture(page, "instance-migrate-verbs")


def test_a_migration_is_taken_back_after_it_was_seen_what_that_does(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-12")
    before = server.get(f"/instances/{instance}")["version"]
    page = opened(eyes, instance)
    expect(page.get_by_role("button", name="Migrate back")).to_have_count(0)
    version = third_version(server)
    server.post(f"/instances/{instance}/migrate", {"version": version})
    page.get_by_role("button", name="Migrate back").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"Under version {before}:")
    expect(dialog.get_by_role("button", name="Migrate back")).to_be_disabled()
    dialog.get_by_label("Reason").fill("the new one was wrong")
    eyes.picture(page, "instance-migrate-back")
    dialog.get_by_role("button", name="Migrate back").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text(f", version {before}")).to_be_visible()
    assert server.get(f"/instances/{instance}")["version"] == before


@pytest.mark.deep
def test_the_data_of_an_ended_instance_are_erased_with_a_reason(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-13")
    page = opened(eyes, instance)
    expect(page.get_by_role("button", name="Erase data")).to_have_count(0)
    answer(server, instance)
    state_is(page, "completed")
    page.get_by_role("button", name="Erase data").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("the client asked for it")
    expect(dialog.get_by_role("button", name="Erase")).to_be_disabled()
    dialog.get_by_label("Type erase to confirm").fill("erase")
    dialog.get_by_role("button", name="Erase").click()
    expect(page.get_by_text("Data erased", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Erase data")).to_have_count(0)
    eyes.picture(page, "instance-erased")
    assert server.get(f"/instances/{instance}")["data"] is None


@pytest.mark.deep
def test_a_migration_that_cannot_be_says_why_and_changes_nothing(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "K-11")
    page = opened(eyes, instance)
    page.get_by_role("button", name="Migrate").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Approve the claim", exact=False).first.fill("nowhere")
    dialog.get_by_role("button", name="See what would happen").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.get_by_role("button", name="Migrate")).to_be_disabled()


def test_what_is_stuck_is_explained_and_resolved_by_hand_in_a_form(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "BROKEN-1")
    page = opened(eyes, instance)
    stuck = page.get_by_role("region", name="Stuck")
    expect(stuck).to_contain_text("Every attempt has failed")
    expect(stuck).to_contain_text("the register of claims does not answer")
    expect(page.locator(".diagram-badge.incident")).to_be_visible()
    eyes.pictures(f"/instances/{instance}", "instance-stuck", ".diagram-badge.incident")
    stuck.get_by_role("button", name="Resolve by hand").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("looked it up")
    dialog.get_by_role("button", name="Resolve").click()
    expect(dialog.get_by_text("This is required.")).to_be_visible()
    dialog.get_by_label("Group that approves").fill("administrators")
    eyes.picture(page, "instance-resolve")
    dialog.get_by_role("button", name="Resolve").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(stuck).to_have_count(0)
    assert server.get(f"/instances/{instance}")["incidents"] == []


@pytest.mark.deep
def test_what_is_stuck_goes_on_when_it_is_retried_after_it_was_mended(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "BROKEN-2")
    page = opened(eyes, instance)
    mend(server)
    page.get_by_role("button", name="Retry what is stuck").click()
    page.get_by_role("dialog").get_by_role("button", name="Retry").click()
    expect(page.locator('.djs-element[data-element-id="approve"].mark-active')).to_have_count(1)
    expect(page.get_by_role("region", name="Stuck")).to_have_count(0)
    (server.folder / "mended").unlink()


@pytest.mark.deep
def test_an_instance_that_is_not_there_says_so(eyes: Eyes, server: Server) -> None:
    page = eyes.open("/instances")
    page.goto("/instances/01m7hktd3aee3vd8s8xjhzwf1e")
    expect(page.get_by_role("alert")).to_contain_text("01m7hktd3aee3vd8s8xjhzwf1e")


def test_names_that_look_like_html_are_text(eyes: Eyes, server: Server) -> None:
    name = "<img src=x onerror=window.isBroken=1>"
    instance = filed(server, name)
    page = opened(eyes, instance)
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page.locator(".tree").get_by_text(name)).to_be_visible()
    assert page.evaluate("window.isBroken") is None


@pytest.mark.deep
def test_axe_finds_nothing_serious_on_the_pages_of_instances(eyes: Eyes, server: Server) -> None:
    instance = filed(server, "BROKEN-3")
    eyes.check_accessible("/instances", "table tbody tr")
    eyes.check_accessible(f"/instances/{instance}", DRAWN)
    eyes.check_accessible(f"/instances/{instance}?tab=trail", ".trail > li")
    page = eyes.open(f"/instances/{instance}", bypass_csp=True)
    page.get_by_role("button", name="Move tokens").click()
    page.get_by_role("dialog").wait_for()
    eyes.check_page(page)

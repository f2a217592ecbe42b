"""The list of runbooks: live, searched, filtered by its address, and smooth however long it is."""

from __future__ import annotations

import subprocess
import sys

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import DESK, Server
from tests.house.tree import ROOT

pytestmark = [pytest.mark.req("P4")]
PROJECT = DESK
IS_ALONE = True
MANY = {"sqlite": 10_000, "postgres": 1_000}


def live(page: Page) -> None:
    expect(page.locator('[data-live="live"]')).to_be_visible()


@pytest.mark.deep
def test_an_empty_list_says_what_would_be_here(eyes: Eyes) -> None:
    page = eyes.open("/runbooks")
    expect(page.get_by_role("heading", name="No runbooks yet")).to_be_visible()
    eyes.picture(page, "runbooks-empty")


def test_what_starts_and_what_ends_shows_without_reloading(eyes: Eyes, server: Server) -> None:
    page = eyes.open("/runbooks")
    live(page)
    page.evaluate("window.isTheSamePage = true")
    id = server.run_program('EXEC desk.wait(who: "ana")', "LIVE-1")["id"]
    mine = page.locator(f'.runbook-list .line[data-id="{id}"]')
    expect(mine).to_contain_text("parked")
    expect(mine).to_contain_text("0 of 1 step complete")
    key = server.get(f"/runbooks/{id}")["steps"][0]["waiting_for"]["key"]
    server.post("/completions", {"key": key, "result": {"answer": "yes"}})
    expect(mine).to_contain_text("completed")
    expect(mine).to_contain_text("1 of 1 step complete")
    assert page.evaluate("window.isTheSamePage") is True


def test_filters_and_search_stand_in_the_address(eyes: Eyes, server: Server) -> None:
    parked = server.run_program('EXEC desk.wait(who: "bo")', "FILTER-1")["id"]
    done = server.run_program('EXEC desk.note(text: "hello")', "FILTER-2")["id"]
    page = eyes.open("/runbooks")
    expect(page.locator(f'[data-id="{done}"]')).to_be_visible()
    page.get_by_role("button", name="parked").click()
    expect(page.locator(f'[data-id="{done}"]')).to_have_count(0)
    expect(page.locator(f'[data-id="{parked}"]')).to_be_visible()
    assert page.url.endswith("?state=parked")
    page.get_by_role("button", name="All").click()
    page.keyboard.press("/")
    expect(page.get_by_label("Search runbooks")).to_be_focused()
    page.keyboard.type("FILTER-2")
    page.wait_for_url("**/runbooks?q=FILTER-2")
    expect(page.locator(f'[data-id="{parked}"]')).to_have_count(0)
    expect(page.locator(f'[data-id="{done}"]')).to_be_visible()
    page.reload()
    expect(page.get_by_label("Search runbooks")).to_have_value("FILTER-2")
    expect(page.locator(f'[data-id="{done}"]')).to_be_visible()
    page.get_by_label("Search runbooks").fill("nothing like that")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()


@pytest.mark.deep
def test_rows_are_reached_and_opened_by_keys(eyes: Eyes, server: Server) -> None:
    id = server.run_program('EXEC desk.note(text: "by keys")', "KEYS-1")["id"]
    page = eyes.open("/runbooks")
    expect(page.locator(f'[data-id="{id}"]')).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator(f"#row-{id}")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{server.url}/runbooks/{id}")
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page).to_have_url(f"{server.url}/runbooks")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_page_outlives_its_server(eyes: Eyes, server: Server) -> None:
    id = server.run_program('EXEC desk.wait(who: "zoe")', "KILL-1")["id"]
    page = eyes.open("/runbooks")
    live(page)
    page.evaluate("window.isTheSamePage = true")
    expect(page.locator(f'[data-id="{id}"]')).to_contain_text("parked")
    server.kill()
    expect(page.locator('[data-live="reconnecting"]')).to_be_visible()
    eyes.picture(page, "runbooks-reconnecting")
    server.start()
    key = server.get(f"/runbooks/{id}")["steps"][0]["waiting_for"]["key"]
    server.post("/completions", {"key": key, "result": {"answer": "still here"}})
    live(page)
    expect(page.locator(f'[data-id="{id}"]')).to_contain_text("completed")
    assert page.evaluate("window.isTheSamePage") is True


@pytest.mark.deep
def test_a_very_long_list_draws_only_what_is_in_sight_and_reaches_its_end(
    eyes: Eyes, server: Server, store_kind: str
) -> None:
    count = MANY[store_kind]
    command = [sys.executable, "-m", "tests.acceptance.browser.crowd", server.store, str(count)]
    subprocess.run(command, cwd=ROOT, check=True)
    page = eyes.open("/runbooks?state=draft")
    page.locator(".runbook-list .line[data-id]").first.wait_for()
    view = page.locator(".runbook-list .view")
    table = page.get_by_role("table", name="Runbooks")
    while table.get_attribute("aria-rowcount") == "-1":
        known = page.locator(".runbook-list .whole").bounding_box()
        view.evaluate("element => element.scrollTo(0, element.scrollHeight)")
        page.wait_for_function(
            "height => document.querySelector('.whole').offsetHeight > height || "
            "document.querySelector('.runbook-list').getAttribute('aria-rowcount') !== '-1'",
            arg=known["height"] if known else 0,
        )
        assert page.locator(".runbook-list .line[data-id]").count() < 60
    assert table.get_attribute("aria-rowcount") == str(count + 1)
    view.evaluate("element => element.scrollTo(0, element.scrollHeight)")
    expect(page.locator(".runbook-list .line[data-id]").last).to_contain_text("CROWD-")
    eyes.picture(page, "runbooks-many")


@pytest.mark.deep
def test_pictures_and_axe(eyes: Eyes, server: Server) -> None:
    server.run_program('EXEC desk.refuse()\nEXEC desk.wait(who: "mia")', "LOOK-1")
    eyes.pictures("/runbooks", "runbooks", ".runbook-list .line[data-id]")
    eyes.check_accessible("/runbooks", ".runbook-list .line[data-id]")
    eyes.check_accessible("/runbooks?q=nothing-like-this", ".blank h2")

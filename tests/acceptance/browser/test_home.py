"""Home: what needs me, what is stuck, what runs, how much goes through; signing in; the frame around every page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server

pytestmark = [pytest.mark.req("P4")]
SETTINGS = "\nserver:\n  authentication: [keys]\n"


@pytest.fixture(scope="module")
def key(server: Server) -> str:
    return server.make_key("ana", "admin", "compliance")


def test_nobody_sees_anything_before_signing_in(eyes: Eyes, key: str) -> None:
    page = eyes.open("/runbooks?state=parked")
    expect(page.get_by_role("heading", name="Sign in to Perdure")).to_be_visible()
    eyes.picture(page, "sign-in")
    page.get_by_label("API key").fill("perdure_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("not good")
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{page.url.partition('/runbooks')[0].partition('/sign-in')[0]}/runbooks?state=parked")
    expect(page.get_by_role("heading", name="Runbooks")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to Perdure")).to_be_visible()


def test_a_link_in_an_address_leads_nowhere_else_after_signing_in(eyes: Eyes, server: Server, key: str) -> None:
    page = eyes.open("/sign-in?to=//elsewhere.example/")
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    assert page.url == f"{server.url}/"


def test_home_shows_what_needs_me_what_is_stuck_and_what_runs(eyes: Eyes, server: Server, key: str) -> None:
    page = eyes.open("/", key=key)
    expect(page.get_by_role("heading", name="Nothing has run yet")).to_be_visible()
    eyes.picture(page, "home-empty")
    server.sign_in(key)
    server.onboard("HOME-1", "4b8f0d60-6f0e-4b5e-9a35-0c1b7a1f0002")
    running = page.get_by_role("region", name="Running")
    expect(running).to_contain_text("parked")
    expect(page.get_by_role("region", name="Throughput")).to_contain_text("started")
    expect(page.get_by_role("region", name="Waits")).to_contain_text("oldest")
    running.get_by_role("link", name="parked").first.click()
    expect(page).to_have_url(f"{server.url}/runbooks?state=parked")
    eyes.pictures("/", "home", ".home .figure", key=key)


@pytest.mark.deep
def test_the_theme_is_chosen_and_remembered(eyes: Eyes, key: str) -> None:
    page = eyes.open("/", key=key)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("button", name="Theme").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.evaluate(ground) == dark


def test_what_one_may_not_do_is_not_offered(eyes: Eyes, server: Server, key: str) -> None:
    viewer = server.make_key("vic", "viewer")
    page = eyes.open("/", key=viewer)
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    expect(page.get_by_role("link", name="Compose")).to_have_count(0)
    expect(page.get_by_role("link", name="Keys")).to_have_count(0)
    server.sign_in(key)
    id = server.onboard("VIEW-1", "4b8f0d60-6f0e-4b5e-9a35-0c1b7a1f0003")["id"]
    page.goto(f"/runbooks/{id}?step=docs")
    expect(page.locator(".details")).to_be_visible()
    for name in ("Cancel", "Skip", "Extend", "Retry"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


@pytest.mark.deep
def test_axe_finds_nothing_serious(eyes: Eyes, key: str) -> None:
    eyes.check_accessible("/", ".home .card", key=key)
    eyes.check_accessible("/sign-in", ".sign-in input")
    page = eyes.open("/", key=key, bypass_csp=True)
    page.keyboard.press("?")
    page.get_by_role("dialog").wait_for()
    eyes.check_page(page)

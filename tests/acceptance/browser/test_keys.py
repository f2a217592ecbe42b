"""Keys in the browser: made, shown once, revoked; and that a page shows nobody what they may not do."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.browser.claims_office import CLAIMS
from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("P3")]

PROJECT = CLAIMS
SETTINGS = "server: {authentication: [keys]}\n"


def key_of(server: Server, name: str, role: str, *more: str) -> str:
    told = server.run("keys", "create", name, "--principal", name, "--kind", "person", "--role", role, *more, "--json")
    text: str = json.loads(told)["text"]
    return text


def signed_in(eyes: Eyes, key: str, path: str, *, bypass_csp: bool = False) -> Page:
    page = eyes.open(path, bypass_csp=bypass_csp)
    sign_in(page, key)
    return page


def sign_in(page: Page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("navigation", name="Main").wait_for()


@pytest.fixture(scope="module")
def admin(server: Server) -> str:
    return key_of(server, "root", "admin")


def test_a_key_is_made_shown_once_signs_in_and_is_revoked(eyes: Eyes, server: Server, admin: str) -> None:
    page = signed_in(eyes, admin, "/settings/keys")
    page.get_by_role("button", name="Make a key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("nightly import")
    dialog.get_by_label("Whom it stands for").fill("importer")
    eyes.picture(page, "keys-make")
    dialog.get_by_role("button", name="Make it").click()
    text = page.get_by_test_id("key-text").inner_text()
    assert text.startswith("perdure_")
    eyes.picture(page, "keys-made")
    page.get_by_role("button", name="I have it").click()
    row = page.get_by_role("row", name="nightly import")
    expect(row).to_contain_text("good")
    assert text not in page.content()
    other = signed_in(eyes, text, "/settings/keys")
    expect(other.get_by_text("importer").first).to_be_visible()
    row.get_by_role("button", name="Revoke nightly import").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("no longer needed")
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")
    other.goto("/instances")
    expect(other.get_by_label("API key")).to_be_visible()


@pytest.mark.deep
def test_a_name_that_is_taken_is_refused_in_the_dialog(eyes: Eyes, admin: str) -> None:
    page = signed_in(eyes, admin, "/settings/keys")
    page.get_by_role("button", name="Make a key").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("root")
    dialog.get_by_label("Whom it stands for").fill("root")
    dialog.get_by_role("button", name="Make it").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.get_by_label("Name")).to_have_value("root")


@pytest.mark.req("V20")
def test_who_may_only_look_is_shown_no_acts(eyes: Eyes, server: Server, admin: str) -> None:
    headers = {"Authorization": f"Bearer {admin}"}
    body = {"process": "approve-claim", "data": {"claim": "BROKEN-1", "amount": 1}, "until": "rest"}
    instance = server.api.post("/api/instances", json=body, headers=headers).json()["id"]
    page = signed_in(eyes, key_of(server, "vera", "viewer"), f"/instances/{instance}")
    page.get_by_role("region", name="Stuck").wait_for()
    for act in ("Suspend", "Cancel", "Move tokens", "Migrate", "Retry", "Resolve by hand"):
        expect(page.get_by_role("button", name=act)).to_have_count(0)
    expect(page.get_by_role("link", name="Keys")).to_have_count(0)
    page.goto("/incidents")
    page.locator(".stuck-item").first.wait_for()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    expect(page.get_by_role("checkbox")).to_have_count(0)
    page.goto("/definitions")
    page.locator("table tbody tr").first.wait_for()
    expect(page.get_by_role("button", name="Deploy a model")).to_have_count(0)
    eyes.picture(page, "viewer")


def test_who_reaches_a_verb_but_none_inside_sees_its_timeline_without_outcome_events(
    eyes: Eyes, server: Server, admin: str
) -> None:
    headers = {"Authorization": f"Bearer {admin}"}
    body = {"args": {"claim": "OUTSIDE-1", "amount": 1}}
    id = server.api.post("/api/verbs/claim.file/calls", json=body, headers=headers).json()["id"]
    path = f"/runbooks/{id}?tab=timeline"
    expect(eyes.open(path, key=admin).get_by_role("region", name="Outcome events")).to_be_visible()
    narrow = key_of(server, "nell", "operator", "--verbs", "claim.file")
    page = eyes.open("/", key=narrow)
    with page.expect_response("**/outcome-events*") as refused:
        page.goto(path)
    assert refused.value.status == 403
    expect(page.get_by_role("list", name="Steps in time")).to_be_visible()
    expect(page.get_by_role("region", name="Outcome events")).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.deep
def test_axe_finds_nothing_serious_among_keys(eyes: Eyes, admin: str) -> None:
    page = signed_in(eyes, admin, "/settings/keys", bypass_csp=True)
    page.locator("table tbody tr").first.wait_for()
    eyes.check_page(page)
    page.get_by_role("button", name="Make a key").click()
    page.get_by_role("dialog").wait_for()
    eyes.check_page(page)

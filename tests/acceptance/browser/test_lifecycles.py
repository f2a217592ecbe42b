"""Lifecycles in the browser: the board by state, an instance with its checklist, and what people decide there."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.acceptance.browser import papers_office as office
from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("T1")]

PROJECT = office.PAPERS
SETTINGS = office.SETTINGS
IS_ALONE = True


@pytest.fixture(scope="module", autouse=True)
def ada(server: Server) -> str:
    office.opened_office(server)
    return server.make_key("ada", "admin", "compliance")


def test_the_board_has_a_column_for_each_state_and_is_filtered_by_its_address(
    eyes: Eyes, server: Server, ada: str
) -> None:
    page = eyes.open("/lifecycles", key=ada)
    expect(page.get_by_text("Nobody is in onboarding yet")).to_be_visible()
    first = office.taken_on(server, "Nordlys AS")
    office.taken_on(server, "Fjell <b>AS</b>")
    card = page.get_by_role("region", name="INTAKE", exact=True).get_by_role("listitem").filter(has_text="Nordlys")
    expect(card.first).to_contain_text("passport")
    expect(card.first).to_contain_text("entered")
    expect(page.get_by_role("link", name="Fjell <b>AS</b>")).to_be_visible()
    assert [each.inner_text() for each in page.locator(".column h2").all()] == [
        "INTAKE", "REVIEW", "APPROVED", "REJECTED",
    ]  # fmt: skip
    page.get_by_label("Subject").fill("Nordlys AS")
    expect(page).to_have_url(f"{server.url}/lifecycles?subject=Nordlys+AS")
    expect(page.locator(".card-of")).to_have_count(1)
    page.locator("#filter-blocker").select_option("account")
    expect(page.locator(".card-of")).to_have_count(1)
    page.goto("/lifecycles?lifecycle=onboarding&subject=nobody")
    expect(page.get_by_text("No instance fits")).to_be_visible()
    eyes.pictures("/lifecycles", "lifecycles", ".card-of", key=ada)
    page.goto("/lifecycles")
    page.get_by_role("link", name="Nordlys AS").click()
    expect(page).to_have_url(f"{server.url}/lifecycles/{first}")


def test_what_is_missing_is_asked_for_by_its_exact_call_and_a_grave_one_is_authorised(
    eyes: Eyes, server: Server, ada: str
) -> None:
    instance = office.taken_on(server, "Havn AS")
    page = eyes.open(f"/lifecycles/{instance}", key=ada)
    expect(page.get_by_role("img", name="the present one is INTAKE")).to_be_visible()
    page.get_by_role("button", name="Ask for passport").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text('(client.write :client "Havn AS" :paper "passport")')
    dialog.get_by_role("button", name="Run the call").click()
    expect(page.get_by_role("region", name="Asked for")).to_contain_text("client.write")
    expect(page.get_by_role("button", name="Ask for passport")).to_have_count(0)
    eyes.picture(page, "lifecycle-asked")
    page.get_by_role("button", name="Ask for account").click()
    dialog.get_by_role("button", name="Run the call").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    run = dialog.get_by_role("button", name="Run the call")
    expect(run).to_be_disabled()
    dialog.get_by_label("Type").fill(dialog.locator("label code").inner_text())
    run.click()
    expect(page.get_by_role("region", name="Asked for")).to_contain_text("client.close-account")
    eyes.pictures(f"/lifecycles/{instance}", "lifecycle", ".drawing img", key=ada)


def test_a_transition_takes_a_reason_and_two_people_where_its_definition_says_so(
    eyes: Eyes, server: Server, ada: str
) -> None:
    instance = office.taken_on(server, "Sund AS")
    page = eyes.open(f"/lifecycles/{instance}", key=ada)
    page.get_by_role("button", name="Move to REVIEW").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Move")).to_be_disabled()
    dialog.get_by_label("Reason").fill("seen on paper")
    dialog.get_by_role("button", name="Move").click()
    expect(page.get_by_role("img", name="the present one is REVIEW")).to_be_visible()
    page.get_by_role("button", name="Propose APPROVED").click()
    dialog.get_by_role("button", name="Propose").click()
    expect(page.get_by_text("ada proposed it; a second person has to agree.")).to_be_visible()
    expect(page.get_by_role("button", name="APPROVED")).to_have_count(0)
    page.locator('[data-live="live"]').wait_for()
    other = eyes.open(f"/lifecycles/{instance}", key=office.officer(server))
    other.get_by_role("button", name="Agree to APPROVED").click()
    other.get_by_role("dialog").get_by_role("button", name="Agree").click()
    expect(other.locator(".page-head")).to_contain_text("completed")
    expect(page.locator(".page-head")).to_contain_text("completed")
    expect(page.get_by_label("Moves, newest first")).to_contain_text("seen on paper")


@pytest.mark.deep
def test_a_viewer_sees_where_things_stand_and_no_button(eyes: Eyes, server: Server, ada: str) -> None:
    instance = office.taken_on(server, "Vik AS")
    viewer = server.make_key("vera", "viewer")
    page = eyes.open(f"/lifecycles/{instance}", key=viewer)
    expect(page.get_by_text("A verified passport")).to_be_visible()
    for word in ("Ask for", "Move to", "Propose", "Cancel", "Look again"):
        expect(page.get_by_role("button", name=word)).to_have_count(0)
    headers = {"Authorization": f"Bearer {viewer}"}
    refused = server.api.post(f"/api/lifecycles/{instance}/resolve", json={"key": "passport"}, headers=headers)
    assert refused.status_code == 403
    page.goto("/lifecycles")
    expect(page.get_by_role("button", name="Start one")).to_have_count(0)


@pytest.mark.deep
def test_a_lifecycle_is_started_looked_at_and_cancelled(eyes: Eyes, server: Server, ada: str) -> None:
    page = eyes.open("/lifecycles", key=ada)
    page.get_by_role("button", name="Start one").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Subject").fill("Bukt AS")
    dialog.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bukt AS · onboarding")
    page.get_by_role("button", name="Cancel").click()
    dialog.get_by_label("Reason").fill("they went elsewhere")
    dialog.get_by_role("button", name="Cancel it").click()
    expect(page.locator(".page-head")).to_contain_text("cancelled")
    page.get_by_role("tab", name="Journal").click()
    expect(page.get_by_text("Lifecycle ended")).to_be_visible()


@pytest.mark.deep
def test_pages_of_lifecycles_are_accessible(eyes: Eyes, server: Server, ada: str) -> None:
    instance = office.taken_on(server, "Elv AS")
    eyes.check_accessible("/lifecycles", ".card-of", key=ada)
    eyes.check_accessible(f"/lifecycles/{instance}", ".drawing img", key=ada)

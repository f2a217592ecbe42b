"""The page of a client in a browser: on a phone, with and without scripts, and what the office sees of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.browser import papers_office as office
from tests.acceptance.browser.conftest import Chromium
from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("T13")]

PROJECT = office.PAPERS
SETTINGS = office.SETTINGS
IS_ALONE = True
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module", autouse=True)
def ada(server: Server) -> str:
    office.opened_office(server)
    return server.make_key("ada", "admin", "compliance")


def asked(server: Server, client: str) -> tuple[str, str]:
    """An instance that asked its client for a passport, and the token of the request."""
    instance = office.taken_on(server, client)
    told = server.post(f"/lifecycles/{instance}/resolve", {"key": "passport"})
    task = told["tasks"][-1]["correlation_id"]
    token: str = server.post("/document-requests/token", {"correlation_id": task})["token"]
    return instance, token


@pytest.fixture
def without_scripts(chromium: Chromium, eyes: Eyes, server: Server) -> Iterator[Page]:
    context = chromium.browser.new_context(base_url=server.url, viewport=PHONE, java_script_enabled=False)  # type: ignore[arg-type]
    yield context.new_page()
    context.close()


def test_a_client_sends_a_photo_from_a_phone_and_the_office_sees_it(eyes: Eyes, server: Server, ada: str) -> None:
    instance, token = asked(server, "Nordlys AS")
    page = eyes.open(f"/ask#{token}", is_narrow=True)
    expect(page.get_by_role("heading", level=1)).to_have_text("A verified passport")
    expect(page).to_have_url(f"{server.url}/ask/{token}")
    assert page.locator("a").count() == 0
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_have_text("Please choose a file first.")
    eyes.pictures(f"/ask/{token}", "request-page", "form")
    page.get_by_label("Choose a file").set_input_files(
        {"name": "passport.png", "mimeType": "image/png", "buffer": office.picture()}
    )
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")
    eyes.pictures(f"/ask/{token}", "request-thanks", ".good")
    office_page = eyes.open(f"/lifecycles/{instance}", key=ada)
    expect(office_page.get_by_role("region", name="Asked for")).to_contain_text("1 of 1")
    office_page.get_by_role("region", name="Asked for").get_by_role("link", name="document").click()
    expect(office_page.get_by_role("region", name="Versions")).to_contain_text("from request")


def test_a_client_without_scripts_is_told_what_is_wrong_and_sends_another(
    without_scripts: Page, server: Server, ada: str
) -> None:
    _, token = asked(server, "Fjell AS")
    page = without_scripts
    page.goto(f"/ask/{token}")
    page.locator("#file").set_input_files({"name": "notes.txt", "mimeType": "text/plain", "buffer": b"no passport"})
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("alert")).to_contain_text("We could not take this")
    page.locator("#file").set_input_files({"name": "passport.png", "mimeType": "image/png", "buffer": office.picture()})
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you")


@pytest.mark.deep
def test_pages_of_clients_are_accessible(eyes: Eyes, server: Server, ada: str) -> None:
    _, token = asked(server, "Havn AS")
    eyes.check_accessible(f"/ask/{token}", "form")
    eyes.check_accessible("/ask/request_nonsense", "h1")
    eyes.pictures("/ask/request_nonsense", "request-over", "h1")

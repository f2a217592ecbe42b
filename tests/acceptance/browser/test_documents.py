"""Documents in the browser: found by words, handed in by dragging, looked at, compared, verified and rejected."""

from __future__ import annotations

import base64

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.browser import papers_office as office
from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("T6")]

PROJECT = office.PAPERS
SETTINGS = office.SETTINGS
IS_ALONE = True
DROP = """([element, name, type, data]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const given = new DataTransfer();
  given.items.add(new File([bytes], name, { type }));
  for (const kind of ["dragenter", "dragover", "drop"])
    element.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: given }));
}"""


@pytest.fixture(scope="module", autouse=True)
def ada(server: Server) -> str:
    office.opened_office(server)
    return server.make_key("ada", "admin", "compliance")


def drop(page: Page, name: str, type: str, data: bytes) -> None:
    zone = page.locator(".dropzone").element_handle()
    page.evaluate(DROP, [zone, name, type, base64.b64encode(data).decode()])


def test_documents_are_found_by_words_and_by_what_the_address_says(eyes: Eyes, server: Server, ada: str) -> None:
    found = office.handed_in(server, "Nordlys AS", office.picture(), name="Ana Berg")
    office.handed_in(server, "Fjell AS", office.PDF, type="letter")
    page = eyes.open("/documents", key=ada)
    expect(page.locator("tbody tr")).to_have_count(2)
    page.get_by_label("Words").fill("berg")
    expect(page).to_have_url(f"{server.url}/documents?text=berg")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator(f'a[href="/documents/{found}"]')).to_be_visible()
    page.get_by_role("button", name="verified").click()
    expect(page.get_by_text("No document fits")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Type").select_option("letter")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody")).to_contain_text("Fjell AS")
    eyes.pictures("/documents", "documents", "table tbody tr", key=ada)
    page.goto("/")
    page.get_by_role("link", name="documents to verify").click()
    expect(page).to_have_url(f"{server.url}/documents?status=pending")


def test_a_file_is_handed_in_by_dragging_looked_at_and_verified_by_another_person(
    eyes: Eyes, server: Server, ada: str
) -> None:
    page = eyes.open("/documents?subject=Havn", key=office.clerk(server))
    page.get_by_role("button", name="New document").click()
    page.get_by_role("dialog").get_by_label("Type").select_option("passport")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("passport · Havn")
    drop(page, "notes.txt", "text/plain", b"no passport at all")
    expect(page.get_by_role("alert")).to_contain_text("image/jpeg")
    drop(page, "passport.png", "image/png", office.picture())
    expect(page.get_by_role("region", name="Versions")).to_contain_text("image/png")
    expect(page.get_by_role("button", name="Verify")).to_have_count(0)
    address = page.url
    page = eyes.open(address, key=office.officer(server))
    page.get_by_role("button", name="Show version 1").click()
    frame = page.locator("iframe.preview")
    expect(frame).to_have_attribute("sandbox", "")
    shown = page.frame_locator("iframe.preview").locator("img")
    expect(shown).to_be_visible()
    eyes.picture(page, "document-shown")
    page.get_by_role("button", name="Verify").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("seen the original")
    page.get_by_role("dialog").get_by_role("button", name="Verify").click()
    expect(page.locator(".page-head")).to_contain_text("verified")
    page.get_by_role("tab", name="History").click()
    page.get_by_role("button", name="Reads").click()
    expect(page.get_by_label("Events, newest first")).to_contain_text("rita opened the file by a link of version 1")


def test_a_version_is_rejected_for_a_coded_reason_and_the_next_one_compared_with_it(
    eyes: Eyes, server: Server, ada: str
) -> None:
    id = office.handed_in(server, "Sund AS", office.picture(), name="Ana <img src=x onerror=alert(1)>")
    page = eyes.open(f"/documents/{id}", key=office.officer(server))
    page.get_by_role("button", name="Reject").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Reject")).to_be_disabled()
    dialog.get_by_label("Why").select_option("BLURRED")
    expect(dialog).to_contain_text("Please send a sharper one.")
    eyes.picture(page, "document-reject")
    dialog.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("region", name="Versions")).to_contain_text("Please send a sharper one.")
    stored = server.api.post("/api/blobs", content=office.picture(shade=20)).json()
    server.post(f"/documents/{id}/versions", {"blob": stored["blob"], "data": {"name": "Ana Berg", "number": "P-1"}})
    page.get_by_role("tab", name="Side by side").click()
    page.get_by_role("button", name="Compare 1 and 2").click()
    compared = page.get_by_role("table", name="Structured data")
    expect(compared).to_contain_text("one difference")
    expect(compared.locator("tr.changed")).to_contain_text("Ana <img src=x onerror=alert(1)>")
    expect(compared.locator("tr.same")).to_contain_text("P-1")
    eyes.picture(page, "document-compared")
    eyes.pictures(f"/documents/{id}", "document", ".dropzone", key=ada)


@pytest.mark.deep
def test_a_viewer_sees_that_a_document_exists_and_neither_its_content_nor_a_button(
    eyes: Eyes, server: Server, ada: str
) -> None:
    id = office.handed_in(server, "Vik AS", office.picture(), name="Ana Berg")
    page = eyes.open(f"/documents/{id}", key=server.make_key("vera", "viewer"))
    expect(page.get_by_text("but not what it holds")).to_be_visible()
    for word in ("Verify", "Reject", "Replace", "Erase", "Show version", "Choose a file"):
        expect(page.get_by_role("button", name=word)).to_have_count(0)
    expect(page.locator(".dropzone")).to_have_count(0)


@pytest.mark.deep
def test_a_document_is_replaced_by_another_and_erased(eyes: Eyes, server: Server, ada: str) -> None:
    old, new = (office.handed_in(server, "Elv AS", office.picture(), name="Ana") for _ in range(2))
    page = eyes.open(f"/documents/{old}", key=ada)
    page.get_by_role("button", name="Replace by another").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("The other document").select_option(new)
    dialog.get_by_role("button", name="Replace").click()
    expect(page.get_by_text("Another document took its place")).to_be_visible()
    page.get_by_role("button", name="Erase data").click()
    dialog.get_by_label("Reason").fill("asked by the client")
    dialog.get_by_label("Type").fill("erase")
    dialog.get_by_role("button", name="Erase").click()
    expect(page.locator("p.notice").filter(has_text="Its data was erased")).to_be_visible()


@pytest.mark.deep
def test_pages_of_documents_are_accessible(eyes: Eyes, server: Server, ada: str) -> None:
    id = office.handed_in(server, "Bekk AS", office.picture(), office.picture(shade=9), name="Ana")
    eyes.check_accessible("/documents", "table tbody tr", key=ada)
    eyes.check_accessible(f"/documents/{id}", ".dropzone", key=ada)
    eyes.check_accessible(f"/documents/{id}?tab=history", ".events li", key=ada)

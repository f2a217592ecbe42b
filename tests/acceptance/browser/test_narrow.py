"""Somebody whose key reaches some verbs alone: their pages say what is hidden, and never break."""

from __future__ import annotations

import msgspec
import pytest
from playwright.sync_api import expect

from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import DESK, Server

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("P3")]
PROJECT = DESK
SETTINGS = "server: {authentication: [keys]}\n"


def narrow_key(server: Server, name: str, verbs: str) -> str:
    told = server.run(
        "--json", "keys", "create", name, "--principal", name, "--kind", "person", "--role", "operator",
        "--verbs", verbs,
    )  # fmt: skip
    text: str = msgspec.json.decode(told)["text"]
    return text


def test_a_runbook_beyond_ones_verbs_is_shown_without_its_data(eyes: Eyes, server: Server) -> None:
    admin = server.make_key("anton", "admin")
    server.sign_in(admin)
    id: str = server.post("/verbs/desk.note/calls", {"args": {"text": "between us"}})["id"]
    narrow = narrow_key(server, "nina", "other.*")
    page = eyes.open(f"/runbooks/{id}", key=narrow)
    expect(page.get_by_role("heading", name="desk.note")).to_be_visible()
    expect(page.get_by_role("region", name="Steps").get_by_text("completed")).to_be_visible()
    expect(page.get_by_text("between us")).to_have_count(0)
    for tab in ("Timeline", "Audit trail"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel", name=tab).get_by_role("alert")).to_contain_text("desk.note")
        expect(page.get_by_text("Use a key that reaches this verb.")).to_have_count(1)
    eyes.picture(page, "narrow-runbook")
    server.sign_in(narrow)
    assert server.get(f"/calls/{id}").get("args") is None
    server.sign_in(admin)

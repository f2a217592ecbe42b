"""Engines in the dashboard: which answer and what begins there, where an instance is, and the way to it there."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server

pytestmark = [pytest.mark.req("P4")]
SETTINGS = """
server:
  authentication: [keys]
engines:
  partners: {url: "camunda://127.0.0.1:1", ui: "https://operate.example.org"}
processes:
  review-partner: {engine: partners}
"""
LINK = "https://operate.example.org/processes/2251799813685249"


@pytest.fixture(scope="module")
def key(server: Server) -> str:
    return server.make_key("ana", "admin", "compliance")


def test_home_shows_each_engine_and_which_one_is_away(eyes: Eyes, key: str) -> None:
    page = eyes.open("/", key=key)
    engines = page.get_by_role("region", name="Engines")
    expect(engines.get_by_role("listitem").filter(has_text="embedded")).to_contain_text("reachable")
    partners = engines.get_by_role("listitem").filter(has_text="partners")
    expect(partners).to_contain_text("away")
    expect(partners).to_contain_text("camunda://127.0.0.1:1 · begins review-partner")
    interface = partners.get_by_role("link", name="Open the web interface of partners")
    expect(interface).to_have_attribute("href", "https://operate.example.org")
    eyes.pictures("/", "engines", ".engines li", key=key)


def test_an_instance_names_its_engine_and_leads_to_it_there(eyes: Eyes, server: Server, key: str) -> None:
    server.sign_in(key)
    server.onboard("ENGINES-1", "4b8f0d60-6f0e-4b5e-9a35-0c1b7a1f0e01")
    page = eyes.open("/instances", key=key)
    page.locator('table a[href^="/instances/"]').first.click()
    facts = page.get_by_role("region", name="About", exact=True)
    expect(facts).to_contain_text("embedded")
    expect(facts.get_by_role("link", name="Open it there")).to_have_count(0)

    def elsewhere(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), "engine": "partners", "engine_link": LINK})

    page.route("**/api/instances/*", elsewhere)
    page.reload()
    expect(facts).to_contain_text("partners")
    expect(facts.get_by_role("link", name="Open it there")).to_have_attribute("href", LINK)
    page.unroute("**/api/instances/*")
    facts.locator('a[href^="/definitions/processes/"]').click()
    expect(page.get_by_role("region", name="Lint and proof")).to_contain_text("Instances begin on embedded")


@pytest.mark.deep
def test_axe_finds_nothing_serious_beside_engines(eyes: Eyes, key: str) -> None:
    eyes.check_accessible("/", ".engines li", key=key)

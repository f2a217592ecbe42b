"""The API described in a browser, to be tried out there, with nothing from elsewhere."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.acceptance.browser.page_views import Eyes

pytestmark = pytest.mark.req("P2")


@pytest.mark.deep
def test_an_operation_is_found_and_tried_out_under_the_strict_policy(eyes: Eyes) -> None:
    page = eyes.open("/")
    page.goto("/api/docs")
    page.get_by_role("link", name="overview", exact=True).first.click()
    operation = page.locator("[id^='operations-overview']").first
    operation.locator(".opblock-summary").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.get_by_role("button", name="Execute").click()
    expect(operation.locator(".live-responses-table tbody .response-col_status").first).to_contain_text("200")
    eyes.picture(page, "api-docs")

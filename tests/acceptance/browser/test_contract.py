"""The contract of a process in the browser: work with its policies, waits with their templates, decisions."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server
from tests.contract.contract_world import MODELS

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("B8")]


def test_a_process_shows_its_contract(eyes: Eyes, server: Server) -> None:
    text = (MODELS / "gate.bpmn").read_text(encoding="utf-8")
    model = re.sub(r'type="claim\.[a-z]+"', 'type="kyc.assign-reviewer"', text)
    policies = (MODELS / "policies.yaml").read_text(encoding="utf-8")
    server.post("/processes", {"xml": model, "profile": "contract", "policies": policies})
    page = eyes.open("/definitions/processes/approve_claim")
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("claim-${state.claim.id}")
    said = "patient: 10 attempts, 300 s each, 86400 s in all"
    expect(panel.get_by_role("row", name="Pay the claim")).to_contain_text(said)
    expect(panel.get_by_role("row", name="Approve the claim")).to_contain_text("DecideClaim")
    expect(panel).to_contain_text('=state.approval.decision = "approved"')

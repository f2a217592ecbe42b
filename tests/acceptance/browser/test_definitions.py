"""Definitions in the browser: verbs, processes with their versions and findings, packs, and deploying a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import KYC, Server

pytestmark = pytest.mark.req("P4")

MODEL = KYC / "models" / "compliance_review_v1.bpmn"
DRAWN = '.diagram-canvas[data-ready="true"]'
BAD = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="file" targetNamespace="http://bpmn.io/schema/bpmn">
  <process id="bad" isExecutable="true">
    <startEvent id="begin" name="Begin"/>
    <serviceTask id="lost" name="Nobody knows &lt;b&gt;what&lt;/b&gt;"/>
    <sequenceFlow id="f1" sourceRef="begin" targetRef="lost"/>
  </process>
</definitions>"""


def test_verbs_are_found_by_what_they_do(eyes: Eyes) -> None:
    page = eyes.open("/definitions")
    page.get_by_role("link", name="kyc.open-case", exact=True).wait_for()
    page.get_by_label("Search verbs").fill("take it to a decision")
    expect(page.locator("table tbody tr")).to_have_count(1)
    page.get_by_label("Search verbs").fill("nothing at all like this")
    expect(page.get_by_text("No verb fits")).to_be_visible()
    eyes.pictures("/definitions", "definitions", "table tbody tr")


@pytest.mark.deep
def test_a_verb_shows_its_sentences_fields_execution_and_errors(eyes: Eyes) -> None:
    page = eyes.open("/definitions/verbs/kyc.open-case")
    expect(page.get_by_text("“Open a {case_type} KYC case for {entity}”")).to_be_visible()
    takes = page.get_by_role("region", name="It takes")
    expect(takes).to_contain_text("one of new client, periodic review, event driven, required")
    execution = page.get_by_role("region", name="How it is carried out")
    expect(execution).to_contain_text("up to 3, exponential from 2 s")
    execution.get_by_role("link", name="kyc-open-case").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("kyc-open-case")
    page.goto("/definitions/verbs/kyc.assign-reviewer")
    expect(page.get_by_role("region", name="How it is carried out")).to_contain_text("NO_REVIEWER")
    eyes.pictures("/definitions/verbs/kyc.open-case", "verb", ".schema-fields")


def test_a_process_shows_its_diagram_its_versions_and_that_it_is_proved(eyes: Eyes) -> None:
    page = eyes.open("/definitions?tab=processes")
    page.get_by_role("link", name="kyc-open-case", exact=True).click()
    page.locator(DRAWN).wait_for()
    findings = page.get_by_role("region", name="Lint and proof")
    expect(findings).to_contain_text("no deadlock, no lost token")
    expect(page.get_by_role("tabpanel")).to_contain_text("1 (latest)")
    page.get_by_role("tab", name="Elements").click()
    expect(page.get_by_role("row", name="Wait for the documents")).to_be_visible()
    eyes.pictures("/definitions/processes/kyc-open-case", "process", DRAWN)


@pytest.mark.deep
def test_a_model_with_errors_is_checked_and_cannot_be_deployed(eyes: Eyes) -> None:
    page = eyes.open("/definitions")
    page.get_by_role("button", name="Deploy a model").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Deploy")).to_be_disabled()
    dialog.get_by_label("or its text").fill(BAD)
    dialog.get_by_role("button", name="Check").click()
    expect(dialog.locator(".findings .badge.bad").first).to_be_visible()
    expect(dialog.get_by_text("Nobody knows <b>what</b>").first).to_be_visible()
    expect(dialog.get_by_role("button", name="Deploy")).to_be_disabled()
    eyes.picture(page, "deploy-refused")
    dialog.get_by_label("or its text").fill("this is no XML")
    dialog.get_by_role("button", name="Check").click()
    expect(dialog.locator(".findings .badge.bad").first).to_be_visible()


def test_a_model_is_uploaded_checked_deployed_and_taken_out_of_use(eyes: Eyes, server: Server, tmp_path: Path) -> None:
    changed = tmp_path / "review.bpmn"
    text = MODEL.read_text(encoding="utf-8")
    name = text.partition('isExecutable="true"')[0].rpartition('name="')[2].partition('"')[0]
    changed.write_text(text.replace(f'name="{name}"', f'name="{name}, anew"', 1), encoding="utf-8")
    page = eyes.open("/definitions?tab=processes")
    page.get_by_role("button", name="Deploy a model").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("BPMN file").set_input_files(changed)
    dialog.get_by_role("button", name="Check").click()
    dialog.locator(DRAWN).wait_for()
    expect(dialog.locator(".badge.good")).to_contain_text("proved")
    eyes.picture(page, "deploy-checked")
    dialog.get_by_role("button", name="Deploy").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("compliance_review_v1")
    row = page.get_by_role("row", name="2 (latest)")
    row.get_by_role("button", name="Deprecate").click()
    page.get_by_role("dialog").get_by_role("button", name="Deprecate").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    retired = page.get_by_role("tabpanel").get_by_role("row").nth(1)
    retired.get_by_role("button", name="Retire").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("never used")
    page.get_by_role("dialog").get_by_role("button", name="Retire").click()
    expect(retired).to_contain_text("retired")
    versions = server.get("/processes/compliance_review_v1")["versions"]
    assert [each["status"] for each in versions] == ["active", "retired"]


@pytest.mark.deep
def test_packs_are_listed_with_their_questions(eyes: Eyes) -> None:
    page = eyes.open("/definitions?tab=packs")
    pack = page.locator("details", has_text="KYC case").first
    pack.locator("summary").first.click()
    expect(pack.locator("ol li").first).to_be_visible()
    eyes.pictures("/definitions?tab=packs", "packs", ".plain-list li")


@pytest.mark.deep
def test_axe_finds_nothing_serious_among_definitions(eyes: Eyes) -> None:
    eyes.check_accessible("/definitions", "table tbody tr")
    eyes.check_accessible("/definitions?tab=packs", ".plain-list li")
    eyes.check_accessible("/definitions/verbs/kyc.open-case", ".schema-fields")
    eyes.check_accessible("/definitions/processes/kyc-open-case", DRAWN)
    page = eyes.open("/definitions", bypass_csp=True)
    page.get_by_role("button", name="Deploy a model").click()
    page.get_by_role("dialog").wait_for()
    eyes.check_page(page)

"""The impact of a deployment in the browser: every state with its verdict, before anything is deployed."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from perdure.bpmn.model import Model
from perdure.bpmn.xml import write_model
from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server
from tests.engines.embedded.process_models import END, START, flow, fork, line, model, user

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("O10")]

FIRST = line("papers", user("collect", name="Collect the papers"), user("look", name="Check <b>all</b> papers"))
BESIDE = model(
    "papers",
    (START, fork("apart"), user("collect", name="Collect the papers"), user("inspect", name="Check <b>all</b> papers"),
     fork("together"), END),
    (flow("start", "apart"), flow("apart", "collect"), flow("apart", "inspect"), flow("collect", "together"),
     flow("inspect", "together"), flow("together", "end")),
)  # fmt: skip
RENAMED = line("papers", user("gather", name="Collect the papers"), user("look", name="Check <b>all</b> papers"))


def begun(server: Server) -> tuple[str, str]:
    """Two instances: one that collects, one that has collected."""
    server.post("/processes", {"xml": write_model(FIRST), "profile": "open"})
    body = {"process": "papers", "until": "rest"}
    collects, checks = server.post("/instances", body), server.post("/instances", body)
    server.post(f"/tasks/{checks['id']}:{checks['tokens'][0]['number']}/complete", {"data": {}})
    return collects["id"], checks["id"]


def saved(folder: Path, name: str, found: Model) -> Path:
    path = folder / f"{name}.bpmn"
    path.write_text(write_model(found), encoding="utf-8")
    return path


def test_the_states_of_a_deployment_are_shown_with_verdict_mapping_and_the_way_into_the_trap(
    eyes: Eyes, server: Server, tmp_path: Path
) -> None:
    collects, checks = begun(server)
    page = eyes.open("/")
    page.keyboard.press("g")
    page.keyboard.press("m")
    expect(page.get_by_role("heading", level=1)).to_have_text("Deploy impact")
    expect(page.get_by_role("region", name="papers")).to_contain_text("goes on")
    page.get_by_label("Profile").select_option("open")
    page.get_by_label("BPMN files").set_input_files(saved(tmp_path, "renamed", RENAMED))
    page.get_by_role("button", name="Check").click()
    region = page.get_by_role("region", name="papers")
    expect(region).to_contain_text("papers under the new version")
    row = region.get_by_role("row", name="Collect the papers")
    expect(row).to_contain_text("migrates")
    expect(row).to_contain_text("collect → gather")
    expect(row.locator(f'a[href="/instances/{collects}"]')).to_be_visible()
    page.get_by_label("BPMN files").set_input_files(saved(tmp_path, "beside", BESIDE))
    page.get_by_role("button", name="Check").click()
    row = page.get_by_role("row", name="Check <b>all</b> papers")
    expect(row).to_contain_text("stays pinned")
    expect(row).to_contain_text("together: a token waits here for ever")
    expect(row.locator("ol li").last).to_contain_text("the person completes 'inspect'")
    expect(row.locator(f'a[href="/instances/{checks}"]')).to_be_visible()
    eyes.picture(page, "impact")
    assert [each["version"] for each in server.get("/processes/papers")["versions"]] == [1], "nothing was deployed"
    eyes.pictures("/impact", "impact-latest", "table tbody tr")


def test_a_file_that_was_saved_again_after_it_was_chosen_has_to_be_chosen_again(
    eyes: Eyes, server: Server, tmp_path: Path
) -> None:
    begun(server)
    page = eyes.open("/impact")
    page.get_by_label("Profile").select_option("open")
    page.get_by_label("BPMN files").set_input_files(saved(tmp_path, "papers", RENAMED))
    saved(tmp_path, "papers", BESIDE)
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose it again.")
    page.get_by_label("BPMN files").set_input_files(tmp_path / "papers.bpmn")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("region", name="papers")).to_contain_text("stays pinned")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_model_that_would_be_refused_says_why(eyes: Eyes, tmp_path: Path) -> None:
    path = tmp_path / "broken.bpmn"
    path.write_text("this is no model", encoding="utf-8")
    page = eyes.open("/impact")
    page.get_by_label("BPMN files").set_input_files(path)
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_role("alert")).to_be_visible()


@pytest.mark.deep
def test_axe_finds_nothing_serious_on_the_page_of_impact(eyes: Eyes, server: Server) -> None:
    begun(server)
    eyes.check_accessible("/impact", "table tbody tr")

"""Incidents and dead letters in the browser: why, what helps, one by one and many at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.acceptance.browser.claims_office import CLAIMS, call, filed, mend
from tests.acceptance.browser.page_views import Eyes
from tests.acceptance.browser.server import Server

pytestmark = [pytest.mark.req("P4"), pytest.mark.req("V20")]

PROJECT = CLAIMS


@pytest.fixture
def broken(server: Server) -> Iterator[None]:
    """Nothing is mended, before and after."""
    (server.folder / "mended").unlink(missing_ok=True)
    yield
    (server.folder / "mended").unlink(missing_ok=True)


def test_what_is_stuck_appears_by_itself_with_its_cause_and_the_acts_that_apply(
    eyes: Eyes, server: Server, broken: None
) -> None:
    page = eyes.open("/incidents")
    page.locator('[data-live="live"]').wait_for()
    instance = filed(server, "BROKEN-1")
    item = page.locator(".stuck-item", has=page.locator(f'a[href="/instances/{instance}"]')).first
    expect(item).to_contain_text("Every attempt has failed")
    expect(item).to_contain_text("the register of claims does not answer")
    expect(item.get_by_role("button")).to_have_text(["Try again", "End it by hand", "Stop it"])
    eyes.pictures("/incidents", "incidents", ".stuck-item")


def test_one_is_tried_again_and_is_gone_once_it_is_mended(eyes: Eyes, server: Server, broken: None) -> None:
    instance = filed(server, "BROKEN-2")
    page = eyes.open("/incidents")
    item = page.locator(".stuck-item", has=page.locator(f'a[href="/instances/{instance}"]')).first
    mend(server)
    item.get_by_role("button", name="Try again").click()
    page.get_by_role("dialog").get_by_role("button", name="Try again").click()
    expect(item).to_have_count(0)
    assert server.get(f"/instances/{instance}")["incidents"] == []


def test_a_retry_that_has_become_graver_is_confirmed_in_its_dialog(eyes: Eyes, server: Server, broken: None) -> None:
    id = call(server, "claim.file", claim="BROKEN-9", amount=3)["id"]
    asked = {"code": "plan.unconfirmed", "detail": "it has to be confirmed", "plan_hash": "sha256:1", "phrase": "run 1"}

    def guard(route: Route) -> None:
        """The server's answer where a called process has become graver; what is confirmed goes through to it."""
        if route.request.post_data_json == {"confirm": asked["plan_hash"], "phrase": asked["phrase"]}:
            route.continue_()
        else:
            route.fulfill(status=423, content_type="application/problem+json", json=asked)

    page = eyes.open(f"/runbooks/{id}?step=claim.file")
    page.route("**/api/calls/*/retry", guard)
    mend(server)
    page.get_by_role("button", name="Retry", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Retry").click()
    expect(dialog.get_by_role("alert")).to_contain_text("it has to be confirmed")
    expect(dialog.get_by_role("button", name="Retry")).to_be_disabled()
    dialog.get_by_label("Type run 1 to authorise").fill("run 1")
    dialog.get_by_role("button", name="Retry").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("region", name="Steps").get_by_text("incident")).to_have_count(0)


@pytest.mark.deep
def test_one_is_ended_by_hand_with_a_result(eyes: Eyes, server: Server, broken: None) -> None:
    instance = filed(server, "BROKEN-3")
    page = eyes.open("/incidents")
    item = page.locator(".stuck-item", has=page.locator(f'a[href="/instances/{instance}"]')).first
    item.get_by_role("button", name="End it by hand").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Group that approves").fill("administrators")
    dialog.get_by_label("Reason").fill("looked it up")
    dialog.get_by_role("button", name="Resolve").click()
    expect(item).to_have_count(0)
    assert server.get(f"/instances/{instance}")["incidents"] == []


@pytest.mark.deep
def test_many_are_tried_again_at_once_and_each_is_answered_by_itself(eyes: Eyes, server: Server, broken: None) -> None:
    instances = [filed(server, f"BROKEN-4{each}") for each in "abc"]
    page = eyes.open("/instances")
    page.route("**/api/events*", lambda route: route.abort())
    page.goto("/incidents")
    for instance in instances:
        item = page.locator(".stuck-item", has=page.locator(f'a[href="/instances/{instance}"]')).first
        item.get_by_role("checkbox").check()
    server.post(f"/instances/{instances[0]}/cancel", {"reason": "gone meanwhile"})
    mend(server)
    page.get_by_role("button", name="Retry 3 chosen").click()
    outcomes = page.locator(".outcomes")
    expect(outcomes).to_contain_text("2 of 3 tried again, 1 refused.")
    eyes.picture(page, "incidents-retried")
    outcomes.locator("summary").click()
    expect(outcomes).to_contain_text(instances[1])
    states = [server.get(f"/instances/{each}")["incidents"] for each in instances[1:]]
    assert states == [[], []]


@pytest.mark.deep
def test_everything_shown_is_chosen_and_let_go_by_one_box(eyes: Eyes, server: Server, broken: None) -> None:
    filed(server, "BROKEN-5")
    page = eyes.open("/incidents")
    page.locator(".stuck-item").first.wait_for()
    everything = page.get_by_label("Choose all", exact=False)
    everything.check()
    expect(page.locator(".stuck-item input:not(:checked)")).to_have_count(0)
    everything.uncheck()
    expect(page.get_by_role("button", name="Retry chosen")).to_be_disabled()


def test_a_dead_letter_is_replayed_under_the_key_it_was_meant_for(eyes: Eyes, server: Server) -> None:
    loan = call(server, "loan.approve", loan="L-9")
    sent = server.api.post(
        "/api/completions", json={"key": "loan/L-one", "result": {"agreed": True}, "message_id": "m1"}
    )
    assert sent.status_code == 404
    page = eyes.open("/incidents?tab=letters")
    letter = page.locator(".stuck-item", has_text="loan/L-one")
    expect(letter).to_contain_text("Nobody waits, or ever waited, under this key")
    eyes.pictures("/incidents?tab=letters", "letters", ".stuck-item")
    letter.get_by_role("button", name="Replay").click()
    page.get_by_label("Under another key").fill("loan/L-9")
    page.get_by_role("dialog").get_by_role("button", name="Replay").click()
    expect(page.get_by_text("Delivered", exact=True)).to_be_visible()
    expect(letter).to_have_count(0)
    assert server.get(f"/calls/{loan['id']}")["result"] == {"agreed": True}


@pytest.mark.deep
def test_a_dead_letter_is_discarded_with_a_reason_and_not_without(eyes: Eyes, server: Server) -> None:
    server.post("/messages", {"name": "nothing_waits", "key": "for/this"})
    page = eyes.open("/incidents?tab=letters")
    letter = page.locator(".stuck-item", has_text="for/this")
    letter.get_by_role("button", name="Discard").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Discard")).to_be_disabled()
    dialog.get_by_label("Reason").fill("wrong address")
    dialog.get_by_role("button", name="Discard").click()
    expect(letter).to_have_count(0)


@pytest.mark.deep
def test_axe_finds_nothing_serious_among_incidents(eyes: Eyes, server: Server, broken: None) -> None:
    filed(server, "BROKEN-6")
    server.post("/messages", {"name": "nothing_waits", "key": "for/that"})
    eyes.check_accessible("/incidents", ".stuck-item")
    eyes.check_accessible("/incidents?tab=letters", ".stuck-item")

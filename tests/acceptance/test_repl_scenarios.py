"""The golden conversations, through a real pseudo-terminal: six journeys from the first word to the end of the run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.pseudo_terminal import Terminal
from tests.surfaces.repl.terminal_project import opened_firm, talking

FEWEST = 5
"""A journey asks fewer questions than this."""


@pytest.fixture
def firm(tmp_path: Path) -> Path:
    opened_firm(tmp_path)
    return tmp_path


@pytest.fixture
def terminal(firm: Path) -> Iterator[Terminal]:
    with talking(firm) as terminal:
        terminal.opened()
        yield terminal


def questions(shown: str) -> int:
    """How many questions a journey asked, confirmations included."""
    return len(re.findall(r"\?(?: \[[^\]]*\])?$", shown, re.MULTILINE))


@pytest.mark.req("V28")
def test_a_onboarding_request_with_four_products(terminal: Terminal) -> None:
    assert "Which products?" in terminal.tell("onboard Nordlys Capital A/S")
    shown = terminal.tell("custody, lending, derivatives and reporting")
    assert "Onboard Nordlys Capital A/S with 4 products: custody, lending, derivatives," in shown
    for number, said in enumerate(
        ["Open an onboarding request for Nordlys Capital A/S", "Add custody to the request",
         "Add lending to the request", "Add derivatives to the request", "Add reporting to the request"], 1,
    ):  # fmt: skip
        assert f"{number}. {said}" in shown
    terminal.tell("yes")
    shown = terminal.tell("run")
    assert "5 of 5 steps complete" in shown
    assert "✓ Request opened" in shown
    assert questions(terminal.everything) < FEWEST


@pytest.mark.req("V28")
def test_b_book_setup_from_its_template(terminal: Terminal) -> None:
    assert "What is the book called?" in terminal.tell("set up a book")
    assert "In which currency? [EUR]" in terminal.tell("ALPHA")
    assert "Which desk gets it? [rates]" in terminal.tell("usd")
    shown = terminal.tell("")
    assert "Set up the USD book ALPHA for the rates desk." in shown
    assert "1. Create the USD book ALPHA" in shown
    assert "the pack's default" in terminal.tell("why 3")
    assert "Order: book → set_limit → assign_desk" in terminal.tell("yes", "run")
    assert "3 of 3 steps complete" in terminal.everything
    assert questions(terminal.everything) < FEWEST


@pytest.mark.req("V28")
def test_c_a_kyc_case_for_a_name_that_two_clients_have(terminal: Terminal) -> None:
    shown = terminal.tell("open a kyc case for Allianz")
    assert "Which 'Allianz' do you mean?" in shown
    assert "1. " in shown
    assert "Allianz Global Investors GmbH" in shown
    terminal.tell("Allianz SE")
    shown = terminal.tell("periodic review")
    assert "Open a periodic review KYC case for Allianz SE" in shown
    shown = terminal.tell("yes", "run")
    assert "Run 2 steps? [y/N]" in shown
    assert "Nothing was run." in terminal.tell("")
    shown = terminal.tell("run", "y")
    assert "2 of 2 steps complete" in shown
    assert "✓ Case opened" in shown


@pytest.mark.req("V28")
def test_d_the_name_of_a_pack_asks_only_its_slots(terminal: Terminal) -> None:
    shown = terminal.tell("kyc-case")
    assert "Which client is the case for?" in shown
    assert "Which journey" not in shown
    terminal.tell("nordlys")
    assert "Is that right?" in terminal.tell("new client")
    terminal.tell("new")
    assert "Is that right?" in terminal.tell("book-setup name=BETA currency=GBP desk=credit")


@pytest.mark.req("V1", "V28")
def test_e_a_typed_call_is_played_back_and_confirmed(terminal: Terminal) -> None:
    shown = terminal.tell('(book.create :name "GAMMA" :currency "EUR" :as @b)')
    assert "1. Create the EUR book GAMMA" in shown
    assert "Add it to the plan? [Y/n]" in shown
    assert "Nothing is planned yet" in terminal.tell("no", "status")
    terminal.tell('(book.create :name "GAMMA" :currency "EUR" :as @b)', "yes")
    assert "Did you mean" in terminal.tell("(book.set-limt :book @b.book_id :limit 5)")
    assert "Set the limit of the book to 5" in terminal.tell("(book.set-limit :book @b.book_id :limit 5)")
    shown = terminal.tell("yes", "run")
    assert "2 of 2 steps complete" in shown


@pytest.mark.req("V28")
def test_f_a_handoff_asks_only_what_is_new(terminal: Terminal) -> None:
    terminal.tell("start kyc on Nordlys", "periodic review", "yes", "run")
    assert "'handoff' goes on with onboarding-request" in terminal.tell("y")
    shown = terminal.tell("handoff")
    assert "client: Nordlys Capital A/S (from the runbook before)" in shown
    assert "Which client?" not in shown
    assert "Which products?" in shown
    assert "Add custody to the request" in terminal.tell("custody")
    assert "copied from the runbook before" in terminal.tell("why 1")
    assert "2 of 2 steps complete" in terminal.tell("yes", "run")

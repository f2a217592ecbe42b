"""Runbooks of many steps are told step by step, and cost what they weigh."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perdure.app.compliance_export.document import Chain
from perdure.app.compliance_export.verification import check_document
from tests.app.compliance_export.test_bounds import work_of
from tests.app.compliance_export.test_golden import chain_of, told
from tests.runbooks.machine.replayed_runbook import ASKER, Board, choice, step


def chain_on(board: Board) -> Chain:
    """Every entry in a record of its own."""
    encode = board.machine.records.encode
    return chain_of("runbook", [encode(each.at, "Tried", ASKER, (each,)) for each in board.entries])


def on(board: Board) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(told(chain_on(board)))
    return document


@pytest.mark.req("V30")
def test_every_step_of_a_plan_is_told_under_its_name() -> None:
    board = Board(
        step("a"), step("b", needs=(1,)), choice("c", 2), step("d", sides=((3, True),)), step("e", after=(1,))
    )
    board.runs("a")
    board.launch("b", "e")
    board.fails("e")
    board.done("b")
    document = on(board)
    assert [(each["number"], each["name"], each["verb"], each["state"]) for each in document["steps"]] == [
        (number, name, "" if name == "c" else name, board.states[name]) for number, name in enumerate("abcde", 1)
    ]
    assert [(each["where"], each["what"]) for each in document["data"]] == [
        ("step 1", "input"), ("step 1", "result"), ("step 2", "input"), ("step 5", "input"), ("step 2", "result"),
    ]  # fmt: skip
    outcomes = {each["where"]: each["outcome"] for each in document["frames"]}
    assert outcomes == {"step 1": "completed", "step 2": "completed", "step 5": "failed"}
    assert document["steps"][4]["error"] == "refused: They said no."
    assert {each.code for each in check_document(told(chain_on(board))).findings} == {"AUD011"}


@pytest.mark.req("V30")
def test_a_plan_is_told_without_quadratic_cost() -> None:
    works = []
    for count in (30, 60, 120):
        board = Board(*(step(f"s{number}") for number in range(count)))
        for number in range(count):
            board.runs(f"s{number}")
        chain = chain_on(board)
        works.append(work_of(lambda chain=chain: told(chain)))  # type: ignore[misc]
    one, two, four = works
    assert four - two < 2.4 * (two - one)

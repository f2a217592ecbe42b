"""The KYC example from a terminal, on both stores: every command a process of its own, nothing shared but the store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands import Shell

EXTRACT = json.dumps({"documents": [{"document": "register-extract", "reference": "document://1"}]})


@pytest.fixture
def shell(kyc: Path, store_url: str) -> Iterator[Shell]:
    """Commands on the example, and one worker that looks after what they begin."""
    shell = Shell(kyc, store_url)
    worker = shell.start("worker")
    yield shell
    worker.terminate()
    worker.communicate(timeout=60)


def until(shell: Shell, is_so: Callable[[dict[str, Any]], bool], *words: str) -> dict[str, Any]:
    """Ask until what is shown is as wanted; the worker needs a moment."""
    while True:
        shown: dict[str, Any] = shell.json(*words)
        if is_so(shown):
            return shown


def standing_at(shell: Shell, instance: str, element: str) -> dict[str, Any]:
    """The instance, once a token stands there and nowhere else."""
    return until(
        shell, lambda shown: [token["element"] for token in shown["tokens"]] == [element], "instances", "show", instance
    )


def opened(shell: Shell) -> tuple[str, dict[str, Any]]:
    """A case that waits for its documents: its call, and its instance."""
    call = shell.json("call", "kyc.open-case", "entity=Allianz GmbH", "case_type=periodic-review")
    carried = until(shell, lambda shown: bool(shown["carrier"]["instance"]), "status", call["id"])
    return call["id"], standing_at(shell, carried["carrier"]["instance"], "wait_documents")


@pytest.mark.req("V26")
def test_a_case_is_opened_documented_reviewed_and_approved(shell: Shell) -> None:
    call, instance = opened(shell)
    assert instance["completed"][:2] == ["kyc.create-case-record", "kyc.request-documents"]
    case_id = instance["flags"]["orch_case_id"]

    first = shell.run("message", "publish", "docs_received", case_id, "--data", EXTRACT, "--id", "m1")
    assert "correlated" in first.out
    again = shell.run("message", "publish", "docs_received", case_id, "--data", EXTRACT, "--id", "m1")
    assert "counted once" in again.out

    standing_at(shell, instance["id"], "review")
    (task,) = shell.json("tasks", "list", "--group", "compliance")
    assert (task["element"], task["assignee"]) == ("review", "rita")
    shell.run("tasks", "complete", task["key"], "--data", '{"outcome": "perhaps"}', "--as", "rita", code=2)
    shell.run("tasks", "complete", task["key"], "--data", '{"outcome": "approved"}', "--as", "rita")

    done = until(shell, lambda shown: shown["state"] == "completed", "status", call)
    assert done["result"] == {"case_id": case_id, "review_decision": "approved"}
    assert done["sentence"] == "Open a periodic review KYC case for Allianz GmbH"
    assert "Documents" not in shell.run("status", call).out
    shell.run("audit", "verify")


@pytest.mark.req("V23")
def test_a_case_is_cancelled_and_nothing_waits_for_it_any_more(shell: Shell) -> None:
    call, instance = opened(shell)
    shell.run("cancel", call, "--reason", "asked for by mistake")
    assert shell.json("status", call)["state"] == "cancelled"
    until(shell, lambda shown: shown["state"] == "cancelled", "instances", "show", instance["id"])
    shell.run("message", "publish", "docs_received", instance["flags"]["orch_case_id"], code=1)
    assert shell.json("parked") == []


@pytest.mark.req("V10")
def test_models_verbs_and_scenarios_of_the_example_are_clean(kyc: Path) -> None:
    shell = Shell(kyc)
    assert "nothing to say against them" in shell.run("verbs", "lint").out
    assert shell.json("lint", "models", "--target", "temporal")["findings"] == []
    found = shell.json("lint", "models", "--target", "camunda", code=1)["findings"]
    assert {each["code"] for each in found} == {"PRT122"}  # Camunda 8 keeps no four eyes
    outcomes = shell.run("scenario", "run", "scenarios", "--json").json
    assert outcomes and all(outcome["passed"] for outcome in outcomes)

"""Documents by commands: handed in, rejected, handed in again, verified, found, written out, erased."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.surfaces.cli.exit_codes import INTEGRITY
from tests.acceptance.commands import Shell
from tests.documents.papers import DEFINITIONS, PDF


@pytest.mark.req("T6", "P6")
def test_a_document_lives_its_life_by_commands(tmp_path: Path, sqlite_url: str) -> None:
    (tmp_path / "verbs").mkdir()
    (tmp_path / "verbs" / "papers.yaml").write_text(DEFINITIONS)
    (tmp_path / "perdure.yaml").write_text("definitions: [verbs]\nblobs: papers\n")
    (tmp_path / "scan.pdf").write_bytes(PDF)
    desk = Shell(tmp_path, sqlite_url)
    made = desk.json("documents", "create", "passport", "--subject", "anna", "--file", "scan.pdf")
    assert (made["status"], made["versions"][0]["received_by"]) == ("pending", "ana")
    id, officer = made["id"], ("--as", "olga", "--group", "compliance")
    assert "four eyes" in desk.run("documents", "verify", id, "--version", "1", "--group", "compliance", code=7).error
    held = desk.json("documents", "reject", id, "--version", "1", "--reason", "blurred", *officer)
    assert held["versions"][0]["reason"]["next_action"] == "ask_again"
    desk.run(
        "documents", "receive", id, "--file", "scan.pdf", "--data", '{"name": "Müller"}', "--valid-to", "2099-01-01"
    )
    assert desk.json("documents", "verify", id, "--version", "2", *officer)["status"] == "verified"
    assert [each["id"] for each in desk.json("documents", "list", "--text", "muller")] == [id]
    assert "verified" in desk.run("documents", "show", id).out
    desk.run("documents", "download", id, "--version", "2", "--to", "copy.pdf")
    assert (tmp_path / "copy.pdf").read_bytes() == PDF
    assert "exists already" in desk.run("documents", "download", id, "--version", "2", "--to", "copy.pdf", code=2).error
    assert desk.json("documents", "content", id, "--version", "2")["data"] == {"name": "Müller"}
    assert [each["entry"] for each in desk.json("documents", "events", id)].count("ContentRead") == 2
    assert "BLURRED" in desk.run("documents", "reasons").out and "passport" in desk.run("documents", "types").out
    assert desk.json("documents", "collect", "--dry")["blobs"] == 0
    (file,) = [each for each in (tmp_path / "papers").rglob("*") if each.is_file()]
    file.write_bytes(b"forged")
    assert "AUD036" in desk.run("audit", "verify", "--dry", code=INTEGRITY).out
    assert "it is not JSON" in desk.run("documents", "receive", id, "--data", "{", code=2).error
    assert "decided by" in desk.run("documents", "show", id).out
    assert "verified, valid to 2099-01-01" in desk.run("documents", "show", id).out
    assert desk.json("documents", "erase", id, "--reason", "asked")["erased_at"]


LIFECYCLE = """
workflow: papers
states:
  OPEN:
    requirements:
      - type: document_set
        document_types: [passport]
        id: papers
        on_fail:
          blocker:
            resolution: "(document.solicit :subject-entity-id $subject :document-type passport)"
            expected: 2
            auto: true
  DONE: {terminal: true}
transitions: [{from: OPEN, to: DONE}]
"""


@pytest.mark.req("T3", "P6")
def test_a_request_is_shown_and_answered_by_commands_alone(tmp_path: Path, sqlite_url: str) -> None:
    (tmp_path / "papers.yaml").write_text(DEFINITIONS)
    (tmp_path / "lifecycles").mkdir()
    (tmp_path / "lifecycles" / "papers.yaml").write_text(LIFECYCLE)
    (tmp_path / "perdure.yaml").write_text("definitions: [papers.yaml]\n")
    (tmp_path / "scan.pdf").write_bytes(PDF)
    desk = Shell(tmp_path, sqlite_url)
    id = desk.json("lifecycles", "start", "papers", "anna")["instance"]["id"]
    key = desk.json("lifecycles", "show", id)["tasks"][0]["correlation_id"]
    told = desk.run("documents", "request", key).out
    assert "(passport): open, attempt 1, 0 of 2 came" in " ".join(told.split())
    given = ("--request", key, "--source", "mail", "--source-ref", "letter 7")
    made = desk.json("documents", "create", "passport", "--subject", "anna", "--file", "scan.pdf", *given)
    assert (made["correlation_id"], made["versions"][0]["source"]) == (key, "mail")
    assert [each["id"] for each in desk.json("documents", "list", "--request", key)] == [made["id"]]
    page = desk.json("documents", "create", "passport", "--subject", "anna", "--parent", made["id"])
    assert page["parent"] == made["id"]
    again = desk.json("documents", "receive", made["id"], "--file", "scan.pdf", *given)
    assert again["versions"][1]["source"] == "mail"


@pytest.mark.req("T3", "P6")
def test_a_bundle_is_brought_by_one_command(tmp_path: Path, sqlite_url: str) -> None:
    (tmp_path / "papers.yaml").write_text(DEFINITIONS)
    (tmp_path / "lifecycles").mkdir()
    (tmp_path / "lifecycles" / "papers.yaml").write_text(LIFECYCLE)
    (tmp_path / "perdure.yaml").write_text("definitions: [papers.yaml]\n")
    desk = Shell(tmp_path, sqlite_url)
    id = desk.json("lifecycles", "start", "papers", "anna")["instance"]["id"]
    key = desk.json("lifecycles", "show", id)["tasks"][0]["correlation_id"]
    cargo = ("--cargo", "entity://default/1", "--cargo", "entity://default/2")
    told = desk.json("lifecycles", "complete-task", key, *cargo)
    assert (told["answer"], told["task"]["status"], told["task"]["received"]) == ("accepted", "completed", 2)
    unknown = desk.run("lifecycles", "complete-task", "task-abc-123", *cargo, code=3).error
    assert "complete task 'task-abc-123', but there is no such task" in " ".join(unknown.split())

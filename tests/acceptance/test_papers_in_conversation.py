"""A client's papers by commands and in a conversation: asked for, rejected, waived, replaced, decided on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.acceptance.commands import Shell

DEFINITIONS = """
documents:
  passport:
    data_schema: {properties: {name: {type: string, required: true}}}
    verify: {groups: [compliance]}
  extract:
    data_schema: {properties: {number: {type: string, required: true}}}
"""
LIFECYCLE = """
lifecycle: onboarding
states:
  OPEN:
    requirements:
      - type: document_exists
        document_type: passport
        on_fail:
          blocker:
            type: MissingDocument
            resolution: "(document.solicit :subject-entity-id $subject :document-type passport)"
            expires: P10D
      - {type: document_exists, document_type: extract}
  REVIEW:
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: REVIEW}
  - {from: REVIEW, to: DONE, manual: true, role: compliance, reason: required}
"""
OFFICER = ("--as", "olga", "--group", "compliance")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "lifecycles").mkdir()
    (tmp_path / "perdure.yaml").write_text("definitions: [verbs.yaml]\n")
    (tmp_path / "verbs.yaml").write_text(DEFINITIONS)
    (tmp_path / "lifecycles" / "onboarding.yaml").write_text(LIFECYCLE)
    return Shell(tmp_path, f"sqlite:///{tmp_path / 'papers.db'}")


def correlation(shell: Shell, id: str) -> str:
    return str(shell.json("lifecycles", "show", id)["tasks"][-1]["correlation_id"])


@pytest.mark.req("T2", "T7", "V28")
def test_a_clients_papers_are_talked_through(shell: Shell) -> None:
    id = shell.json("lifecycles", "start", "onboarding", "nordlys")["instance"]["id"]
    said = shell.run("repl", text="lifecycles\nlifecycle 1\nresolve passport of 1\nlifecycle 1\nquit\n").out
    assert re.search(r"1\s+nordlys\s+onboarding\s+OPEN\s+passport, extract", said)
    assert "no document 'passport'" in said and "document.solicit" in said
    assert "asked for" not in said.partition("Asked for; it waits under")[0]
    assert "attempt 1, until" in said.partition("Asked for; it waits under")[2]

    made = shell.json("documents", "create", "passport", "--subject", "nordlys", "--data", '{"name": "Ingrid Solberg"}')
    refused = shell.run("repl", text="documents ingrid\nverify 1 version 1\nquit\n").out
    assert re.search(r"1\s+passport\s+nordlys\s+pending", refused)
    assert "Expected to verify" in refused, "the conversation decides nothing that its speaker may not"
    said = shell.run("repl", *OFFICER, text="documents\nreject document 1 version 1 as blurred\ndocument 1\nquit\n").out
    assert "Version 1 is rejected; the document is rejected." in said and "BLURRED" in said

    shell.run("documents", "receive", made["id"], "--data", '{"name": "Ingrid Solberg"}')
    shell.run("documents", "create", "extract", "--subject", "nordlys", "--data", '{"number": "9"}')
    lines = ("documents", "verify document 1 version 1", "verify 2 version 2", "lifecycles",
             "transit 1 to DONE because all is there", "quit")  # fmt: skip
    said = shell.run("repl", *OFFICER, text="\n".join(lines)).out
    assert said.count("the document is verified") == 2
    assert "nordlys is in DONE now." in said
    assert shell.json("lifecycles", "show", id)["history"][-1]["reason"] == "all is there"


@pytest.mark.req("V28")
def test_a_number_that_no_list_has_shown_means_nothing(shell: Shell) -> None:
    said = shell.run("repl", text="lifecycle 7\ndocument 1\ndocuments -nobody\nquit\n").out
    assert said.count("the list that was shown last has no such row") == 2


@pytest.mark.req("T7", "P6")
def test_a_document_is_waived_and_replaced_and_its_request_is_shown_by_commands(shell: Shell) -> None:
    id = shell.json("lifecycles", "start", "onboarding", "nordlys")["instance"]["id"]
    shell.run("lifecycles", "resolve", id, "passport")
    key = correlation(shell, id)
    asked = shell.json("documents", "request", key)
    assert (asked["status"], asked["document_type"], asked["attempt"]) == ("open", "passport", 1)
    assert "Ask a server" in shell.run("documents", "token", key, code=5).error
    assert "Expected to" in shell.run("documents", "request", f"{key}9", code=3).error

    why = ("--subject", "nordlys", "--reason", "known for years")
    assert shell.run("documents", "waive", "passport", *why, code=7).error.startswith("✗ Expected to")
    waived = shell.json("documents", "waive", "passport", *why, "--request", key, *OFFICER)
    assert (waived["status"], waived["versions"][0]["source"]) == ("verified", "waiver")
    assert "waiver" in shell.run("documents", "show", waived["id"]).out

    first, second = (
        shell.json("documents", "create", "extract", "--subject", "nordlys", "--data", f'{{"number": "{number}"}}')
        for number in (1, 2)
    )
    shell.run("documents", "verify", first["id"], "--version", "1")
    assert shell.json("lifecycles", "show", id)["state"] == "REVIEW"
    held = shell.json("documents", "supersede", first["id"], "--by", second["id"], "--note", "newer")
    assert (held["status"], held["superseded_by"]) == ("superseded", second["id"])

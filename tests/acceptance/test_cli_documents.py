"""A call is handed on as one document, and whoever gets it checks it without a store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.commands import Shell

KEY = "seal.key.pub"


@pytest.fixture
def parked(project_on_store: Shell) -> str:
    shell = project_on_store
    config = shell.folder / "perdure.yaml"
    config.write_text(config.read_text() + "\nseal: {key_file: seal.key}\n")
    call = shell.json("call", '(desk.wait :who "Ana <b>Lund</b>" :number 7)')
    shell.json("complete", f"{call['id']}:1", "--result", '{"seen": true}', "--id", "m-1")
    return str(call["id"])


@pytest.mark.req("V30")
@pytest.mark.parametrize("name", ["call.json", "call.html"])
def test_a_document_is_written_and_checked_elsewhere(
    project_on_store: Shell, parked: str, name: str, tmp_path: Path
) -> None:
    shell = project_on_store
    shell.run("audit", "seal")
    assert f"written to {name}" in shell.run("audit", "export", parked, "-o", name).out
    elsewhere = Shell(tmp_path / "store_changed")
    elsewhere.folder.mkdir()
    for each in (name, KEY):
        (elsewhere.folder / each).write_bytes((shell.folder / each).read_bytes())
    told = elsewhere.json("audit", "verify", name, "--key", KEY, "--require-sealed")
    assert (told["ok"], told["findings"], told["notes"]) == (True, [], [])
    shown = elsewhere.run("audit", "verify", name).out
    assert "is whole" in shown and "only against the key inside" in " ".join(shown.split())
    content = (elsewhere.folder / name).read_bytes()
    assert b"Ana &lt;b&gt;Lund" in content or name == "call.json"
    (elsewhere.folder / name).write_bytes(content.replace(b"desk.wait", b"desk.wake", 1))
    assert "✗" in elsewhere.run("audit", "verify", name, "--key", KEY, code=9).out


@pytest.mark.req("V30")
def test_a_document_tells_what_was_asked_and_what_came(project_on_store: Shell, parked: str) -> None:
    shell = project_on_store
    told = shell.json("audit", "export", parked, "-o", "call.json")
    document = json.loads((shell.folder / told["document"]).read_bytes())
    assert document["summary"]["sentences"] == ["Wait once"]
    assert [(each["what"], [change["path"] for change in each["changes"]]) for each in document["data"]] == [
        ("input", ["/number", "/who"]), ("result", ["/seen"]),
    ]  # fmt: skip
    assert [each["message_id"] for each in document["messages"]] == ["m-1"]
    shell.run("audit", "export", parked, "-o", "page", "--html")
    assert (shell.folder / "page").read_bytes().startswith(b"<!DOCTYPE html>")


@pytest.mark.req("V30")
def test_what_cannot_be_exported_says_why(project_on_store: Shell, parked: str) -> None:
    shell = project_on_store
    refused = shell.run("audit", "export", parked, "-o", "x.json", "--tenant", "other", "--json", code=3)
    assert refused.told["code"] == "rejected.not_found" or "no such call" in refused.error
    assert not (shell.folder / "x.json").exists()
    assert "one of -o FILE and --out DIR" in shell.run("audit", "export", parked, code=2).error
    assert "one of -o FILE and --out DIR" in shell.run("audit", "export", "-o", "a", "--out", "b", code=2).error
    assert "about one call" in shell.run("audit", "export", parked, parked, "-o", "x.json", code=2).error
    assert "cannot be written" in shell.run("audit", "export", parked, "-o", "no/where/x.json", code=2).error
    assert "cannot be read" in shell.run("audit", "verify", "nothing.json", code=2).error

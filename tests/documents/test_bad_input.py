"""Bad input over HTTP and by commands: one clear sentence each, and nothing is lost."""

from __future__ import annotations

import json
import zipfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from perdure import BusinessError, unpacked
from perdure.verbs import Call
from tests.acceptance.commands import Shell
from tests.documents.papers import PDF, PNG
from tests.surfaces.http.sandbox_server import Server, served

DEFINITIONS = """
documents:
  letter:
    content: {media_types: [application/pdf], max_bytes: 100000}
  scans:
    content: {media_types: [application/zip]}
    extracted_schema: {properties: {files: {type: integer, required: true}}}
    extraction: {verb: lab.read}
verbs:
  - name: lab.read
    args: [{name: reference, type: string, required: true}]
    execution: {kind: sync, effects: external}
  - name: papers.ask
    args: [{name: client, type: string, required: true}, {name: correlation-id, type: string}]
    metadata: {creates_pending_task: true}
    execution: {kind: sync, effects: external}
"""
LIFECYCLE = """
lifecycle: papers
states:
  OPEN:
    requirements:
      - type: field_present
        field: task_result:passport
        id: passport
        on_fail:
          blocker:
            {type: MissingDocument, resolution: "(papers.ask :client $subject)", auto: true, expires: P10D}
  DONE: {terminal: true}
transitions: [{from: OPEN, to: DONE}]
"""
HANDLERS = """
from perdure import unpacked, verb


@verb("papers.ask")
def ask(call):
    return {}


@verb("lab.read")
async def read(call):
    content = await call.resolve(f"{call.args['reference']}/content")
    return {"fields": {"files": sum(1 for _ in unpacked(content, max_bytes=1_000_000))}}
"""
NOBODY = "0" * 26


def ask(call: Call) -> dict[str, Any]:
    return {}


async def read(call: Call) -> dict[str, Any]:
    content = await call.resolve(f"{call.args['reference']}/content")
    return {"fields": {"files": sum(1 for _ in unpacked(content, max_bytes=1_000_000))}}


def bomb() -> bytes:
    """A few kilobytes that unpack to five megabytes."""
    held = BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("../../etc/passwd"), b"\0" * 5_000_000, zipfile.ZIP_DEFLATED)
    return held.getvalue()


def opened(tmp_path: Path) -> Any:
    bound = {"papers.ask": ask, "lab.read": read}
    return served(verbs=DEFINITIONS, handlers=bound, blobs=tmp_path / "blobs")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    place = tmp_path / "project"
    (place / "lifecycles").mkdir(parents=True)
    (place / "perdure.yaml").write_text("definitions: [verbs.yaml]\nhandlers: [our_papers]\n")
    (place / "verbs.yaml").write_text(DEFINITIONS)
    (place / "our_papers.py").write_text(HANDLERS)
    (place / "lifecycles" / "papers.yaml").write_text(LIFECYCLE)
    return Shell(place)


async def letter(server: Server) -> str:
    return str((await server.of("olga").post("/api/documents", {"type": "letter", "subject": "anna"}, 201))["id"])


async def sent(server: Server, id: str, content: bytes, media: str = "application/pdf", **headers: str) -> Any:
    given = {"Content-Type": media, **headers}
    return await server.of("olga").ask("POST", f"/api/documents/{id}/content", content=content, headers=given)


def handed_in(shell: Shell, content: bytes, code: int = 0, name: str = "scan.pdf", kind: str = "letter") -> str:
    """What a command says to a file."""
    (shell.folder / "scan.pdf").write_bytes(content)
    ended = shell.run("documents", "create", kind, "--subject", "anna", "--file", name, "--json", code=code)
    return ended.error or ended.out


def kept(shell: Shell) -> Any:
    return shell.json("documents", "list")


@pytest.mark.req("T8")
async def test_a_file_of_the_wrong_media_type(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        id = await letter(server)
        lie = await sent(server, id, PNG)
        assert (lie.status_code, lie.json()["detail"]) == (
            422,
            "Expected to receive document of type 'letter', but it is said to be application/pdf and its content is "
            "image/png. Send the file as what it is.",
        )
        honest = await sent(server, id, PNG, "image/png")
        assert honest.status_code == 422 and "image/png and it takes application/pdf" in honest.text
        assert (await server.of("olga").get(f"/api/documents/{id}"))["versions"] == []
        assert (await sent(server, id, PDF)).status_code == 201, "the document takes the right one all the same"


@pytest.mark.req("T8")
async def test_an_empty_file(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        id = await letter(server)
        empty = await sent(server, id, b"")
        assert (empty.status_code, "it is empty" in empty.json()["detail"]) == (422, True)
        assert (await server.of("olga").get(f"/api/documents/{id}"))["versions"] == []


@pytest.mark.req("T8")
async def test_a_truncated_file(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        id = await letter(server)
        cut = await sent(server, id, PDF[:-20])
        assert cut.status_code == 422 and "the end of the application/pdf is missing" in cut.json()["detail"]
        assert (await server.of("olga").get(f"/api/documents/{id}"))["versions"] == []


@pytest.mark.req("T10")
async def test_an_archive_that_would_unpack_without_end(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        olga = server.of("olga")
        made = await olga.post("/api/documents", {"type": "scans", "subject": "anna"}, 201)
        assert (await sent(server, made["id"], bomb(), "application/zip")).status_code == 201
        await server.idle()
        (version,) = (await olga.get(f"/api/documents/{made['id']}"))["versions"]
        assert (version["extraction"], version["status"]) == ("refused", "pending"), "people read it themselves"
        events = (await olga.get(f"/api/documents/{made['id']}/events"))["items"]
        failed = next(each for each in events if each["entry"] == "ExtractionFailed")
        assert failed["data"]["code"] == "archive.too_large"
        read = await olga.ask("GET", f"/api/documents/{made['id']}/versions/1/blob")
        assert sha256(read.content).digest() == sha256(bomb()).digest()


def test_archives_are_unpacked_within_bounds_whatever_they_say() -> None:
    held = BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for number in range(3):
            archive.writestr(f"{number}.txt", b"text")
    assert next(unpacked(held.getvalue())) == ("0.txt", b"text")
    for content, code in ((bomb(), "archive.too_large"), (b"no archive", "archive.unreadable")):
        with pytest.raises(BusinessError) as refused:
            list(unpacked(content, max_bytes=1_000_000))
        assert refused.value.code == code
    with pytest.raises(BusinessError, match="more than 2 files"):
        list(unpacked(held.getvalue(), max_files=2))


@pytest.mark.req("T8")
@pytest.mark.parametrize("name", ["../../etc/passwd.pdf", "..\\..\\boot.pdf", "/abs.pdf", "..", "a\nb.pdf"])
async def test_a_name_that_is_a_path(name: str, tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        made = await server.of("olga").post("/api/documents", {"type": "letter", "subject": "anna"}, 201)
        answer = await server.of("olga").ask(
            "POST", f"/api/documents/{made['id']}/content", params={"name": name}, content=PDF
        )
        assert answer.status_code == 201
        shown = await server.of("olga").get(f"/api/documents/{made['id']}/versions/1")
        assert not set(shown["name"]) & set("/\\\n") and not shown["name"].startswith(".")
        read = await server.of("olga").ask("GET", f"/api/documents/{made['id']}/versions/1/blob")
        assert "/" not in read.headers["content-disposition"].partition(";")[2].replace("UTF-8''", "")
        names = [each.name for each in (tmp_path / "blobs").rglob("*") if each.is_file()]
        assert all(len(each) == 62 for each in names), "files are named by their hash alone"


async def started(server: Server) -> str:
    """The correlation id of the task that a new case asks for."""
    ada = server.of("ada")
    await ada.post("/api/lifecycle-definitions", {"yaml": LIFECYCLE}, 201)
    begun = await ada.post("/api/lifecycles", {"lifecycle": "papers", "subject": "anna"}, 201)
    await server.idle()
    (task,) = (await ada.get(f"/api/lifecycles/{begun['instance']['id']}"))["tasks"]
    return str(task["correlation_id"])


def result(correlation: str, cargo: str = "entity://default/client/c1") -> dict[str, str]:
    return {"correlation_id": correlation, "status": "completed", "cargo_type": "document", "cargo_ref": cargo}


def begun(shell: Shell) -> str:
    id = shell.json("lifecycles", "start", "papers", "anna")["instance"]["id"]
    return str(shell.json("lifecycles", "show", id)["tasks"][0]["correlation_id"])


async def status(server: Server, correlation: str) -> str:
    shown = await server.of("ada").get(f"/api/lifecycles/{correlation.partition(':')[0]}")
    return str(shown["tasks"][0]["status"])


@pytest.mark.req("T3", "T12")
async def test_cargo_of_another_tenant(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        correlation = await started(server)
        told = await server.of("ada").post(
            "/api/workflow/task-complete", result(correlation, "document://other/d1"), 400
        )
        assert "belongs to another tenant" in told["detail"]
        assert await status(server, correlation) == "pending", "the right cargo can still come"


@pytest.mark.req("T3", "T12")
async def test_the_key_of_no_task(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        correlation = await started(server)
        for unknown in (f"{NOBODY}:passport:1", f"{correlation.partition(':')[0]}:visa:1", "nonsense"):
            told = await server.of("ada").post("/api/workflow/task-complete", result(unknown), 404)
            assert told["detail"].startswith("Expected to"), unknown
        assert await status(server, correlation) == "pending"


@pytest.mark.req("T3", "T14")
async def test_a_result_for_a_task_that_expired(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        correlation = await started(server)
        await server.sandbox.advance("P11D")
        assert await status(server, correlation) == "expired"
        late = await server.of("ada").post("/api/workflow/task-complete", result(correlation), 200)
        assert (late["answer"], late["task"]["status"]) == ("over", "expired")
        shown = await server.of("ada").get(f"/api/lifecycles/{correlation.partition(':')[0]}")
        assert shown["state"] == "OPEN", "a late result moves nothing"


@pytest.mark.req("T6")
async def test_a_document_that_changes_while_it_is_verified(tmp_path: Path) -> None:
    async with opened(tmp_path) as server:
        id = await letter(server)
        await sent(server, id, PDF)
        await sent(server, id, PDF + b"\n%%EOF\n")
        told = await server.of("rico").post(f"/api/documents/{id}/verify", {"version": 1}, 409)
        assert "version 2" in told["detail"] or "newer" in told["detail"], told["detail"]
        shown = await server.of("olga").get(f"/api/documents/{id}")
        assert [each["status"] for each in shown["versions"]] == ["superseded", "pending"]


@pytest.mark.req("T8", "P6")
@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (PNG, "its content is image/png and it takes application/pdf"),
        (b"", "it is empty. Send a file with something in it."),
        (PDF[:-20], "It was cut off on its way: send it again."),
        (b"%PDF-" + b"x" * 100_001 + b"%%EOF", "bytes of at most 100,000"),
    ],
)
def test_a_file_that_a_command_cannot_hand_in(content: bytes, fact: str, shell: Shell) -> None:
    assert fact in handed_in(shell, content, 2)
    assert kept(shell) == []
    assert json.loads(handed_in(shell, PDF))["status"] == "pending"


@pytest.mark.req("T6", "P6")
def test_a_document_that_changes_while_a_command_verifies_it(shell: Shell) -> None:
    (shell.folder / "inner").mkdir()
    made = json.loads(handed_in(shell, PDF, name="inner/../scan.pdf"))
    assert shell.json("documents", "content", made["id"], "--version", "1")["name"] == "scan.pdf"
    shell.run("documents", "receive", made["id"], "--file", "scan.pdf")
    assert "Expected to verify" in shell.run("documents", "verify", made["id"], "--version", "1", code=5).error
    assert shell.json("documents", "verify", made["id"], "--version", "2")["status"] == "verified"


@pytest.mark.req("T3", "T12", "P6")
def test_results_that_a_command_cannot_bring(shell: Shell) -> None:
    correlation = begun(shell)
    foreign = shell.run("lifecycles", "complete-task", correlation, "--cargo", "document://other/d1", code=2)
    assert "belongs to another tenant" in foreign.error
    assert "Expected to" in shell.run("lifecycles", "complete-task", f"{NOBODY}:1", code=3).error
    id = correlation.partition(":")[0]
    assert shell.json("lifecycles", "show", id)["tasks"][0]["status"] == "pending"


@pytest.mark.req("T1", "P6")
def test_a_lifecycle_whose_verb_vanished(shell: Shell) -> None:
    id = shell.json("lifecycles", "start", "papers", "anna")["instance"]["id"]
    (shell.folder / "verbs.yaml").write_text(DEFINITIONS.partition("  - name: papers.ask")[0])
    (shell.folder / "our_papers.py").write_text(HANDLERS.replace('@verb("papers.ask")', ""))
    linted = shell.run("lifecycles", "lint", code=None)
    assert linted.code != 0 and "papers.ask" in linted.out + linted.error
    shown = shell.run("lifecycles", "show", id, code=None)
    assert "papers.ask" in shown.out + shown.error
    (shell.folder / "verbs.yaml").write_text(DEFINITIONS)
    (shell.folder / "our_papers.py").write_text(HANDLERS)
    assert shell.json("lifecycles", "show", id)["tasks"][0]["status"] == "pending", "nothing was lost meanwhile"

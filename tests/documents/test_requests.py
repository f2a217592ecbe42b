"""A client who was asked for a document sees what is asked and hands it in, by a token and with no other right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.access.signed_tokens import RequestName, request_token
from perdure.app.documents.documents import Documents
from perdure.testing.fault_injection import Crash
from tests.documents.papers import DEFINITIONS, PDF, PNG
from tests.lifecycles.onboarding import written
from tests.surfaces.http.sandbox_server import SECRET, Server, person, served

VERBS = (
    DEFINITIONS
    + """
verbs:
  - name: papers.ask
    input_schema: {properties: {document_type: {type: string}, correlation_id: {type: string}}}
    metadata: {creates_pending_task: true}
    execution: {kind: sync}
"""
)
LIFECYCLE = """
lifecycle: onboarding
states:
  OPEN:
    requirements:
      - type: document_exists
        document_type: passport
        description: Your passport
        on_fail:
          blocker:
            type: MissingDocument
            resolution: "(papers.ask :document-type passport)"
            auto: true
            max_attempts: 2
            expires: P10D
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: DONE}
"""
PEOPLE = [person("clara", "reviewer", groups=("compliance",)), person("clive", "reviewer", groups=("compliance",))]
ASKED = "/api/document-request"


async def _nothing(call: Any) -> dict[str, Any]:
    return {}


def opened(url: str, folder: Path, type: str = "passport") -> Any:
    """A server with one lifecycle, which asks for a document of a type."""
    return served(
        url, verbs=VERBS, people=PEOPLE, blobs=folder / "blobs", handlers={"papers.ask": _nothing},
        lifecycles=[written(folder, LIFECYCLE.replace("passport", type))],
    )  # fmt: skip


async def begun(server: Server, subject: str = "anna") -> tuple[str, str]:
    """An instance, and the correlation id of what it asks for."""
    made = await server.of("olga").post("/api/lifecycles", {"lifecycle": "onboarding", "subject": subject}, 201)
    await server.idle()
    shown = await server.of("olga").get(f"/api/lifecycles/{made['instance']['id']}")
    return shown["id"], shown["tasks"][-1]["correlation_id"]


async def token_of(server: Server, correlation_id: str) -> str:
    made = await server.of("olga").post("/api/document-requests/token", {"correlation_id": correlation_id})
    return str(made["token"])


async def handed_in(server: Server, token: str, content: bytes = PDF, status: int = 201, **query: str) -> Any:
    answer = await server.waiting(token).ask(
        "POST", f"{ASKED}/content", params=query, content=content, headers={"Content-Type": "application/pdf"}
    )
    assert answer.status_code == status, answer.text
    return answer.json()


@pytest.mark.both_stores
@pytest.mark.req("T13")
@pytest.mark.req("T15")
async def test_a_client_is_told_what_is_asked_hands_it_in_and_is_told_what_was_wrong(
    store_url: str, tmp_path: Path
) -> None:
    async with opened(store_url, tmp_path) as server:
        id, first = await begun(server)
        client = server.waiting(await token_of(server, first))
        shown = await client.get(ASKED)
        assert (shown["status"], shown["title"], shown["text"]) == (
            "open", "Your passport", "Passport of a natural person",
        )  # fmt: skip
        assert (shown["reason"], shown["max_bytes"], shown["attempt"]) == ("", 12_000_000, 1)
        assert "application/pdf" in shown["media_types"] and shown["due_at"] and "anna" not in str(shown)
        receipt = await handed_in(server, await token_of(server, first), name="pass.pdf")
        assert (receipt["status"], receipt["name"], receipt["size"]) == ("received", "pass.pdf", len(PDF))
        again = await client.get(ASKED)
        assert (again["status"], again["received"][0]["size"]) == ("received", len(PDF))
        await server.idle()
        status = await server.of("olga").get(f"/api/lifecycles/{id}")
        assert [(task["status"], task["received"]) for task in status["tasks"]] == [("completed", 1)]

        (paper,) = (await server.of("olga").get("/api/documents", subject="anna"))["items"]
        await server.of("clara").post(f"/api/documents/{paper['id']}/reject", {"version": 1, "reason": "BLURRED"})
        await server.idle()
        status = await server.of("olga").get(f"/api/lifecycles/{id}")
        second = status["tasks"][-1]["correlation_id"]
        assert second == first[:-1] + "2" and status["tasks"][-1]["status"] == "pending"
        token = await token_of(server, second)
        assert "sharper" in (await server.waiting(token).get(ASKED))["reason"]
        assert (await handed_in(server, token, PDF + b"\n"))["version"] == 2
        await server.idle()
        await server.of("clara").post(f"/api/documents/{paper['id']}/verify", {"version": 2})
        await server.idle()
        assert (await server.of("olga").get(f"/api/lifecycles/{id}"))["state"] == "DONE"
        assert (await server.waiting(token).get(ASKED))["status"] == "over"


@pytest.mark.req("T13")
async def test_a_token_opens_its_own_request_and_nothing_else(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as server:
        _, mine = await begun(server)
        _, other = await begun(server, "boris")
        token = await token_of(server, mine)
        client = server.waiting(token)
        await client.get(ASKED, 403, correlation_id=other)
        await client.post(f"{ASKED}/data", {"data": {"name": "x"}, "correlation_id": other}, 403)
        for path in ("/api/documents", "/api/lifecycles", "/api/document-types"):
            await client.get(path, 403)
        await client.post("/api/document-requests/token", {"correlation_id": mine}, 403)
        await client.post("/api/completions", {"key": mine, "result": {}}, 403)
        last = "A" if token[-1] != "A" else "B"
        for altered in (token[:-1] + last, token.replace("request_", "wait_"), "request_"):
            await server.waiting(altered).get(ASKED, 401)
        now = server.sandbox.runtime.sources.now()
        elsewhere = request_token(SECRET, RequestName("other", mine, now + 10**9))
        await server.waiting(elsewhere).get(ASKED, 404)
        forged = request_token(b"another secret of thirty-two bytes", RequestName("default", mine, now + 10**9))
        await server.waiting(forged).get(ASKED, 401)
        await server.sandbox.advance("P11D")
        await client.get(ASKED, 401)
        for path, status in ((mine, 403), (other, 403)):
            await server.of("narrow").get(ASKED, status, correlation_id=path)
            await server.of("eve").get(ASKED, 404, correlation_id=path)


@pytest.mark.req("T13")
async def test_a_request_is_answered_once_and_not_after_it_is_over(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as server:
        _, asked = await begun(server)
        token = await token_of(server, asked)
        refused = await handed_in(server, token, PNG, 422)
        assert "image/png" in refused["detail"]
        assert (await handed_in(server, token, b"", 422))["detail"]
        first = await handed_in(server, token)
        assert await handed_in(server, token) == first, "sent again, it is the same version"
        assert "already" in (await handed_in(server, token, PDF + b"\n", 409))["detail"]
        await server.idle()
        assert await handed_in(server, token) == first
        assert len((await server.of("olga").get("/api/documents"))["items"]) == 1
        other, asked = await begun(server, "boris")
        token = await token_of(server, asked)
        await server.of("ada").post(f"/api/lifecycles/{other}/cancel", {"reason": "withdrawn"})
        assert (await server.waiting(token).get(ASKED))["status"] == "over"
        await handed_in(server, token, PDF, 409)
        await server.of("olga").post("/api/document-requests/token", {"correlation_id": asked}, 409)


@pytest.mark.req("T13")
async def test_who_had_the_token_made_cannot_verify_what_came_by_it(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as server:
        _, asked = await begun(server)
        ada = server.of("ada")
        made = await ada.post("/api/document-requests/token", {"correlation_id": asked})
        await server.waiting(made["token"]).post(f"{ASKED}/data", {"data": {"name": "Anna"}}, 201)
        (paper,) = (await ada.get("/api/documents"))["items"]
        shown = await ada.get(f"/api/documents/{paper['id']}")
        assert shown["versions"][0]["received_by"] == f"request:{asked}"
        sandbox = server.sandbox.acting(principal="ada", groups=["compliance"])
        with pytest.raises(Exception, match="handed"):
            await sandbox.documents.verify(paper["id"], 1)


@pytest.mark.both_stores
@pytest.mark.req("T13")
async def test_what_was_handed_in_counts_when_the_server_dies_before_it_could_tell_the_lifecycle(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(store_url, tmp_path) as server:
        id, asked = await begun(server)
        create = Documents.create

        async def dies(*args: Any, **more: Any) -> Any:
            await create(*args, **more)
            raise Crash

        token = await token_of(server, asked)
        with monkeypatch.context() as patched:
            patched.setattr(Documents, "create", dies)
            with pytest.raises(Crash):
                await handed_in(server, token)
        await server.idle()
        (task,) = (await server.of("olga").get(f"/api/lifecycles/{id}"))["tasks"]
        assert (task["status"], task["received"]) == ("completed", 1)
        assert (await handed_in(server, token))["status"] == "received", "the client tries again"
        assert len((await server.of("olga").get("/api/documents"))["items"]) == 1

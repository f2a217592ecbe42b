"""Documents by other roads: whoever stands behind a call hands in as much as who asks the operation does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.http.sandbox_server import person, served

VERBS = """
documents:
  passport:
    data_schema: {properties: {name: {type: string}}}
    verify: {four_eyes: true}
verbs:
  - {name: note.keep, consequence: benign, execution: {kind: sync, effects: none}}
"""
PEOPLE = [person("anne", "operator", "author", "reviewer"), person("bob", "operator", "author", "reviewer")]
HANDED_IN = {"document-type": "passport", "structured-data": {"name": "A"}}
pytestmark = pytest.mark.req("V36", "P3")


def serving() -> Any:
    return served("sqlite://", VERBS, people=PEOPLE)


async def test_whose_agent_hands_in_by_a_verb_does_not_verify() -> None:
    async with serving() as server:
        ada = server.of("ada")
        made = {"name": "robot", "principal": "agent:rob", "kind": "agent", "roles": ["operator"]}
        key = await ada.post("/api/keys", made, 201)
        headers = {"Authorization": f"Bearer {key['text']}"}
        called = await ada.post("/api/verbs/document.create/calls", {"args": HANDED_IN}, 201, headers=headers)
        path = f"/api/documents/{called['result']['document_id']}/verify"
        await ada.post(path, {"version": 1}, 403)
        await server.of("anne").post(path, {"version": 1})


async def test_who_drafted_a_document_does_not_verify_it_when_another_started_the_draft() -> None:
    async with serving() as server:
        anne, bob = server.of("anne"), server.of("bob")
        draft = await anne.post("/api/drafts", {"calls": [{"verb": "document.create", "args": HANDED_IN}]}, 201)
        await bob.post(f"/api/drafts/{draft['id']}/start", {})
        await server.idle()
        (document,) = (await bob.get("/api/documents"))["items"]
        for who in (anne, bob):
            await who.post(f"/api/documents/{document['id']}/verify", {"version": 1}, 403)
        await server.of("ada").post(f"/api/documents/{document['id']}/verify", {"version": 1})

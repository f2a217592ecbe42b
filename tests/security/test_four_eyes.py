"""Two people are two people: no token, key, draft, extension or amendment makes one person count as two."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from perdure import Perdure
from perdure.verbs import load_text
from tests.security.office import Office

pytestmark = [pytest.mark.req("V36"), pytest.mark.both_stores]
VERBS = """
- name: desk.review
  consequence: benign
  execution: {kind: durable, task: {title: "Review it", four_eyes: true}}
- name: desk.sort
  consequence: benign
  execution: {kind: durable, task: {title: "Sort it", agents: true}}
- name: desk.pay
  consequence: benign
  execution: {kind: sync, effects: none}
"""
GATED = '(desk.pay :gate "compliance")'


@asynccontextmanager
async def office(url: str) -> AsyncIterator[Office]:
    handlers = {"desk.pay": lambda call: {"paid": True}}
    async with Perdure.open(url, definitions=load_text(VERBS), handlers=handlers) as perdure:
        await perdure.runtime.recovered.wait()
        yield Office(perdure)


async def asked(desk: Office, credential: str) -> str:
    """The key of the task of a call that somebody asked for."""
    made = await desk.post(credential, "/api/verbs/desk.review/calls", args={})
    assert made.status_code == 201, made.text
    return str(made.json()["waiting_for"]["key"])


async def is_answered(desk: Office, credential: str, key: str) -> httpx.Response:
    return await desk.post(credential, "/api/completions", key=key, result={})


async def test_who_asked_cannot_answer_and_somebody_else_can(store_url: str) -> None:
    async with office(store_url) as desk:
        ada, bob = await desk.key("ada"), await desk.key("bob")
        key = await asked(desk, ada)
        refused = await is_answered(desk, ada, key)
        assert (refused.status_code, "four eyes" in refused.text) == (403, True)
        assert (await is_answered(desk, bob, key)).status_code == 202


async def test_a_token_gives_no_more_than_who_had_it_made(store_url: str) -> None:
    async with office(store_url) as desk:
        ada, bob = await desk.key("ada"), await desk.key("bob")
        key = await asked(desk, ada)
        own = (await desk.post(ada, "/api/parked/token", key=key)).json()["token"]
        refused = await is_answered(desk, own, key)
        assert (refused.status_code, "four eyes" in refused.text) == (403, True)
        theirs = (await desk.post(bob, "/api/parked/token", key=key)).json()["token"]
        assert (await is_answered(desk, theirs, key)).status_code == 202


async def test_a_key_that_somebody_made_is_never_their_second_pair_of_eyes(store_url: str) -> None:
    async with office(store_url) as desk:
        root = await desk.key("root", roles=["admin"])
        words = {"kind": "person", "roles": ["operator", "reviewer"]}
        eve = (await desk.post(root, "/api/keys", name="eve's", principal="eve", **words)).json()["text"]
        zoe = (await desk.post(root, "/api/keys", name="zoe's", principal="zoe", **words)).json()["text"]
        bob = await desk.key("bob")
        key = await asked(desk, root)
        refused = await is_answered(desk, eve, key)
        assert refused.status_code == 403
        assert "'root' asked for it and made the key of 'eve'" in refused.text
        key = await asked(desk, eve)
        assert [(await is_answered(desk, each, key)).status_code for each in (root, zoe, bob)] == [403, 403, 202]


async def test_who_drafted_or_edited_counts_as_who_asked(store_url: str) -> None:
    async with office(store_url) as desk:
        bot = await desk.key("agent:bot", "agent", groups=["compliance"])
        ola, rita, sam = [await desk.key(each, groups=["compliance"]) for each in ("ola", "rita", "sam")]
        draft = (await desk.post(bot, "/api/drafts", program=GATED)).json()["id"]
        async with desk.client(rita) as client:
            edited = await client.put(f"/api/drafts/{draft}", json={"program": f"{GATED}\n{GATED}"})
            assert edited.status_code == 200, edited.text
        assert (await desk.post(ola, f"/api/drafts/{draft}/start")).status_code == 200
        answers = [
            (await desk.post(each, f"/api/runbooks/{draft}/steps/1/answer", agree=True)).status_code
            for each in (bot, rita, ola, sam)
        ]
        assert answers == [403, 403, 403, 200]


async def test_who_extended_counts_as_who_asked(store_url: str) -> None:
    async with office(store_url) as desk:
        ola, rita, sam = [await desk.key(each, groups=["compliance"]) for each in ("ola", "rita", "sam")]
        body = {"program": "(desk.review :as @r)", "sealed": False}
        id = (await desk.post(ola, "/api/runbooks", **body)).json()["id"]
        grown = await desk.post(rita, f"/api/runbooks/{id}/extend", program=GATED)
        assert grown.status_code == 200, grown.text
        answers = [
            (await desk.post(each, f"/api/runbooks/{id}/steps/2/answer", agree=True)).status_code
            for each in (rita, ola, sam)
        ]
        assert answers == [403, 403, 200]


async def test_a_gate_can_ask_for_somebody_of_each_of_several_groups(store_url: str) -> None:
    async with office(store_url) as desk:
        ola = await desk.key("ola")
        both = await desk.key("rita", groups=["compliance", "risk"])
        one = await desk.key("sam", groups=["compliance"])
        other = await desk.key("tom", groups=["risk"])
        id = (await desk.post(ola, "/api/runbooks", program='(desk.pay :gate "compliance + risk")')).json()["id"]
        path = f"/api/runbooks/{id}/steps/1/answer"
        first = await desk.post(both, path, agree=True)
        assert (first.status_code, first.json()["state"]) == (200, "parked")
        again = await desk.post(both, path, agree=True)
        assert (again.status_code, "agreed for another group" in again.text) == (403, True)
        assert (await desk.post(one, path, agree=True)).status_code == 403
        last = await desk.post(other, path, agree=True)
        assert last.status_code == 200
        done = await desk.perdure.runbooks.wait(id)
        assert done.state == "completed"


async def test_a_task_is_an_agents_only_where_it_says_so(store_url: str) -> None:
    async with office(store_url) as desk:
        ada, bot = await desk.key("ada"), await desk.key("agent:bot", "agent")
        key = await asked(desk, ada)
        refused = await is_answered(desk, bot, key)
        assert (refused.status_code, "does not say that agents may" in refused.text) == (403, True)
        made = await desk.post(ada, "/api/verbs/desk.sort/calls", args={})
        assert (await is_answered(desk, bot, made.json()["waiting_for"]["key"])).status_code == 202

"""Forged and replayed completions: only who may ends a wait, once, and nobody learns anything by trying."""

from __future__ import annotations

from base64 import urlsafe_b64encode

import pytest

from perdure.access.signed_tokens import WaitName, wait_token
from tests.surfaces.http.sandbox_server import SECRET, Server, served

DONE = {"result": {"answer": "yes"}}


async def asked(server: Server, case: str, by: str = "ada") -> str:
    view = await server.of(by).post("/api/verbs/w.ask/calls", {"args": {"case": case}}, 201)
    return str(view["id"])


async def state(server: Server, id: str, by: str = "ada") -> str:
    return str((await server.of(by).get(f"/api/calls/{id}"))["state"])


def letters(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.req("P3")
async def test_a_forged_token_ends_no_wait(store_url: str) -> None:
    async with served(store_url) as server:
        id = await asked(server, "case-1")
        good = (await server.of("ada").post("/api/parked/case-1/token"))["token"]
        tenant, key, wait, maker, signature = good.removeprefix("wait_").split(".")
        forged = [
            f"wait_{tenant}.{letters('case-2')}.{wait}.{maker}.{signature}",
            f"wait_{letters('other')}.{key}.{wait}.{maker}.{signature}",
            f"wait_{tenant}.{key}.{letters('#9')}.{maker}.{signature}",
            f"wait_{tenant}.{key}.{wait}.{letters('bob')}.{signature}",
            f"wait_{tenant}.{key}.{wait}.{signature}",
            f"wait_{tenant}.{key}..{maker}.{signature}",
            f"wait_{tenant}.{key}.{signature}",
            f"wait_{tenant}.{key}.{wait}.{maker}.",
            f"wait_{tenant}.{key}.{wait}.{maker}.{signature[:-2]}AA",
            f"wait_{tenant}.{key}.{wait}.{maker}.{'A' * len(signature)}",
            f"wait_{tenant}.{key}.{wait}.{maker}",
            f"{tenant}.{key}.{wait}.{maker}.{signature}",
            wait_token(b"another server's secret, long enough", WaitName("default", "case-1")),
            "wait_", "wait_..", "wait_%C3%A4.%C3%A4.%C3%A4", "A" * 5000,
        ]  # fmt: skip
        for token in forged:
            answer = await server.waiting(token).ask("POST", "/api/completions", json={"key": "case-1", **DONE})
            assert answer.status_code == 401, token
        assert await state(server, id) == "parked"
        assert (await server.waiting(good).post("/api/completions", {"key": "case-1", **DONE}, 202))[
            "answer"
        ] == "applied"


@pytest.mark.req("P3", "V31")
async def test_a_token_of_one_tenant_ends_no_wait_of_another_under_the_same_key(store_url: str) -> None:
    async with served(store_url) as server:
        ours, theirs = await asked(server, "case-1"), await asked(server, "case-1", "eve")
        token = (await server.of("eve").post("/api/parked/case-1/token"))["token"]
        assert (await server.waiting(token).post("/api/completions", {"key": "case-1", **DONE}, 202))[
            "answer"
        ] == "applied"
        assert (await state(server, ours), await state(server, theirs, "eve")) == ("parked", "completed")
        name = await server.sandbox.acting(tenant="other").waits.name_under("case-1")
        assert wait_token(SECRET, WaitName("other", "case-1", name, ("eve",))) == token


@pytest.mark.req("P3")
async def test_a_token_is_worth_nothing_to_the_next_wait_under_the_same_key(store_url: str) -> None:
    async with served(store_url) as server:
        olga, first = server.of("olga"), await asked(server, "case-1")
        outsider = server.waiting((await olga.post("/api/parked/case-1/token"))["token"])
        body, other = {"key": "case-1", **DONE}, {"key": "case-1", "result": {"answer": "no"}}
        await olga.post("/api/completions", body, 202)
        over = await outsider.post("/api/completions", other, 200)
        silent = await outsider.post("/api/progress", {"key": "case-1", "text": "soon"}, 409)
        second = await asked(server, "case-1")
        later = await outsider.post("/api/completions", {**other, "message_id": "m-9"}, 200)
        assert (later["answer"], later["reason"]) == (over["answer"], over["reason"])
        assert (await outsider.post("/api/progress", {"key": "case-1", "text": "soon"}, 409))["code"] == silent["code"]
        assert (await state(server, first), await state(server, second)) == ("completed", "parked")
        assert not (await olga.get(f"/api/calls/{second}"))["progress"]
        good = server.waiting((await olga.post("/api/parked/case-1/token"))["token"])
        await good.post("/api/progress", {"key": "case-1", "text": "soon"})
        assert (await good.post("/api/completions", other, 202))["answer"] == "applied"
        assert (await olga.get(f"/api/calls/{second}"))["result"] == {"answer": "no"}


SHARED = """
- name: w.all
  execution: {kind: durable, correlation: {key: $case, fanout: true}}
  input_schema: {type: object, required: [case], properties: {case: {type: string}}}
"""


@pytest.mark.req("P3")
async def test_a_token_of_shared_waits_ends_those_there_were_and_none_that_came_later(store_url: str) -> None:
    async with served(store_url, SHARED) as server:
        ada = server.of("ada")

        async def wait() -> str:
            return str((await ada.post("/api/verbs/w.all/calls", {"args": {"case": "news"}}, 201))["id"])

        early = [await wait(), await wait()]
        outsider = server.waiting((await ada.post("/api/parked/news/token"))["token"])
        late = await wait()
        await outsider.post("/api/completions", {"key": "news"}, 202)
        assert [await state(server, each) for each in (*early, late)] == ["completed", "completed", "parked"]
        await outsider.post("/api/completions", {"key": "news", "message_id": "again"}, 404)
        assert await state(server, late) == "parked"


@pytest.mark.req("P3")
async def test_a_token_of_a_call_s_own_key_ends_the_wait_it_was_made_for_alone(store_url: str) -> None:
    async with served(store_url) as server:
        ada, id = server.of("ada"), await asked(server, "case-1")
        outsider = server.waiting((await ada.post(f"/api/parked/{id}/token"))["token"])
        await ada.post("/api/completions", {"key": id, "error": "no"}, 202)
        await outsider.post("/api/completions", {"key": id, **DONE}, 200)
        assert await state(server, id) == "failed"


@pytest.mark.req("P2")
async def test_a_replayed_completion_counts_once_however_it_is_dressed(store_url: str) -> None:
    async with served(store_url) as server:
        olga, id = server.of("olga"), await asked(server, "case-1")
        body = {"key": "case-1", "message_id": "m-1", **DONE}
        assert (await olga.post("/api/completions", body, 202))["answer"] == "applied"
        records = (await olga.get(f"/api/calls/{id}"))["sequence"]
        for again in (body, {**body, "result": {"answer": "no"}}):
            assert (await olga.post("/api/completions", again, 200))["answer"] == "duplicate"
        assert (await olga.get(f"/api/calls/{id}"))["sequence"] == records, "a replay leaves no trace in the call"
        await asked(server, "case-2")
        clash = await olga.post("/api/completions", {**body, "key": "case-2"}, 409)
        assert clash["code"] == "command.already_exists"
        other = await olga.post("/api/completions", {"key": "case-1", "message_id": "m-2", "result": {"answer": "no"}})
        assert other["answer"] in ("duplicate", "late")
        assert (await olga.get(f"/api/calls/{id}"))["result"] == {"answer": "yes"}


@pytest.mark.req("P2")
async def test_under_one_idempotency_key_the_same_answer_comes_again(store_url: str) -> None:
    async with served(store_url) as server:
        olga = server.of("olga")
        await asked(server, "case-1")
        header = {"Idempotency-Key": "k-1"}
        first = await olga.post("/api/completions", {"key": "case-1", **DONE}, 202, headers=header)
        assert await olga.post("/api/completions", {"key": "case-1", **DONE}, 202, headers=header) == first
        await olga.post("/api/completions", {"key": "case-2", **DONE}, 422, headers=header)

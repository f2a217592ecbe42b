"""DNS rebinding: a name of somebody else that points at this machine opens nothing."""

from __future__ import annotations

import pytest

from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P3")


async def test_an_open_server_answers_only_to_names_of_this_machine() -> None:
    async with served(authentication=()) as found, found.client() as client:
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1", "169.254.0.1"):
            answer = await client.get("/api/verbs", headers={"Host": host})
            assert (answer.status_code, answer.json()["code"]) == (400, "request.host"), host
        for host in ("localhost", "LOCALHOST:8321", "127.0.0.1:1", "[::1]:8321"):
            assert (await client.get("/api/verbs", headers={"Host": host})).status_code == 200, host


async def test_the_public_name_is_answered_to() -> None:
    async with served(authentication=(), public_url="http://localhost:9") as found, found.client() as client:
        assert (await client.get("/api/verbs", headers={"Host": "localhost:9"})).status_code == 200


async def test_probes_are_answered_under_any_name() -> None:
    async with served(authentication=()) as found, found.client() as client:
        for path in ("/health", "/ready", "/metrics"):
            assert (await client.get(path, headers={"Host": "10.0.0.7"})).status_code == 200, path


@pytest.mark.parametrize("authentication", [(), ("keys",)])
async def test_a_name_that_was_pointed_here_reads_no_counters(authentication: tuple[str, ...]) -> None:
    async with served(authentication=authentication) as found, found.client() as client:
        for host in ("evil.example", "localhost.evil.example", ""):
            assert (await client.get("/metrics", headers={"Host": host})).status_code == 401, host
        assert (await client.get("/metrics", headers={"Host": "[::1]:8321"})).status_code == 200


async def test_a_page_elsewhere_cannot_act_on_an_open_server() -> None:
    async with served(authentication=()) as found, found.client() as client:
        answer = await client.post(
            "/api/verbs/desk.note/calls", json={"args": {"text": "x"}}, headers={"Origin": "https://evil.example"}
        )
        assert answer.json()["code"] == "request.origin"

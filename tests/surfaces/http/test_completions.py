"""What arrives over HTTP: completions, progress, messages, signals and dead letters, each told what became of it."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.bpmn.model import Event, SignalTrigger
from perdure.bpmn.xml import write_model
from tests.engines.embedded.process_models import line, message, signal, wait
from tests.surfaces.http.sandbox_server import Desk, Server, person, served


async def asked(server: Server, case: str = "case-1", by: str = "ada") -> str:
    """The id of a call that waits under the key of a case."""
    view = await server.of(by).post("/api/verbs/w.ask/calls", {"args": {"case": case}}, 201)
    assert view["state"] == "parked", view
    return str(view["id"])


@pytest.mark.req("P2")
async def test_a_completion_is_applied_once_and_every_outcome_has_its_own_status(store_url: str) -> None:
    async with served(store_url) as server:
        olga = server.of("olga")
        id = await asked(server)
        body = {"key": "case-1", "result": {"answer": "yes"}, "message_id": "m-1"}
        first = await olga.post("/api/completions", body, 202)
        assert (first["answer"], first["call"]["id"], first["call"]["args"]) == ("applied", id, None)
        assert (await olga.post("/api/completions", body, 200))["answer"] == "duplicate"
        late = await olga.post("/api/completions", {**body, "message_id": "m-2", "result": {"answer": "no"}}, 200)
        assert late["answer"] in ("duplicate", "late")
        lost = await olga.post("/api/completions", {"key": "nobody", "result": {}, "message_id": "m-3"}, 404)
        assert (lost["code"], lost["message_id"], lost["dead_letter"]) == ("completion.unknown_key", "m-3", True)
        shown = await olga.get(f"/api/calls/{id}")
        assert (shown["state"], shown["result"]) == ("completed", {"answer": "yes"})


@pytest.mark.req("P2")
@pytest.mark.parametrize(
    "body",
    [
        {"result": {}},
        {"key": 7},
        {"key": "case-1", "status": "nonsense"},
        {"key": "case-1", "result": {}, "surprise": 1},
        {"key": "case-1", "status": "completed", "error": "both"},
        {"key": "case-1", "message_id": "perdure:mine", "result": {}},
        [],
    ],
)
async def test_a_completion_that_makes_no_sense_is_malformed_and_leaves_nothing(body: Any) -> None:
    async with served() as server:
        await asked(server)
        refused = await server.of("olga").post("/api/completions", body, 400)
        assert refused["code"] == "completion.malformed"
        assert await server.sandbox.dead_letters() == []


@pytest.mark.req("P2")
async def test_bytes_that_are_no_json_and_a_result_that_does_not_fit_are_told_apart() -> None:
    async with served() as server:
        await asked(server)
        olga = server.of("olga")
        headers = {"Content-Type": "application/json"}
        broken = await olga.ask("POST", "/api/completions", content=b"{", headers=headers)
        assert broken.status_code == 400
        unfit = await olga.post("/api/completions", {"key": "case-1", "result": {"answer": 7}}, 422)
        assert [each["path"] for each in unfit["errors"]] == ["$.answer"]
        assert await server.sandbox.dead_letters() == []


@pytest.mark.req("P2", "P3")
async def test_completing_needs_permission_for_the_verb_or_the_token_of_that_wait(store_url: str) -> None:
    async with served(store_url) as server:
        one, two = await asked(server, "case-1"), await asked(server, "case-2")
        done = {"result": {"answer": "yes"}}
        assert (await server.of("vera").post("/api/completions", {"key": "case-1", **done}, 403))["status"] == 403
        token = (await server.of("narrow").post("/api/parked/case-1/token"))["token"]
        outsider = server.waiting(token)
        refused = await outsider.post("/api/completions", {"key": "case-2", **done}, 403)
        assert refused["code"] == "access.forbidden"
        for path in ("/api/calls", f"/api/calls/{one}", "/api/verbs", "/api/parked"):
            await outsider.get(path, 403)
        await outsider.post("/api/progress", {"key": "case-2", "text": "soon"}, 403)
        assert (await outsider.post("/api/progress", {"key": "case-1", "text": "soon"}))["answer"]
        assert (await server.of("ada").get(f"/api/calls/{one}"))["progress"] == "soon"
        applied = await outsider.post("/api/completions", {"key": "case-1", **done}, 202)
        assert (applied["answer"], applied["call"]) == ("applied", None)
        assert (await outsider.post("/api/completions", {"key": "case-1", **done}, 200))["answer"] == "duplicate"
        assert (await server.of("ada").get(f"/api/calls/{two}"))["state"] == "parked"
        forged = token[:-4] + ("AAAA" if not token.endswith("AAAA") else "BBBB")
        await server.waiting(forged).post("/api/completions", {"key": "case-2", **done}, 401)


@pytest.mark.req("P3")
async def test_a_key_that_does_not_reach_a_verb_ends_none_of_its_waits_not_even_ahead_of_time(store_url: str) -> None:
    async with served(store_url, people=[person("outside", "operator", verbs=("t.*",))]) as server:
        outside = server.of("outside")
        id = await asked(server)
        done = {"result": {"answer": "yes"}}
        named = {"key": "case-9", "verb": "w.ask"}
        for body in ({"key": "case-1"}, {"key": id}, {"key": f"{id}:1"}, {"key": "case-9"}, named):
            refused = await outside.post("/api/completions", {**body, **done}, 403)
            assert refused["code"] == "access.forbidden"
        await outside.post("/api/progress", {"key": "case-1", "text": "no"}, 403)
        await outside.post("/api/parked/case-1/token", {}, 403)
        lost = await server.of("ada").post("/api/completions", {"key": "lost", "message_id": "m-1", **done}, 404)
        assert lost["dead_letter"]
        await outside.post("/api/dead-letters/m-1/replay", {"key": "case-1"}, 403)
        assert (await server.of("ada").get(f"/api/calls/{id}"))["state"] == "parked"
        applied = await server.of("narrow").post("/api/completions", {"key": "case-1", **done}, 202)
        assert applied["answer"] == "applied"


@pytest.mark.req("P2")
async def test_messages_have_distinct_outcomes(store_url: str) -> None:
    async with served(store_url) as server:
        ada, olga = server.of("ada"), server.of("olga")
        await _deploy(ada, line("p", wait("asked", "m"), messages=(message("m", key="k"),)))
        begun = await ada.post("/api/instances", {"process": "p"}, 201)
        body = {"name": "m", "key": "k", "message_id": "m-1", "data": {"x": 1}}
        sent = await olga.post("/api/messages", body)
        assert (sent["outcome"], sent["instances"]) == ("correlated", [begun["id"]])
        assert (await olga.post("/api/messages", body))["outcome"] == "duplicate"
        nobody = await olga.post("/api/messages/correlate", {"name": "m", "key": "k", "message_id": "now"}, 404)
        assert nobody["code"] == "message.no_subscription"
        assert (nobody["message_id"], nobody["dead_letter"]) == ("now", True), "where it is kept, to be replayed"
        assert "dead letter" in nobody["hint"]
        buffered = await olga.post("/api/messages", {"name": "m", "key": "k", "ttl_seconds": 60}, 202)
        assert buffered["outcome"] == "buffered"
        buried = await olga.post("/api/messages", {"name": "n", "key": "k", "message_id": "lost"}, 202)
        assert buried["outcome"] == "no_subscription"
        assert [each["message_id"] for each in await server.sandbox.dead_letters()] == ["now", "lost"]
        for _ in range(3):  # the first of them takes what was kept
            await ada.post("/api/instances", {"process": "p"}, 201)
            await server.idle()
        several = await olga.post("/api/messages/correlate", {"name": "m", "key": "k"}, 409)
        assert several["code"] == "message.ambiguous"
        assert (await olga.post("/api/messages", {"name": "m", "ttl_seconds": -1}, 422))["code"] == "request.invalid"
        assert (await server.of("vera").post("/api/messages", body, 403))["code"] == "access.forbidden"


@pytest.mark.req("P2")
async def test_a_signal_reaches_everyone_of_the_tenant_and_nobody_else(store_url: str) -> None:
    async with served(store_url) as server:
        heard = Event(id="heard", position="catch", triggers=(SignalTrigger("s"),))
        model = line("p", heard, signals=(signal("s"),))
        for who in ("ada", "eve"):
            await _deploy(server.of(who), model)
            await server.of(who).post("/api/instances", {"process": "p"}, 201)
        assert await server.of("ada").post("/api/signals", {"name": "s"}) == {"name": "s", "reached": 1}
        assert await server.of("eve").post("/api/signals", {"name": "s"}) == {"name": "s", "reached": 1}


@pytest.mark.req("P2")
async def test_a_dead_letter_is_replayed_under_a_corrected_key_or_discarded(store_url: str) -> None:
    async with served(store_url) as server:
        olga, id = server.of("olga"), await asked(server)
        done = {"result": {"answer": "yes"}}
        await olga.post("/api/completions", {"key": "wrong", "message_id": "m/1", **done}, 404)
        await olga.post("/api/completions", {"key": "wrong too", "message_id": "m-2", **done}, 404)
        stuck = await olga.post("/api/dead-letters/replay", {"message_id": "m/1"}, 423)
        assert stuck["code"] == "command.blocked"
        told = await olga.post("/api/dead-letters/replay", {"message_id": "m/1", "key": "case-1"})
        assert told["answer"] == "applied"
        assert (await olga.get(f"/api/calls/{id}"))["state"] == "completed"
        await olga.post("/api/dead-letters/m-2/discard", {"reason": "nobody asked"}, 204)
        await olga.post("/api/dead-letters/m-2/discard", {"reason": "again"}, 409)
        await olga.post("/api/dead-letters/discard", {"reason": "never came", "message_id": "m-9"}, 404)
        assert await server.sandbox.dead_letters() == []


@pytest.mark.req("P3", "V31")
async def test_another_tenant_completes_replays_and_correlates_nothing_of_ours(store_url: str) -> None:
    async with served(store_url) as server:
        eve, id = server.of("eve"), await asked(server)
        done = {"result": {"answer": "theirs"}}
        for key in ("case-1", id, f"{id}:1"):
            foreign = await eve.post("/api/completions", {"key": key, **done}, 404)
            assert foreign["code"] == "completion.unknown_key"
        await eve.post("/api/parked/case-1/token", {}, 404)
        await eve.post("/api/progress", {"key": "case-1", "text": "hi"}, 404)
        await server.of("ada").post("/api/completions", {"key": "lost", "message_id": "m-1", **done}, 404)
        await eve.post("/api/dead-letters/m-1/replay", {}, 404)
        await eve.post("/api/dead-letters/m-1/discard", {"reason": "x"}, 404)
        assert (await server.of("ada").get(f"/api/calls/{id}"))["state"] == "parked"


async def _deploy(desk: Desk, model: Any) -> None:
    await desk.post("/api/processes", {"xml": write_model(model), "profile": "open"}, 201)

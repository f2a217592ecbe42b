"""`POST /api/workflow/task-complete`, and the same by a signed webhook: 202 new, 200 known or over, 404, 400."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from perdure import Perdure
from perdure.app.configuration.server import ServerConfig
from perdure.channels.webhook_settings import HookIn, Hooks, Secret
from perdure.channels.webhook_signatures import sign
from perdure.surfaces.http.application import make_app
from tests.app.task_results.test_round_trip import LIFECYCLE
from tests.lifecycles.onboarding import Handlers, catalogue, written
from tests.surfaces.http.in_process_server import SECRET, Served

PORTAL = "the portal's secret, sixteen bytes and more"
HOOKS = Hooks(
    (
        HookIn("portal", Secret(("PORTAL",)), verbs=("papers.*",), brings_results=True),
        HookIn("bank", Secret(("PORTAL",)), verbs=("bank.*",), brings_results=True),
    )
)
NOBODY = "00000000000000000000000000:MissingDocument:passport:1"


@asynccontextmanager
async def serving(url: str, folder: Path) -> AsyncIterator[tuple[Served, str, str]]:
    """A server, an instance that waits for two pieces, and the correlation id of its task."""
    async with Perdure.open(
        url, definitions=catalogue(), lifecycles=[written(folder, LIFECYCLE)], handlers=Handlers().bound(), hooks=HOOKS
    ) as perdure:
        settings = ServerConfig(authentication=())
        begun = await perdure.lifecycles.start("onboarding", "c1")
        tasks = begun.instance.tasks
        while not tasks:
            await perdure.runtime.store.changed(1.0)
            tasks = (await perdure.lifecycles.get(begun.instance.id)).tasks
        yield Served(perdure, make_app(perdure, settings, SECRET), settings), begun.instance.id, tasks[0].correlation_id


def piece(number: int, **more: Any) -> dict[str, Any]:
    return {"status": "completed", "cargo_type": "document", "cargo_ref": f"entity://default/{number}", **more}


@pytest.mark.both_stores
@pytest.mark.req("T12")
@pytest.mark.req("T3")
async def test_a_result_is_answered_as_the_source_has_it(store_url: str, tmp_path: Path) -> None:
    async with serving(store_url, tmp_path) as (server, id, task), server.client() as client:

        async def post(body: dict[str, Any]) -> tuple[int, str]:
            answer = await client.post("/api/workflow/task-complete", json=body)
            return answer.status_code, answer.json().get("answer", answer.json().get("code"))

        first = piece(1, task_id=task, idempotency_key="k1", timestamp="2026-01-23T00:00:00Z")
        assert await post(first) == (202, "accepted")
        assert await post({**first, "status": "Completed"}) == (200, "known")
        assert (await post(piece(1, correlation_id=NOBODY)))[0] == 404
        for bad in ("passport.pdf", "document://other/1", "ftp://default/1"):
            assert await post({**piece(1, correlation_id=task), "cargo_ref": bad}) == (400, "task_result.malformed")
        wrong = piece(2, correlation_id=task, verb="papers.fetch")
        assert await post(wrong) == (400, "task_result.malformed")
        assert (await post({"correlation_id": task, "status": "done"}))[0] == 400
        tasks = (await client.get(f"/api/workflow/{id}/pending-tasks")).json()["tasks"]
        assert [(each["correlation_id"], each["verb"], each["status"]) for each in tasks] == [
            (task, "papers.ask", "partial")
        ]
        bundle = {"correlation_id": task, "status": "completed", "items": [{"cargo_ref": "entity://default/2"}]}
        assert await post(bundle) == (202, "accepted")
        assert await post(piece(3, correlation_id=task, idempotency_key="k3")) == (200, "over")


@pytest.mark.req("T4")
async def test_a_signed_sender_brings_results_of_its_verbs_alone(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PORTAL", PORTAL)
    async with serving(sqlite_url, tmp_path) as (server, _, task), server.client() as client:

        async def post(body: dict[str, Any], id: str, hook: str = "portal", secret: str = PORTAL) -> tuple[int, Any]:
            raw = json.dumps(body).encode()
            headers = sign(secret.encode(), id, server.perdure.runtime.sources.now(), raw)
            answer = await client.post(f"/hooks/{hook}", content=raw, headers=headers)
            return answer.status_code, answer.json().get("outcome")

        first = piece(1, correlation_id=task)
        assert await post(first, "m1", secret="another secret of sixteen bytes") == (401, None)
        assert await post(first, "m1", hook="bank") == (403, None)
        assert await post(first, "m1") == (202, "counted")
        assert await post(first, "m1") == (200, "known")
        assert await post(piece(1, correlation_id=NOBODY), "m2") == (404, None)
        assert await post({**first, "cargo_ref": "passport.pdf"}, "m3") == (400, None)
        assert await post(piece(2, correlation_id=task), "m4") == (202, "counted")
        assert await post(piece(3, correlation_id=task), "m5") == (200, "over")

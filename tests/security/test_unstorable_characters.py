"""Letters that a store may not hold: refused before it sees them, on every store alike."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surfaces.http.sandbox_server import served

pytestmark = pytest.mark.req("P2")
NUL = "\x00"
GETS = (
    "/api/verbs/%00", "/api/calls/%00", "/api/runbooks/%00", "/api/tasks/%00", "/api/packs/%00", "/api/drafts/%00",
    "/api/processes/%00", "/api/processes/%00/versions/1", "/api/instances/%00", "/api/instances?process=%00",
    "/api/instances?business_key=%00", "/api/instances?in_state=%00", "/api/instances?state=%00",
    "/api/runbooks?q=%00", "/api/runbooks?case=%00", "/api/runbooks?state=%00", "/api/runbooks?after=%00",
    "/api/calls?verb=w.ask&where=case:%00", "/api/calls?verb=%00", "/api/calls?q=%00", "/api/tasks?assignee=%00",
    "/api/tasks?group=%00", "/api/tasks?state=%00", "/api/verbs?q=%00", "/api/events?after=%00",
    "/api/parked?after=%00", "/api/incidents?after=%00", "/api/dead-letters?after=%00",
)  # fmt: skip
POSTS: list[tuple[str, Any]] = [
    ("/api/verbs/w.ask/calls", {"args": {"case": NUL}}), ("/api/runbooks", {"calls": [{"verb": "t.one"}], "case": NUL}),
    ("/api/drafts", {"calls": [{"verb": "t.one", "name": NUL}]}), ("/api/drafts", {"calls": [], "case": NUL}),
    ("/api/cases/%00/cancel", {}), ("/api/parked/%00/token", None), ("/api/parked/token", {"key": NUL}),
    ("/api/completions", {"key": NUL}), ("/api/completions", {"key": "k", "message_id": NUL}),
    ("/api/completions", {"key": "k", "verb": NUL}), ("/api/completions", {"key": "k", "error": NUL, "code": NUL}),
    ("/api/progress", {"key": NUL, "text": "x"}), ("/api/progress", {"key": "k", "text": NUL}),
    ("/api/messages", {"name": NUL}), ("/api/messages", {"name": "m", "key": NUL}),
    ("/api/messages", {"name": "m", "message_id": NUL}), ("/api/messages", {"name": "m", "data": {NUL: NUL}}),
    ("/api/messages/correlate", {"name": "m", "key": NUL}), ("/api/signals", {"name": NUL}),
    ("/api/signals", {"name": "s", "message_id": NUL}), ("/api/dead-letters/%00/replay", {}),
    ("/api/dead-letters/replay", {"message_id": NUL}),
    ("/api/dead-letters/discard", {"message_id": "x", "reason": NUL}),
    ("/api/incidents/retry", {"ids": [NUL]}), ("/api/instances", {"process": NUL}),
    ("/api/instances", {"process": "p", "business_key": NUL}), ("/api/tasks/%00/claim", None),
    ("/api/processes", {"xml": NUL}), ("/api/processes/check", {"xml": "<a/>", "process": NUL}),
    ("/api/processes/%00/versions/1/retire", {"reason": NUL}), ("/api/keys/%00/revoke", {"reason": NUL}),
    ("/api/keys", {"name": NUL, "principal": "x", "roles": ["viewer"]}),
    ("/api/keys", {"name": "x", "principal": NUL, "roles": ["viewer"]}),
    ("/api/keys", {"name": "y", "principal": "x", "roles": ["viewer"], "groups": [NUL]}),
]  # fmt: skip
MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x">
<process id="p" isExecutable="true"><startEvent id="s"/><sequenceFlow id="f" sourceRef="s" targetRef="e"/>
<endEvent id="e"/></process></definitions>"""


async def test_no_letter_breaks_a_store(store_url: str) -> None:
    async with served(store_url) as server:
        ada = server.of("ada")
        await ada.post("/api/processes", {"xml": MODEL}, 201)
        for path in GETS:
            assert (await ada.ask("GET", path)).status_code < 500, path
        broken = []
        for path, body in POSTS:
            answer = await ada.ask("POST", path, **({} if body is None else {"json": body}))
            if answer.status_code >= 500:
                broken.append((path, body))
        assert broken == []

"""Cross-site scripting: what people wrote comes back as data only, and a page made of it runs nothing."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

from perdure.bpmn.model import Value
from perdure.bpmn.xml import write_model
from tests.engines.embedded.engine_world import VERBS
from tests.engines.embedded.process_models import line, service, user
from tests.surfaces.http.sandbox_server import WAITS, Server, served

EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(1)</script>",
    "';alert(1)//",
    "javascript:alert(1)",
    "<svg/onload=alert(1)>",
    "\u202e<b>&amp;</b>",
]
TOLD = """
- name: x.tell
  description: "Tell <script>alert(1)</script>"
  input_schema: {properties: {what: {type: string}, file: {type: string}}}
  sentences: {step: ["Tell {what} <script>alert(2)</script>"]}
  execution: {kind: sync}
"""


class Page(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and the texts of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def runs(self) -> list[tuple[str, dict[str, str]]]:
        """Everything that would run, load or lead somewhere."""
        return [
            (tag, found) for tag, found in self.elements
            if (tag == "script" and found.get("type") != "application/json")
            or tag in ("iframe", "object", "embed", "form", "link", "base")
            or any(name.startswith("on") for name in found)
            or any(value.strip().lower().startswith(("javascript:", "http")) for name, value in found.items()
                   if name in ("href", "src", "action", "xlink:href"))
        ]  # fmt: skip


async def told(server: Server) -> dict[str, str]:
    """Everything with a name of somebody's choosing, named badly: an instance, a task, a call, a runbook."""
    ada, evil = server.of("ada"), EVIL[0]
    nodes = (
        service("a", "t.one", name=EVIL[1]),
        user("review", name=EVIL[2], groups=Value("seniors")),
    )
    model = line("p", *nodes)
    await ada.post("/api/processes", {"xml": write_model(model), "profile": "open"}, 201)
    data = {"file_name": 'a"><script>alert(1)</script>.pdf', "texts": EVIL, "deep": {evil: EVIL[5]}}
    body = {"process": "p", "data": data, "business_key": EVIL[3]}
    instance = await ada.post("/api/instances", body, 201)
    await server.idle()
    call = await ada.post("/api/verbs/x.tell/calls", {"args": {"what": evil, "file": EVIL[1]}}, 201)
    token = (await ada.get(f"/api/instances/{instance['id']}"))["tokens"][0]["number"]
    return {"instance": instance["id"], "call": call["id"], "task": f"{instance['id']}:{token}"}


@pytest.mark.req("P2", "P3")
async def test_user_supplied_strings_come_back_as_json_data_letter_by_letter(store_url: str) -> None:
    async with served(store_url, VERBS + WAITS + TOLD) as server:
        ids = await told(server)
        ada = server.of("ada")
        shown = await ada.get(f"/api/instances/{ids['instance']}")
        assert shown["data"]["texts"] == EVIL and shown["business_key"] == EVIL[3]
        assert (await ada.get(f"/api/tasks/{ids['task']}"))["name"].lower() == EVIL[2].lower()
        assert (await ada.get(f"/api/calls/{ids['call']}"))["args"]["what"] == EVIL[0]
        instance = f"/api/instances/{ids['instance']}"
        paths = [instance, f"{instance}/diagram", f"{instance}/events", f"/api/tasks/{ids['task']}", "/api/verbs"]
        for path in (*paths, f"/api/calls/{ids['call']}", "/api/processes/p/versions/1"):
            answer = await ada.ask("GET", path)
            assert answer.headers["content-type"].startswith("application/json"), path
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert "script-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.req("P2", "P3")
async def test_an_exported_page_escapes_every_string_and_runs_nothing(store_url: str) -> None:
    async with served(store_url, VERBS + WAITS + TOLD) as server:
        ids = await told(server)
        await server.of("sue").post(f"/api/tasks/{ids['task']}/complete", {"data": {"verdict": EVIL[1]}})
        await server.idle()
        for path in (f"/api/instances/{ids['instance']}/export", f"/api/calls/{ids['call']}/export"):
            answer = await server.of("ada").ask("GET", path, params={"format": "html"})
            assert answer.status_code == 200
            page = Page(answer.text)
            assert page.runs() == []
            sources = [found.get("src", "") for tag, found in page.elements if tag == "img"]
            assert all(each.startswith("data:image/svg+xml") for each in sources), sources
            assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text, "it is there, and it is text"
            assert answer.headers["content-disposition"].startswith("attachment")
            assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.req("P2")
@pytest.mark.parametrize("evil", EVIL[:4])
async def test_refusals_that_repeat_what_was_sent_are_never_pages(evil: str) -> None:
    async with served() as server:
        ada = server.of("ada")
        asked: list[tuple[str, str, Any]] = [
            ("GET", "/api/instances/" + evil.replace("/", "%2F"), None),
            ("GET", "/api/tasks/" + evil.replace("/", "%2F"), None),
            ("POST", "/api/completions", {"key": evil, "result": {}}),
            ("POST", "/api/messages/correlate", {"name": evil, "key": evil}),
            ("POST", "/api/instances", {"process": evil}),
            ("POST", "/api/processes", {"xml": evil, "process": evil}),
            ("POST", "/api/incidents/retry", {"ids": [evil]}),
            ("POST", "/api/keys", {"name": evil, "principal": evil, "roles": [evil]}),
        ]
        for method, path, body in asked:
            answer = await ada.ask(method, path, **({"json": body} if body is not None else {}))
            assert answer.headers["content-type"].startswith(("application/problem+json", "application/json")), path
            assert answer.status_code < 500
            assert answer.headers["x-content-type-options"] == "nosniff"

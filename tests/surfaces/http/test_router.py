"""The router and the fields of requests: one endpoint for a path and a method, and refusals that name every fault."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.surfaces.http.endpoint import Endpoint
from perdure.surfaces.http.json_request import JsonRequest
from perdure.surfaces.http.json_response import Response
from perdure.surfaces.http.problem_details import RefusedRequest
from perdure.surfaces.http.router import ANY, Router, normalized
from tests.surfaces.http.in_process_server import served

pytestmark = pytest.mark.req("P2")


def endpoint(id: str, method: str, *paths: str) -> Endpoint:
    async def nothing(request: JsonRequest) -> Response:
        return Response()

    return Endpoint(id, method, paths, nothing, is_public=True)


ROUTER = Router(
    [
        endpoint("page", "GET", "/", "/{path:path}"),
        endpoint("list", "GET", "/api/waits"),
        endpoint("named", "POST", "/api/waits/token"),
        endpoint("one", "GET", "/api/waits/{key}"),
        endpoint("token", "POST", "/api/waits/{key}/token"),
        endpoint("change", "PUT", "/api/waits/{id}"),
        endpoint("agents", ANY, "/mcp"),
    ]
)


@pytest.mark.parametrize(
    ("method", "path", "id", "words"),
    [
        ("GET", "/", "page", {}),
        ("GET", "/a/b/c.js", "page", {"path": "a/b/c.js"}),
        ("GET", "/api/waits", "list", {}),
        ("GET", "//api//waits/", "list", {}),
        ("GET", "/api/waits/x y", "one", {"key": "x y"}),
        ("PUT", "/api/waits/x", "change", {"id": "x"}),
        ("POST", "/api/waits/token", "named", {}),
        ("POST", "/api/waits/token/token", "token", {"key": "token"}),
        ("GET", "/api/waits/{}", "one", {"key": "{}"}),
        ("DELETE", "/mcp", "agents", {}),
    ],
)
def test_a_path_leads_to_one_endpoint(method: str, path: str, id: str, words: dict[str, str]) -> None:
    found, _, placed = ROUTER.find(method, normalized(path))
    assert (found.id, placed) == (id, words)


@pytest.mark.parametrize("path", ["/api", "/api/others", "/api/waits/x/others", "/api/waits/x/token/y"])
def test_a_path_of_the_interface_that_is_not_there_is_no_page(path: str) -> None:
    with pytest.raises(RefusedRequest) as refused:
        ROUTER.find("GET", path)
    assert (refused.value.status, refused.value.code) == (404, "request.unknown_path")


def test_a_path_tells_its_methods() -> None:
    with pytest.raises(RefusedRequest) as refused:
        ROUTER.find("DELETE", "/api/waits/x")
    assert (refused.value.status, refused.value.headers) == (405, {"Allow": "GET, OPTIONS, PUT"})


async def test_options_of_a_path_are_all_its_methods() -> None:
    async with served() as found, found.client() as client:
        answer = await client.options("/api/session")
        assert (answer.status_code, answer.headers["allow"]) == (204, "DELETE, GET, OPTIONS, POST")


async def test_a_refusal_names_every_field_that_does_not_fit() -> None:
    async with served(authentication=()) as found, found.client() as client:
        unfit = await client.get("/api/calls", params={"limit": "0", "state": "x" * 501})
        assert [each["path"] for each in unfit.json()["errors"]] == ["state", "limit"]
        bodies: list[Any] = [["no object"], {"unknown": 1}, {"id": "named by the path already"}, {"reason": 5}]
        paths = []
        for body in bodies:
            answer = await client.post("/api/calls/x/cancel", json=body)
            assert (answer.status_code, answer.json()["code"]) == (422, "request.invalid"), body
            paths.append(answer.json()["errors"][0]["path"])
        assert paths == ["data", "data", "data", "reason"]


async def test_a_guard_that_names_no_version_lets_nobody_act() -> None:
    async with served(authentication=()) as found, found.client() as client:
        call = (await client.post("/api/verbs/desk.wait/calls", json={"args": {}})).json()["id"]
        answer = await client.post(f"/api/calls/{call}/cancel", json={}, headers={"If-Match": ""})
        assert answer.status_code == 412


async def test_the_description_is_sent_once_to_a_reader_that_keeps_it() -> None:
    async with served() as found, found.client() as client:
        whole = await client.get("/api/openapi.json")
        assert (whole.status_code, whole.headers["cache-control"]) == (200, "no-cache")
        again = await client.get("/api/openapi.json", headers={"If-None-Match": whole.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert found.state.document.value is found.state.document.value

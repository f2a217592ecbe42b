"""The authorisation matrix: every route, every role, own and foreign tenants, every kind of bad credential."""

from __future__ import annotations

import re
from typing import Any

import pytest

from perdure.access.api_key_text import key_text
from perdure.access.principal import ROLES
from perdure.access.roles import OPERATIONS
from perdure.access.signed_tokens import RequestName, WaitName, request_token, wait_token
from perdure.app.operations.operation_table import TABLE
from perdure.sources import SECOND
from perdure.surfaces.http.endpoint import Endpoint
from perdure.surfaces.http.routes import ENDPOINTS
from tests.security.authorisation import roads
from tests.security.matrix import MATRIX
from tests.surfaces.http.in_process_server import SECRET, Served, served

pytestmark = pytest.mark.req("P3")
NO_ID = "01m7hk5wprf2yvfhhcs4kqadfv"
PLACES = {"version": "1", "path": "x", "key": f"{NO_ID}:1", "name": "desk.note", "process": "none", "case": "C-1"}


class Route:
    """A route as somebody asks it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.name, self.method = endpoint.id, endpoint.method
        self.operation = "" if endpoint.is_public else endpoint.operation
        path = max(endpoint.paths, key=len)
        self.path = re.sub(r"\{(\w+)(:\w+)?\}", lambda found: PLACES.get(found[1], NO_ID), path)


ROUTES = [Route(each) for each in ENDPOINTS]
GUARDED = [each for each in ROUTES if each.operation]


async def asked(found: Served, route: Route, credential: str) -> int:
    async with found.client(Authorization=credential) if credential else found.client() as client:
        body = {"json": {}} if route.method in ("POST", "PUT") else {}
        return (await client.request(route.method, route.path, **body)).status_code


def test_every_route_stands_in_the_matrix_with_what_it_asks_for() -> None:
    assert {each.name: each.operation for each in ROUTES} == MATRIX
    assert set(MATRIX.values()) - {""} <= set(OPERATIONS)


async def test_each_role_may_what_the_table_says_and_nothing_else() -> None:
    wrong: list[str] = []
    async with served(rate_per_second=1e6, rate_burst=1e6) as found:
        for role in ROLES:
            key = await found.key(role)
            for route in GUARDED:
                status = await asked(found, route, f"Bearer {key.text}")
                is_let_in = status not in (401, 403)
                if is_let_in != (role in OPERATIONS[route.operation]) or status >= 500:
                    wrong.append(f"{role} {route.method} {route.path}: {status}")
    assert wrong == []


async def test_a_key_for_some_operations_opens_only_those() -> None:
    wrong: list[str] = []
    async with served(rate_per_second=1e6, rate_burst=1e6) as found:
        key = await found.key("admin", operations=("call.read",))
        for route in GUARDED:
            status = await asked(found, route, f"Bearer {key.text}")
            if (status != 403) != (route.operation == "call.read"):
                wrong.append(f"{route.method} {route.path}: {status}")
    assert wrong == []


async def bad_credentials(found: Served) -> dict[str, str]:
    """Each looks like a good one and is none."""
    sources: Any = found.perdure.runtime.sources
    good, revoked = [await found.key("admin", name=name) for name in ("good", "revoked")]
    old = await found.key("admin", name="old", expires_at=sources.now() + SECOND)
    sources.follow(sources.now() + 2 * SECOND - sources.monotonic())
    await found.perdure.access.revoke_key(revoked.id)
    last = "A" if good.text[-1] != "A" else "Q"
    return {
        "nobody": "", "expired": f"Bearer {old.text}", "revoked": f"Bearer {revoked.text}",
        "forged": f"Bearer {good.text[:-1]}{last}", "unknown": f"Bearer {key_text('default', NO_ID, b'x' * 32)}",
        "foreign": f"Bearer {key_text('other', good.id, b'x' * 32)}", "basic": "Basic YWRtaW46YWRtaW4=",
        "token": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.", "empty": "Bearer ", "wait": "Wait wait_x.y.z",
    }  # fmt: skip


async def test_no_bad_credential_opens_anything() -> None:
    wrong: list[str] = []
    async with served(rate_per_second=1e6, rate_burst=1e6) as found:
        found.state.failures._burst = 1e9
        for kind, credential in (await bad_credentials(found)).items():
            for route in GUARDED:
                status = await asked(found, route, credential)
                if status != 401:
                    wrong.append(f"{kind} {route.method} {route.path}: {status}")
    assert wrong == []


OPERATIONS_OF_TOKENS = {row.name for row in TABLE if roads(row)["token"] == "its own wait"}


async def test_the_token_of_a_wait_opens_nothing_but_its_wait() -> None:
    wrong: list[str] = []
    async with served(rate_per_second=1e6, rate_burst=1e6) as found:
        token = wait_token(SECRET, WaitName("default", "some-key"))
        for route in GUARDED:
            status = await asked(found, route, f"Wait {token}")
            is_for_waits = route.operation in OPERATIONS_OF_TOKENS
            if is_for_waits == (status in (401, 403)) and not (is_for_waits and status == 403):
                wrong.append(f"{route.method} {route.path}: {status}")
    assert wrong == []


OPERATIONS_OF_REQUESTS = {row.name for row in TABLE if roads(row)["token"] == "its own request"}


async def test_the_token_of_a_request_opens_nothing_but_its_request() -> None:
    wrong: list[str] = []
    async with served(rate_per_second=1e6, rate_burst=1e6) as found:
        found.state.failures._burst = 1e9
        name = RequestName("default", "01kdvdna00f31tjsxkcw8yq9y8:A:b:1", 2**62, ("somebody",))
        token = request_token(SECRET, name)
        for route in GUARDED:
            status = await asked(found, route, f"Wait {token}")
            # There is no such request: its own operations find none, all others are forbidden.
            if (route.operation in OPERATIONS_OF_REQUESTS) != (status not in (401, 403)):
                wrong.append(f"{route.method} {route.path}: {status}")
            is_elsewhere = await asked(found, route, f"Bearer {token}")
            if is_elsewhere != 401:
                wrong.append(f"as a key {route.method} {route.path}: {is_elsewhere}")
    assert wrong == []

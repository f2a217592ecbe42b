"""The description of the API holds: whatever is asked, nothing breaks and nothing answers otherwise than it says."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from perdure.surfaces.http.routes import ENDPOINTS
from tests.surfaces.http.in_process_server import served

CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
    response_schema_conformance,
]  # fmt: skip
FEW, MANY = 2, 12
"""Questions for each operation, at normal depth and beyond."""


class Background:
    """A server in a thread of its own, because the tool that asks it waits."""

    def __init__(self) -> None:
        self.base = ""
        self.description: dict[str, Any] = {}
        self.ids: dict[str, str] = {}
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=self._live)

    def start(self) -> None:
        self._thread.start()
        self._is_up.wait()
        assert self.description, "the server did not come up"

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _live(self) -> None:
        try:
            asyncio.run(self._run())
        finally:
            self._is_up.set()

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with served(authentication=(), on_socket=True) as found:
            self.base = found.base
            async with found.client() as client:
                self.description = (await client.get("/api/openapi.json")).json()
                call = await client.post("/api/verbs/desk.wait/calls", json={"args": {"who": "Ana"}})
                calls = [{"verb": "desk.wait", "name": "first"}, {"verb": "desk.note", "args": {"text": "x"}}]
                runbook = await client.post("/api/runbooks", json={"calls": calls, "case": "C-1", "sealed": False})
                draft = await client.post("/api/drafts", json={"calls": calls})
            self.ids = {"calls": call.json()["id"], "runbooks": runbook.json()["id"], "drafts": draft.json()["id"]}
            self._is_up.set()
            await self._stop.wait()


@pytest.fixture(scope="module")
def background() -> Iterator[Background]:
    found = Background()
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def operations(background: Background) -> dict[str, Any]:
    """Every operation of the description by its name, as the tool that asks sees it."""
    schema = schemathesis.openapi.from_dict(background.description)
    found = [each.ok() for each in schema.get_all_operations()]
    return {each.definition.raw["operationId"]: each for each in found}


pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisDeprecationWarning")
"""The server draws chance in its own thread, which is no business of the examples."""
NAMES = sorted(each.id for each in ENDPOINTS if each.tag)


@pytest.mark.req("P2")
@pytest.mark.parametrize("examples", [FEW, pytest.param(MANY, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_asked_nothing_breaks_and_nothing_answers_otherwise_than_described(
    name: str, examples: int, operations: dict[str, Any], background: Background
) -> None:
    @settings(
        max_examples=examples, derandomize=True, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operations[name].as_strategy(), is_known=st.booleans())
    def ask(case: Case, is_known: bool) -> None:
        # Half of the time the id is one that is there: else no question would get further than "not found".
        kind = case.path.split("/")[2] if case.path.startswith("/api/") else ""
        if is_known and kind in background.ids and "id" in case.path_parameters:
            case.path_parameters["id"] = background.ids[kind]
        case.call_and_validate(base_url=background.base, checks=CHECKS, timeout=20, allow_redirects=False)

    ask()


@pytest.mark.req("P2")
def test_every_route_that_is_described_is_asked(operations: dict[str, Any]) -> None:
    assert sorted(operations) == NAMES


@pytest.mark.req("P2")
def test_every_operation_has_a_readable_name_and_says_what_it_does(background: Background) -> None:
    operations = [each for methods in background.description["paths"].values() for each in methods.values()]
    assert len({each["operationId"] for each in operations}) == len(operations)
    for each in operations:
        assert each["operationId"].replace("_", "").isalpha(), each["operationId"]
        assert each["description"].endswith("."), each["operationId"]

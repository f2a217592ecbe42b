"""The authorisation matrix holds: every operation, by roles, by keys that reach its thing or do not, by each road."""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from perdure.access.principal import ROLES, Principal, Role
from perdure.app.operations.operation import Unscoped
from perdure.app.operations.operation_table import TABLE
from perdure.app.webhooks import incoming_webhooks
from perdure.errors import PerdureError, RejectedError
from perdure.surfaces.mcp.tool import Tool, tool_session
from perdure.surfaces.mcp.tool_list import every_tool
from tests.acceptance.commands import Shell
from tests.security.authorisation import (
    ACTS_OF_HOOKS,
    HOLDS_NO_DATA,
    KEYS,
    OF_HOOKS,
    OWN_OF_EVERYBODY,
    Key,
    Outcome,
    Row,
    matrix,
    outcome,
    roads,
)
from tests.security.authorisation_page import PAGE, written
from tests.security.authorised_things import PUB, SEC, Things, prepared
from tests.security.narrow_house import House, narrow_house, tells
from tests.surfaces.http.sandbox_server import person

pytestmark = pytest.mark.req("V36", "P3")
REACH: dict[Key, tuple[str, str]] = {
    "wide": ("*", "default"), "reaching": ("pub.*,document.*", "default"), "narrow": ("pub.*", "default"),
    "foreign": ("*", "other"),
}  # fmt: skip
READS = ("GET",)
READ_BY_HOOKS = frozenset({"hooks", "sources", "metrics"})
"""Of the platform, what a hook only reads: its settings, the time and the counters."""
MAY_BE_ABSENT = frozenset({"show_traceback", "download_blob", "show_upload"})
"""Rows about something that not every call failed with, not every document has, and not everybody began."""


def holder(role: Role, key: Key) -> Principal:
    """Whoever has a key of that kind."""
    verbs, tenant = REACH[key]
    return person(f"{role}-{key}", role, tenant=tenant, verbs=tuple(verbs.split(",")))


@asynccontextmanager
async def furnished(folder: Path) -> AsyncIterator[tuple[House, Things, Things]]:
    async with narrow_house(people=[holder(role, key) for role in ROLES for key in KEYS], blobs=folder) as house:
        await prepared(house)
        yield house, Things(house, PUB), Things(house, SEC)


def test_every_operation_stands_in_the_matrix() -> None:
    assert {id for id, _, _ in matrix()} == {row.id for row in TABLE}
    assert len(matrix()) == len(TABLE) * len(ROLES) * len(KEYS)
    assert {row.id for row in TABLE if isinstance(row.scope, Unscoped)} == HOLDS_NO_DATA, "says why it needs no verb"


def test_the_page_shows_the_matrix_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == written(), "run: python -m tests.security.authorisation_page"


async def asked_over_http(house: House, things: Things, row: Row, who: str) -> tuple[int, bool]:
    """The status, and whether the answer tells data that the request did not bring."""
    asked = await things.request(row, row.routes[0])
    more = {"json": asked.body} if asked.body is not None else {}
    answer = await house.server.of(who).ask(asked.method, asked.path, **more)
    if row.id == "retry_incidents" and answer.status_code == 200:
        (retried,) = answer.json()["items"]
        return int(retried["status"]), tells(retried)
    return answer.status_code, tells(answer.text) and not tells(f"{asked.path} {asked.body}")


def fits(row: Row, wanted: Outcome, status: int, has_told: bool) -> bool:
    if status >= 500 or status == 401:
        return False
    match wanted:
        case "forbidden":
            return status == 403 and not has_told
        case "not found":
            return status == 404 and not has_told
        case "blank":
            return not has_told and (status in (200, 404) or row.routes[0].method not in READS)
        case "allowed":
            may_be_none = row.routes[0].method not in READS or row.id in HOLDS_NO_DATA | MAY_BE_ABSENT
            return status != 403 and (status == 200 or may_be_none)


async def wrong_over_http(folder: Path, roles: Iterable[Role], keys: Iterable[Key]) -> list[str]:
    wrong: list[str] = []
    async with furnished(folder) as (house, pub, sec):
        for role in roles:
            for key in keys:
                things = pub if key == "reaching" else sec
                for row in TABLE:
                    wanted = outcome(row, role, key)
                    status, has_told = await asked_over_http(house, things, row, f"{role}-{key}")
                    if not fits(row, wanted, status, has_told):
                        wrong.append(f"{role} {key} {row.id}: {wanted}, but {status} {'told' * has_told}")
                    if wanted == "allowed" and row.routes[0].method not in READS:
                        things.renew()
    return wrong


async def test_keys_reach_over_http_what_the_matrix_says(tmp_path: Path) -> None:
    assert "\n".join(await wrong_over_http(tmp_path, ["admin"], ["narrow", "foreign", "reaching"])) == ""


@pytest.mark.deep
@pytest.mark.parametrize("role", ROLES)
async def test_every_role_with_every_key_may_over_http_what_the_matrix_says(role: Role, tmp_path: Path) -> None:
    assert "\n".join(await wrong_over_http(tmp_path, [role], KEYS)) == ""


async def asked_over_mcp(house: House, things: Things, tool: Tool, who: Principal) -> tuple[str, bool]:
    """The code of the refusal, if there is one, and whether the answer tells data that the arguments did not bring."""
    desk, given = tool_session(house.server.sandbox, who), await things.arguments(tool)
    try:
        desk.check(tool.operation)
        answer: Any = await tool.act(desk, msgspec.convert(given, tool.takes))
    except RejectedError as error:
        return error.rejection.code, False
    except PerdureError as error:
        return error.code, False
    return "", tells(msgspec.json.encode(answer).decode()) and not tells(str(given))


async def wrong_over_mcp(folder: Path, roles: Iterable[Role], keys: Iterable[Key]) -> list[str]:
    wrong: list[str] = []
    names = {row.name: row for row in TABLE}
    async with furnished(folder) as (house, pub, sec):
        for role in roles:
            for key in keys:
                things = pub if key == "reaching" else sec
                for tool in every_tool().values():
                    code, has_told = await asked_over_mcp(house, things, tool, holder(role, key))
                    is_refused = role not in names[tool.operation].roles or (key == "narrow" and not tool.is_reading)
                    is_wrong = (code == "forbidden") != is_refused and not (tool.is_reading and key == "narrow")
                    if is_wrong or (
                        has_told and (key == "narrow" or (key == "foreign" and tool.name not in OWN_OF_EVERYBODY))
                    ):
                        wrong.append(f"{role} {key} {tool.name}: {code} {'told' * has_told}")
                    if not tool.is_reading and not is_refused:
                        things.renew()
    return wrong


async def test_keys_reach_over_mcp_what_they_reach_over_http(tmp_path: Path) -> None:
    assert "\n".join(await wrong_over_mcp(tmp_path, ["admin"], ["narrow", "foreign", "reaching"])) == ""


@pytest.mark.deep
@pytest.mark.parametrize("role", ROLES)
async def test_every_role_with_every_key_may_no_more_over_mcp(role: Role, tmp_path: Path) -> None:
    assert "\n".join(await wrong_over_mcp(tmp_path, [role], KEYS)) == ""


def test_an_incoming_hook_leads_to_the_operations_that_the_matrix_says() -> None:
    tree = ast.parse(Path(incoming_webhooks.__file__).read_text(encoding="utf-8"))
    calls = [each.func for each in ast.walk(tree) if isinstance(each, ast.Call)]
    acts = {each.attr for each in calls if isinstance(each, ast.Attribute) and _is_platform(each.value)}
    assert {ACTS_OF_HOOKS.get(each, each) for each in acts} - {"acting"} == OF_HOOKS
    assert len(acts - {"acting"}) == len(OF_HOOKS)
    assert {row.id for row in TABLE if roads(row)["webhook"]} == OF_HOOKS


def _is_platform(value: ast.expr) -> bool:
    """The platform, or what it holds: `perdure.complete`, `perdure.runtime.results.count`."""
    while isinstance(value, ast.Attribute) and value.attr not in READ_BY_HOOKS:
        value = value.value
    return isinstance(value, ast.Name) and value.id == "perdure"


def test_the_conversation_is_the_owners_and_takes_no_key(tmp_path: Path) -> None:
    ended = Shell(tmp_path).run("repl", "--server", "http://127.0.0.1:9", code=2)
    assert "works on a store" in ended.error

"""The table of operations: complete, closed, and the only way anything happens on behalf of a principal."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from perdure.access.principal import Principal, Role
from perdure.access.roles import OPERATIONS, may
from perdure.app import Perdure
from perdure.app.operations import calls, verbs
from perdure.app.operations.calls import CancelCall, ShowCall
from perdure.app.operations.operation import ANY_VERSION, Context, Request, Route, operation
from perdure.app.operations.operation_execution import perform
from perdure.app.operations.operation_table import OF_SURFACES, TABLE
from perdure.app.operations.request_fields import ById
from perdure.app.operations.verb_scopes import NO_VERB
from perdure.app.operations.verbs import CallVerb
from perdure.errors import InvariantBroken, RejectedError, StaleError
from perdure.surfaces.http.operation_routes import seen_versions
from tests.surfaces.http.in_process_server import HANDLERS, catalogue

pytestmark = pytest.mark.req("P3")
GONE = (
    "case.read",
    "dead-letter.read",
    "draft.list",
    "hook.create",
    "hook.list",
    "hook.read",
    "hook.remove",
    "hook.retry",
    "incident.read",
    "message.read",
    "parked.read",
    "runbook.erase",
)


def who(role: Role, *patterns: str, **more: Any) -> Principal:
    return Principal("default", "ana", "person", frozenset({role}), verbs=patterns or ("*",), **more)


def opened() -> Any:
    return Perdure.open("sqlite://", definitions=catalogue(), handlers=HANDLERS)


def test_every_name_that_can_be_granted_does_something_and_the_other_way_round() -> None:
    assert {row.name for row in TABLE} | OF_SURFACES == set(OPERATIONS)
    assert not set(GONE) & set(OPERATIONS)


def test_a_guarded_request_names_its_subject_and_every_field_of_a_path_is_one_of_the_request() -> None:
    for row in TABLE:
        fields = set(row.request.__struct_fields__)
        assert not row.guard or "id" in fields, row.id
        assert row.summary.endswith("."), row.id
        for route in row.routes:
            places = {part.strip("{}") for part in route.path.split("/") if part.startswith("{")}
            assert places <= fields, row.id
            assert (route.method == "GET") <= (row.repeat == "safe"), row.id


def test_an_operation_that_no_role_is_allowed_cannot_be_declared() -> None:
    with pytest.raises(InvariantBroken, match="no role"):
        operation("call.sing", Route("POST", "/calls/sing"), tag="calls", scope=NO_VERB)


def test_a_key_scoped_to_an_operation_that_is_gone_still_loads_and_may_do_nothing() -> None:
    stored = msgspec.json.encode(who("admin", operations=("case.read",)))
    assert may(msgspec.json.decode(stored, type=Principal)) == []


async def test_role_verb_and_version_are_checked_before_anything_is_done() -> None:
    async with opened() as perdure:
        call = await perdure.call("desk.wait", {"who": "Ana"})
        stop = CancelCall(call.id)

        async def refused(context: Context) -> RejectedError:
            with pytest.raises(RejectedError) as caught:
                await perform(context, calls.cancel_call, stop)
            return caught.value

        assert (await refused(Context(perdure, who("viewer")))).rejection.code == "forbidden"
        assert (await refused(Context(perdure, who("admin", "desk.note")))).rejection.code == "forbidden"
        stale = await refused(Context(perdure, who("admin"), seen=frozenset({99})))
        assert isinstance(stale, StaleError) and stale.sequence == call.sequence
        assert (await perdure.status(call.id)).state == "parked"
        seen = Context(perdure, who("admin", "desk.*"), seen=frozenset({call.sequence}))
        assert (await perform(seen, calls.cancel_call, stop)).state == "cancelled"


async def test_an_answer_tells_nothing_of_data_whose_verb_a_key_does_not_reach() -> None:
    async with opened() as perdure:
        call = await perdure.call("desk.note", {"text": "secret"})
        whole = await perform(Context(perdure, who("viewer")), calls.show_call, ShowCall(call.id))
        assert (whole, whole.sentence) == (call, "Note secret")
        told = await perform(Context(perdure, who("viewer", "vault.*")), calls.show_call, ShowCall(call.id))
        assert (told.id, told.state, told.args, told.sentence) == (call.id, "completed", None, "")


async def test_a_verb_is_checked_by_its_whole_name_however_it_is_called() -> None:
    async with opened() as perdure:
        narrow = Context(perdure, who("operator", "desk.note"))
        assert (await perform(narrow, verbs.call_verb, CallVerb("desk.note", {"text": "x"}))).state == "completed"
        with pytest.raises(RejectedError, match=r"desk\.wait"):
            await perform(narrow, verbs.call_verb, CallVerb("desk.wait"))


def test_requests_refuse_fields_they_do_not_know() -> None:
    for row in TABLE:
        assert issubclass(row.request, Request)
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({"misspelt": 1}, row.request)


@pytest.mark.parametrize(
    ("header", "versions"),
    [
        (None, None),
        ("*", frozenset({ANY_VERSION})),
        ('"7"', frozenset({7})),
        ('"7", "8"', frozenset({7, 8})),
        ('W/"7"', frozenset()),
        ('"007"', frozenset()),
        (f'"{"9" * 5000}"', frozenset()),
    ],
)
def test_if_match_names_versions_and_nothing_else(header: str | None, versions: frozenset[int] | None) -> None:
    assert seen_versions(header) == versions


async def test_a_star_compares_no_version_and_still_keeps_others_off() -> None:
    async with opened() as perdure:
        call = await perdure.call("desk.wait")

        @operation("call.cancel", tag="calls", scope=NO_VERB, guard=True)
        async def held(context: Context, request: ById) -> int | None:
            assert call.id in perdure.runtime.guards._locks
            return context.sequence

        star = Context(perdure, who("operator"), seen_versions("*"))
        assert await perform(star, held, ById(call.id)) == call.sequence

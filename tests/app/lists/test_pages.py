"""Lists a page at a time: everything once, in order, of one tenant, whatever is added or damaged meanwhile."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.app.lists import lists as listings
from perdure.app.lists.cursors import Page, cursor_of, place_of
from perdure.app.perdure import Perdure
from perdure.errors import RejectedError
from perdure.testing.sandbox import Sandbox
from tests.conformance.stores import Raw

VERBS = """
- {name: list.note, version: 1, description: Note something, sentences: {step: "Note {entity}"}, index: [entity],
   input_schema: {properties: {entity: {type: string}}}, execution: {kind: sync, effects: none}}
- {name: list.ask, version: 1, description: Ask for documents, sentences: {step: "Ask {entity} for documents"},
   index: [entity], input_schema: {properties: {entity: {type: string}}}, execution: {kind: durable}}
- {name: list.break, version: 1, description: Break, input_schema: {properties: {entity: {type: string}}},
   output_schema: {properties: {ok: {type: boolean}}}, execution: {kind: sync, effects: none}}
"""


@asynccontextmanager
async def opened(url: str, folder: Any) -> AsyncIterator[Sandbox]:
    (folder / "list.yaml").write_text(VERBS)
    handlers = {
        "list.note": lambda call: {"entity": call.args.get("entity", "")},
        "list.break": lambda call: {"ok": "perhaps"},
    }
    async with Sandbox.open(url, definitions=folder / "list.yaml", handlers=handlers) as sandbox:
        yield sandbox


async def whole(list: Callable[..., Awaitable[Page[Any]]], limit: int = 3, **filters: Any) -> list[Any]:
    """Every item of a list, page by page."""
    found, after = [], None
    while True:
        page = await list(limit=limit, after=after, **filters)
        assert len(page.items) <= limit
        found += page.items
        if page.next is None:
            return found
        after = page.next


def ids(items: list[Any]) -> list[str]:
    return [each.id for each in items]


async def run(sandbox: Perdure, entity: str, **options: Any) -> str:
    return (await sandbox.runbooks.start(f'(list.ask :entity "{entity}")', **options)).id


@pytest.mark.req("P2", "V24")
async def test_runbooks_and_calls_are_listed_newest_first_with_title_and_progress(
    store_url: str, tmp_path: Any
) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        first = await run(sandbox, "Allianz", case="c-1", idempotency_key="k-1")
        call = await sandbox.call("list.note", {"entity": "Munich Re"}, idempotency_key="k-2")
        second = await run(sandbox, "Talanx", case="c-2", idempotency_key="k-3")
        listing = sandbox.listing
        assert ids(await whole(listing.runbooks, 1)) == [second, first]
        assert ids(await whole(listing.runbooks, 1, kind="calls")) == [call.id]
        rows = await whole(listing.runbooks, 2, kind="all")
        assert ids(rows) == [second, call.id, first]
        assert [each.title for each in rows] == [
            "Ask Talanx for documents", "Note Munich Re", "Ask Allianz for documents",
        ]  # fmt: skip
        shown = rows[0]
        assert (shown.state, shown.case, shown.steps, shown.done, shown.verb) == ("parked", "c-2", 1, 0, "")
        assert shown.progress == (await sandbox.runbooks.show(second)).progress and shown.waiting
        assert (rows[1].verb, rows[1].state, rows[1].done, rows[1].sequence) == ("list.note", "completed", 1, 1)


@pytest.mark.req("P2")
async def test_lists_go_by_state_and_case_also_past_a_thousand(store_url: str, tmp_path: Any) -> None:
    (tmp_path / "list.yaml").write_text(VERBS)
    async with Perdure.open(store_url, definitions=tmp_path / "list.yaml") as sandbox:
        kept = await run(sandbox, "Zurich", case="old", idempotency_key="first")
        many = [await run(sandbox, "Axa", case="many", idempotency_key=f"n-{n}") for n in range(1010)]
        await sandbox.runbooks.cancel(many[7], "no")
        listing = sandbox.listing
        assert ids(await whole(listing.runbooks, 200, case="many")) == many[::-1]
        assert ids(await whole(listing.runbooks, 5, state="cancelled")) == [many[7]]
        assert ids(await whole(listing.runbooks, 5, case="old")) == [kept]
        assert [each.id for each in await sandbox.runbooks.list(limit=2000)] == [*many[::-1], kept]
        assert (await sandbox.runbooks.list(after=many[0]))[0].id == kept
        assert [each.id for each in await sandbox.runbooks.list(case="many", after=many[1])] == [many[0]]
        cancelled = await sandbox.runbooks.cancel_case("many", "all of them")
        assert {each.id for each in cancelled} == set(many) - {many[7]}
        assert (await listing.runbooks(case="many", state="parked")).items == []


@pytest.mark.req("P2")
async def test_calls_are_found_by_state_whichever_it_is(store_url: str, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(listings, "MOST_LOOKED_AT", 10)
    async with opened(store_url, tmp_path) as sandbox:
        done = (await sandbox.call("list.note", {"entity": "a"})).id
        parked = [(await sandbox.call("list.ask", {"entity": "b"})).id for _ in range(25)]
        await sandbox.cancel(parked[0], "no")
        calls = sandbox.listing.runbooks
        assert ids(await whole(calls, 4, kind="calls", state="completed")) == [done]
        assert ids(await whole(calls, 4, kind="calls", state="parked")) == parked[:0:-1]
        assert ids(await whole(calls, 4, kind="all", state="cancelled")) == [parked[0]]
        assert await whole(calls, 4, kind="runbooks", state="parked") == []


@pytest.mark.req("P2")
async def test_a_text_finds_by_case_indexed_value_and_id_each_match_once(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        plan = await run(sandbox, "Allianz", case="allianz-7")
        call = (await sandbox.call("list.note", {"entity": "Allianz SE"})).id
        await sandbox.call("list.note", {"entity": "Munich Re"})
        await run(sandbox, "Swiss Re", case="beta")
        await sandbox.acting(tenant="other").call("list.note", {"entity": "Allianz"})
        find = sandbox.listing.runbooks
        for text in ("allianz", "Allianz", "ALL", "a"):
            for limit in (1, 2, 10):
                assert sorted(ids(await whole(find, limit, q=text, kind="all"))) == sorted([plan, call]), text
        assert ids(await whole(find, 5, q="allianz")) == [plan]
        assert ids(await whole(find, 5, q="Allianz S", kind="calls")) == [call]
        assert ids(await whole(find, 5, q=plan, kind="all")) == [plan]
        assert plan in ids(await whole(find, 5, q=plan[:12].upper(), kind="all"))
        assert await whole(find, 5, q=plan[:4], kind="all") == []
        assert await whole(find, 5, q="nobody", kind="all") == []
        assert ids(await whole(find, 1, q="al", kind="all", state="completed")) == [call]


@pytest.mark.req("P2")
async def test_calls_of_a_verb_are_found_by_the_values_of_its_index(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        asked = [(await sandbox.call("list.ask", {"entity": "Axa"})).id for _ in range(5)]
        await sandbox.call("list.note", {"entity": "Axa"})
        other = (await sandbox.call("list.ask", {"entity": "Talanx"})).id
        calls = sandbox.listing.calls
        assert sorted(ids(await whole(calls, 2, verb="list.ask", where={"entity": "Axa"}))) == sorted(asked)
        assert ids(await whole(calls, 2, verb="list.ask")) == [other, *asked[::-1]]
        assert len(await whole(calls, 2)) == 7
        assert await whole(calls, 2, verb="list.ask", where={"entity": "Axa"}, state="completed") == []
        for bad in ({"verb": "list.ask", "where": {"colour": "red"}}, {"verb": "no.such", "where": {"entity": "a"}}):
            with pytest.raises(RejectedError):
                await calls(**bad)


@pytest.mark.req("P2", "V31")
async def test_lists_show_one_tenant_and_cursors_lead_nowhere_else(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        other = sandbox.acting(tenant="other")
        for each in (sandbox, other):
            for n in range(3):
                await run(each, "Axa", case=f"c-{n}")
                await each.call("list.break")
                await each.publish("nobody", f"k-{n}", message_id=f"m-{n}")
        await sandbox.run_until_idle()
        lists = ("runbooks", "parked", "incidents", "dead_letters", "instances", "tasks")
        mine, theirs = [
            [await whole(getattr(each.listing, name), 1) for name in lists] for each in (sandbox, other)
        ]  # fmt: skip
        assert [len(each) for each in mine] == [len(each) for each in theirs]
        assert min(len(each) for each in mine[:4]) == 3
        assert not {repr(row) for part in mine[:3] for row in part} & {repr(row) for part in theirs[:3] for row in part}
        page = await sandbox.listing.runbooks(limit=1)
        for use in (
            other.listing.runbooks(after=page.next), sandbox.listing.parked(after=page.next),
            sandbox.listing.runbooks(after=page.next, state="parked"), sandbox.listing.runbooks(after="x"),
        ):  # fmt: skip
            with pytest.raises(RejectedError, match="leads nowhere"):
                await use


@pytest.mark.req("P2")
async def test_a_page_goes_on_where_it_ended_while_more_is_added(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        before = [await run(sandbox, "Axa") for _ in range(6)]
        page = await sandbox.listing.runbooks(limit=2)
        seen = ids(page.items)
        while page.next is not None:
            await run(sandbox, "Talanx")
            page = await sandbox.listing.runbooks(limit=2, after=page.next)
            seen += ids(page.items)
        assert seen == before[::-1]


@pytest.mark.req("P2", "P7")
async def test_what_is_set_aside_says_so_in_lists_and_hides_none_of_the_others(sqlite_url: str, tmp_path: Any) -> None:
    async with opened(sqlite_url, tmp_path) as sandbox:
        damaged, sound = await run(sandbox, "Axa", case="c"), await run(sandbox, "Axa", case="c")
        stuck = (await sandbox.call("list.break")).id
        with Raw(sqlite_url) as raw:
            raw("UPDATE aggregate SET state = state || x'00' WHERE number IN (1, 3)")
        listing = sandbox.listing
        for filters in ({}, {"case": "c"}, {"state": "parked"}, {"q": "Axa"}):
            rows = {each.id: each.state for each in await whole(listing.runbooks, 1, **filters)}
            assert rows == {damaged: "quarantined", sound: "parked"}
        assert {each.id: each.state for each in await whole(listing.parked, 1)} == {
            damaged: "quarantined", sound: "parked",
        }  # fmt: skip
        found = [(each.id, each.state, each.code) for each in await whole(listing.incidents, 1)]
        assert sorted(found) == sorted(
            [(stuck, "quarantined", "store.quarantined"), (damaged, "quarantined", "store.quarantined")]
        )


@pytest.mark.req("P2")
async def test_incidents_tell_the_cause_and_dead_letters_the_reason(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        stuck = []
        for _ in range(4):
            stuck.append((await sandbox.call("list.break")).id)
            await sandbox.advance("PT1S")
        for n in range(4):
            await sandbox.complete(f"nobody-{n}", {"n": n}, message_id=f"m-{n}")
        found = await whole(sandbox.listing.incidents, 3)
        assert ids(found) == stuck and [each.concerns for each in found] == stuck
        assert {(each.kind, each.place, each.name, each.state) for each in found} == {
            ("call", 1, "list.break", "parked")
        } and all("boolean" in each.text and each.text == each.cause for each in found)
        assert {tuple(action.act for action in each.actions) for each in found} == {("retry", "resolve", "cancel")}
        letters = await whole(sandbox.listing.dead_letters, 3)
        assert [each.message_id for each in letters] == [f"m-{n}" for n in range(4)]
        assert all(each.reason and each.message for each in letters)


@pytest.mark.req("P2")
async def test_what_is_asked_for_out_of_bounds_is_refused(sqlite_url: str, tmp_path: Any) -> None:
    async with opened(sqlite_url, tmp_path) as sandbox:
        listing = sandbox.listing
        for use in (
            listing.runbooks(limit=0), listing.runbooks(limit=201), listing.runbooks(state="lost"),
            listing.runbooks(q="a\0b"), listing.runbooks(case="\0"), listing.instances(state="x' OR 1=1 --"),
            listing.tasks(state="done"), listing.runbooks(q="x" * 5000),
        ):  # fmt: skip
            with pytest.raises(RejectedError):
                await use
        assert (await listing.runbooks(q="' OR 1=1 --", kind="all")).items == []


@pytest.mark.req("P2")
def test_a_cursor_gives_back_its_place_to_its_own_list_alone() -> None:
    place = (5, b"\x00\xff", 7)
    cursor = cursor_of(("a", "bc"), place)
    assert place_of(("a", "bc"), cursor, tuple[int, bytes, int]) == place
    for scope, shape in ((("ab", "c"), tuple[int, bytes, int]), (("a", "bc"), int)):
        with pytest.raises(RejectedError, match="leads nowhere"):
            place_of(scope, cursor, shape)


@pytest.mark.req("P2")
@settings(max_examples=25)
@given(
    entities=st.lists(st.sampled_from(["Ab", "ab", "abc", "b", "Éa", "a_c", "a%"]), max_size=12),
    prefix=st.sampled_from(["a", "A", "ab", "É", "a%", "a_", "b", "zz"]),
    limit=st.integers(1, 5),
)
def test_pages_put_together_are_the_whole_list(entities: list[str], prefix: str, limit: int) -> None:
    async def check(folder: Any) -> None:
        async with opened("sqlite://", folder) as sandbox:
            made = [(await sandbox.call("list.note", {"entity": each})).id for each in entities]
            assert ids(await whole(sandbox.listing.runbooks, limit, kind="calls")) == made[::-1]
            spelled = {prefix, prefix.lower(), prefix.upper(), prefix.capitalize(), prefix.title()}
            wanted = [id for id, each in zip(made, entities, strict=True) if each.startswith(tuple(spelled))]
            found = ids(await whole(sandbox.listing.runbooks, limit, kind="calls", q=prefix))
            assert sorted(found) == sorted(wanted)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(check(Path(folder)))

"""Keys on a real store: recognised, narrowed, expired, revoked here and elsewhere, tampered with, gone."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure import Perdure, PerdureError, RejectedError
from perdure.access.api_key_cache import FRESH, JUST_NOW, TENANTS
from perdure.access.api_key_text import from_letters, key_digest, key_text, read_key, to_letters
from perdure.access.machine import access_id
from perdure.access.principal import Principal
from perdure.app.audit.store_audit import export_calls, verify_store
from perdure.errors import QuarantinedError, StoreUnavailableError
from perdure.sources import SECOND, SystemSources
from perdure.store.audit.export_verification import verify_export

pytestmark = pytest.mark.req("P3")


class Standing(SystemSources):
    """A clock that moves only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead, self._began = 0, super().now()

    def now(self) -> int:
        return self._began + self.ahead


class Movable(SystemSources):
    """The system's clock, which a test may set ahead."""

    ahead = 0

    def now(self) -> int:
        return super().now() + self.ahead


def opened(url: str, **words: Any) -> Any:
    return Perdure.open(url, role="caller", **words)


async def test_a_key_is_recognised_and_says_who_it_stands_for(store_url: str) -> None:
    async with opened(store_url, tenant="acme", principal="ada") as perdure:
        made = await perdure.access.create_key(
            "night shift", principal="zoë", kind="person", roles=["operator", "reviewer", "operator"],
            groups=["night"], verbs=["kyc.*"], operations=["task.claim"],
        )  # fmt: skip
        found = await perdure.access.authenticate_key(made.text)
        assert found == Principal(
            "acme", "zoë", "person", frozenset({"operator", "reviewer"}), ("night",), ("kyc.*",), ("task.claim",),
            via=f"key:{made.id}",
        )  # fmt: skip
        assert (made.view.created_by, made.view.state) == ("ada", "good")
        assert await perdure.access.keys() == [made.view]
        assert await perdure.access.principal_of_key("acme", made.id) == found


async def test_the_text_of_a_key_is_nowhere_but_in_the_answer(sqlite_url: str) -> None:
    async with opened(sqlite_url) as perdure:
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        secret = made.text[-43:]
        events = [event async for event in perdure.access.events()]
        assert secret not in repr(made) + repr(await perdure.access.keys()) + repr(events)
        assert events[0].data["digest"] == "sha256:" + key_digest(made.text).hex()
    stored = b"".join(path.read_bytes() for path in Path(sqlite_url.removeprefix("sqlite:///")).parent.iterdir())
    assert secret.encode() not in stored
    assert from_letters(secret) not in (None, b"")
    assert (from_letters(secret) or b"") not in stored


async def test_each_key_has_a_secret_of_its_own(sqlite_url: str) -> None:
    async with opened(sqlite_url) as perdure:
        made = [await perdure.access.create_key(f"k{n}", principal="ci", roles=["viewer"]) for n in range(5)]
        assert len({each.text[-43:] for each in made}) == len({each.id for each in made}) == 5


async def test_a_revoked_key_opens_nothing_from_that_moment(store_url: str) -> None:
    async with opened(store_url) as perdure:
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        other = await perdure.access.create_key("other", principal="ci", roles=["viewer"])
        assert await perdure.access.authenticate_key(made.text) is not None
        view = await perdure.access.revoke_key(made.id, "lost on a train")
        assert (view.state, view.revoked_by, view.reason) == ("revoked", "local", "lost on a train")
        assert await perdure.access.authenticate_key(made.text) is None
        assert await perdure.access.principal_of_key("default", made.id) is None
        assert await perdure.access.authenticate_key(other.text) is not None
        assert await perdure.access.revoke_key(made.id, "again") == view
        assert [event.entry async for event in perdure.access.events()] == ["KeyCreated", "KeyCreated", "KeyRevoked"]
        assert [event.entry async for event in perdure.access.events(after=2)] == ["KeyRevoked"]


async def test_a_key_that_another_process_revoked_opens_nothing_after_a_second(store_url: str) -> None:
    assert FRESH < SECOND
    clock = Movable()
    async with opened(store_url, sources=clock) as server, opened(store_url) as terminal:
        made = await terminal.access.create_key("ci", principal="ci", roles=["viewer"])
        assert await server.access.authenticate_key(made.text) is not None
        await terminal.access.revoke_key(made.id)
        clock.ahead = SECOND
        assert await server.access.authenticate_key(made.text) is None


async def test_a_key_that_another_process_made_is_recognised_at_once(store_url: str) -> None:
    clock = Movable()
    async with opened(store_url, sources=clock) as server, opened(store_url) as terminal:
        first = await server.access.create_key("first", principal="ci", roles=["viewer"])
        assert await server.access.authenticate_key(first.text) is not None
        made = await terminal.access.create_key("second", principal="ci", roles=["viewer"])
        clock.ahead = JUST_NOW
        assert await server.access.authenticate_key(made.text) is not None


async def test_guessing_reads_keys_no_more_often_than_once_in_a_moment(sqlite_url: str) -> None:
    clock = Standing()
    async with opened(sqlite_url, sources=clock) as server:
        made = await server.access.create_key("ci", principal="ci", roles=["viewer"])
        kernel, reads = server.runtime.kernel, 0
        read = kernel.read

        async def counted(*given: Any, **more: Any) -> Any:
            nonlocal reads
            reads += 1
            return await read(*given, **more)

        kernel.read = counted  # type: ignore[method-assign]
        for _ in range(3):
            clock.ahead += JUST_NOW
            for guess in range(20):
                assert await server.access.authenticate_key(f"{made.text[:-2]}{guess:02d}") is None
        assert reads == 3


async def test_a_clock_set_back_does_not_let_a_revoked_key_in(sqlite_url: str) -> None:
    clock = Movable()
    async with opened(sqlite_url, sources=clock) as server, opened(sqlite_url) as terminal:
        made = await terminal.access.create_key("ci", principal="ci", roles=["viewer"])
        assert await server.access.authenticate_key(made.text) is not None
        await terminal.access.revoke_key(made.id)
        clock.ahead = -3600 * SECOND
        assert await server.access.authenticate_key(made.text) is None


async def test_a_key_expires_by_the_clock_of_the_store(store_url: str) -> None:
    clock = Movable()
    async with opened(store_url, sources=clock) as perdure:
        until = clock.now() + 60 * SECOND
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"], expires_at=until)
        assert await perdure.access.authenticate_key(made.text) is not None
        clock.ahead = 61 * SECOND
        assert await perdure.access.authenticate_key(made.text) is None
        assert [view.state for view in await perdure.access.keys()] == ["expired"]
        with pytest.raises(RejectedError, match="it would have expired already"):
            await perdure.access.create_key("late", principal="ci", roles=["viewer"], expires_at=until)


@pytest.mark.req("V31")
async def test_a_key_of_another_tenant_is_that_tenant_s_and_nobody_else_sees_it(store_url: str) -> None:
    async with opened(store_url, tenant="acme") as acme:
        globex = acme.acting(tenant="globex")
        made = await acme.access.create_key("ci", principal="ci", roles=["admin"])
        found = await globex.access.authenticate_key(made.text)
        assert found is not None
        assert found.tenant == "acme"
        assert await globex.access.keys() == []
        with pytest.raises(RejectedError) as caught:
            await globex.access.revoke_key(made.id)
        assert caught.value.rejection.code == "not_found"
        own = await globex.access.create_key("ci", principal="ci", roles=["viewer"])
        with pytest.raises(RejectedError) as caught:
            await globex.access.revoke_key(made.id)
        assert (caught.value.rejection.code, caught.value.rejection.thing) == ("not_found", "key")
        moved = made.text.replace(to_letters(b"acme"), to_letters(b"globex"))
        assert read_key(moved) == ("globex", made.id)
        assert await globex.access.authenticate_key(moved) is None
        assert await acme.access.principal_of_key("globex", made.id) is None
        assert await acme.access.authenticate_key(own.text.replace(own.id, made.id)) is None


@pytest.mark.parametrize("tenant", ["default", "a", "über/uns", "a_b-c", "x" * 1000, "_", "a.b", "~~~???>>>"])
async def test_tenants_of_any_name_have_keys(sqlite_url: str, tenant: str) -> None:
    async with opened(sqlite_url, tenant=tenant) as perdure:
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        found = await perdure.access.authenticate_key(made.text)
        assert found is not None
        assert found.tenant == tenant


async def test_a_text_that_differs_in_any_letter_opens_nothing(sqlite_url: str) -> None:
    async with opened(sqlite_url) as perdure:
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        for place, letter in enumerate(made.text):
            for other in {"A" if letter != "A" else "B", letter.swapcase(), "\x00", "é"} - {letter}:
                changed = made.text[:place] + other + made.text[place + 1 :]
                assert await perdure.access.authenticate_key(changed) is None, (place, other)
        for changed in (made.text + "=", made.text + "\n", " " + made.text, made.text[:-1], made.text + "A"):
            assert await perdure.access.authenticate_key(changed) is None


@given(st.one_of(st.text(max_size=200), st.from_regex(r"perdure_[A-Za-z0-9_-]*_[0-9a-z]{26}_[A-Za-z0-9_-]{43}")))
def test_no_text_breaks_the_reading_of_a_key(text: str) -> None:
    found = read_key(text)
    assert found is None or text.startswith(f"perdure_{to_letters(found.tenant.encode())}_{found.id}_")


@given(st.text(min_size=1, max_size=300).filter(lambda text: max(text) < "\ud800"), st.binary(min_size=32, max_size=32))
def test_what_a_key_says_openly_is_read_back(tenant: str, secret: bytes) -> None:
    id = "01m7gzs4sbe9wthgme570ndjv1"
    assert read_key(key_text(tenant, id, secret)) == (tenant, id)


def forget(url: str, id: bytes) -> None:
    """The rows of an aggregate are gone, as after a restore of an older backup."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            for table, column in (("journal", "aggregate"), ("aggregate", "id")):
                connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (id,))
    else:
        with psycopg.connect(url) as connection:
            for table, column in (("journal", "aggregate"), ("aggregate", "id")):
                connection.execute(f"DELETE FROM {table} WHERE {column} = %s", (id,))  # type: ignore[arg-type]


async def test_a_key_whose_aggregate_is_gone_opens_nothing(store_url: str) -> None:
    clock = Movable()
    async with opened(store_url, sources=clock) as perdure:
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        assert await perdure.access.authenticate_key(made.text) is not None
        forget(store_url, access_id("default"))
        clock.ahead = SECOND
        assert await perdure.access.authenticate_key(made.text) is None
        assert await perdure.access.keys() == []


async def test_keys_changed_behind_our_back_are_set_aside_and_nobody_is_let_in(sqlite_url: str) -> None:
    clock = Movable()
    path = sqlite_url.removeprefix("sqlite:///")
    async with opened(sqlite_url, sources=clock) as perdure:
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        with closing(sqlite3.connect(path)) as connection, connection:
            id = access_id("default")
            [(state,)] = connection.execute("SELECT state FROM aggregate WHERE id = ?", (id,)).fetchall()
            promoted = bytes(state).replace(b"\xa6viewer", b"\xa5admin")
            assert promoted != bytes(state)
            connection.execute("UPDATE aggregate SET state = ? WHERE id = ?", (promoted, id))
        clock.ahead = SECOND
        with pytest.raises(QuarantinedError):
            await perdure.access.authenticate_key(made.text)


async def test_nobody_is_let_in_while_the_store_cannot_be_asked(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Movable()
    async with opened(sqlite_url, sources=clock) as perdure:
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"])

        async def broken(id: bytes) -> None:
            raise StoreUnavailableError("read", "store", "x", "it is gone")

        with monkeypatch.context() as patched:
            patched.setattr(perdure.runtime.store, "load", broken)
            clock.ahead = SECOND
            with pytest.raises(StoreUnavailableError):
                await perdure.access.authenticate_key(made.text)
        assert await perdure.access.authenticate_key(made.text) is not None


async def test_a_thousand_requests_in_a_moment_read_the_store_once(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Movable()
    async with opened(sqlite_url, sources=clock) as perdure:
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        reads = []
        load = perdure.runtime.store.load

        async def counted(id: Any) -> Any:
            reads.append(id)
            return await load(id)

        monkeypatch.setattr(perdure.runtime.store, "load", counted)
        frozen = clock.now() + SECOND
        monkeypatch.setattr(clock, "now", lambda: frozen)
        found = await asyncio.gather(*(perdure.access.authenticate_key(made.text) for _ in range(1000)))
        assert all(each == found[0] for each in found)
        assert len(reads) == 1


async def test_what_is_remembered_of_strangers_has_a_bound(sqlite_url: str) -> None:
    async with opened(sqlite_url) as perdure:
        for number in range(TENANTS + 10):
            text = key_text(f"stranger-{number}", "01m7gzs4sbe9wthgme570ndjv1", bytes(32))
            assert await perdure.access.authenticate_key(text) is None
        assert len(perdure.runtime.keys._rings) == TENANTS


async def test_first_keys_made_at_the_same_moment_by_two_processes_are_all_there(store_url: str) -> None:
    clock = Movable()
    async with opened(store_url, sources=clock) as one, opened(store_url) as other:
        makers = enumerate([one, other] * 5)
        made = await asyncio.gather(
            *(each.access.create_key(f"k{number}", principal="ci", roles=["viewer"]) for number, each in makers)
        )
        assert {view.name for view in await one.access.keys()} == {f"k{number}" for number in range(10)}
        clock.ahead = SECOND
        assert all([await one.access.authenticate_key(each.text) is not None for each in made])


async def test_a_revocation_while_the_keys_are_being_read_holds_at_once(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Movable()
    async with opened(sqlite_url, sources=clock) as perdure:
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        read, is_read, may_go_on = perdure.runtime.kernel.read, asyncio.Event(), asyncio.Event()

        async def slow(*words: Any, **named: Any) -> Any:
            found = await read(*words, **named)
            is_read.set()
            await may_go_on.wait()
            return found

        clock.ahead = SECOND
        monkeypatch.setattr(perdure.runtime.kernel, "read", slow)
        asking = asyncio.ensure_future(perdure.access.authenticate_key(made.text))
        await is_read.wait()
        monkeypatch.setattr(perdure.runtime.kernel, "read", read)
        await perdure.access.revoke_key(made.id)
        may_go_on.set()
        assert await asking is None
        assert await perdure.access.authenticate_key(made.text) is None


async def test_names_bounds_and_time_zones_are_checked(sqlite_url: str) -> None:
    async with opened(sqlite_url) as perdure:
        await perdure.access.create_key(
            "ci", principal="ci", roles=["viewer"], expires_at=datetime(2999, 1, 1, tzinfo=UTC)
        )
        with pytest.raises(RejectedError) as caught:
            await perdure.access.create_key("ci", principal="other", roles=["viewer"])
        assert caught.value.rejection.code == "already_exists"
        with pytest.raises(RejectedError, match="names no time zone"):
            await perdure.access.create_key("x", principal="x", roles=["viewer"], expires_at=datetime(2999, 1, 1))
        for id in ("nosuch", "0" * 26, ""):
            with pytest.raises(PerdureError):
                await perdure.access.revoke_key(id)
        narrow = Principal("default", "bob", "service", frozenset({"admin"}), operations=("key.create",))
        with pytest.raises(RejectedError) as caught:
            await perdure.access.create_key("more", principal="x", roles=["admin"], by=narrow)
        assert caught.value.rejection.code == "forbidden"


async def test_keys_are_audited_exported_and_checked_offline_like_everything_else(
    store_url: str, tmp_path: Path
) -> None:
    async with opened(store_url) as perdure:
        made = await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        await perdure.access.revoke_key(made.id)
        report = await verify_store(perdure, {})
        assert report.findings == []
        assert await export_calls(perdure, [], tmp_path, {}) == 1
        [document] = documents_in(tmp_path)
        assert verify_export(document) == []
        assert made.text[-43:].encode() not in document


def documents_in(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.glob("*.json")]


async def test_a_record_of_keys_that_was_changed_is_found_by_the_audit(sqlite_url: str) -> None:
    async with opened(sqlite_url) as perdure:
        await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
        id = bytes(access_id("default"))
        with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection, connection:
            [(body,)] = connection.execute("SELECT body FROM journal WHERE aggregate = ?", (id,)).fetchall()
            changed = bytes(body).replace(b"\xa6viewer", b"\xa5admin")
            connection.execute("UPDATE journal SET body = ? WHERE aggregate = ?", (changed, id))
        report = await verify_store(perdure, {}, is_dry=True)
        assert report.findings

"""A request that comes again is told what it was told before, for a day."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.app.perdure import Perdure
from perdure.app.runtime import ANSWERS_KEPT
from perdure.store import idempotent_answers as store_answers
from perdure.testing.sandbox import Sandbox
from perdure.work.ports import Answered, Claim


async def keep(perdure: Perdure, key: str, *, tenant: str = "default", principal: str = "ana") -> Answered:
    """Claim a key and settle it; what comes back is the answer that stands."""
    book, now = perdure.runtime.store.answers, perdure.runtime.sources.now()
    owner = bytes(perdure.runtime.sources.new_id())
    known = await book.claim(tenant, principal, key, Claim(b"asked", owner, now, now - 1))
    if known is None:
        await book.settle(tenant, principal, key, owner, Answered(b"asked", 200, owner, now))
        known = await book.find(tenant, principal, key)
    assert isinstance(known, Answered)
    return known


@pytest.mark.req("P2", "V31")
async def test_the_first_answer_under_a_key_stands_for_its_principal_alone(store_url: str) -> None:
    async with Perdure.open(store_url) as perdure:
        first = await keep(perdure, "k")
        assert await keep(perdure, "k") == first
        others = [await keep(perdure, "k", tenant="other"), await keep(perdure, "k", principal="ben")]
        assert len({first, *others}) == 3
        assert await perdure.runtime.store.answers.find("default", "ana", "k") == first


@pytest.mark.req("P2")
async def test_answers_are_forgotten_after_a_day(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_answers, "FORGOTTEN_AT_ONCE", 2)
    async with Sandbox.open(store_url) as sandbox:
        book = sandbox.runtime.store.answers
        for n in range(5):
            await keep(sandbox, f"old-{n}")
        await sandbox.advance("PT23H")
        await keep(sandbox, "new")
        assert await sandbox.runtime.forget() == 0
        await sandbox.advance("PT2H")
        assert await sandbox.runtime.forget() == 5
        assert await book.find("default", "ana", "old-1") is None
        assert await book.find("default", "ana", "new") is not None
        assert ANSWERS_KEPT == 24 * 3600 * 1_000_000


@pytest.mark.req("V31")
async def test_a_reader_of_the_feed_finds_where_it_was(store_url: str) -> None:
    async with Perdure.open(store_url) as perdure:
        cursors: Any = perdure.runtime.store.cursors
        assert await cursors.read("default", "hook") is None
        for value in ("one", "two"):
            await cursors.put("default", "hook", value)
        assert await cursors.read("default", "hook") == "two" and await cursors.read("other", "hook") is None
        await cursors.remove("default", "hook")
        assert await cursors.read("default", "hook") is None

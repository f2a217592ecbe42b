"""A request that comes again is told what it was told before, for a day."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from perdure.app.perdure import Perdure
from perdure.app.runtime import ANSWERS_KEPT
from perdure.store import answers as store_answers
from perdure.testing.sandbox import Sandbox


@pytest.mark.req("P2", "V31")
async def test_the_first_answer_under_a_key_stands_for_its_principal_alone(store_url: str) -> None:
    async with Perdure.open(store_url) as perdure:
        assert await perdure.answers.find("k") is None
        kept = await asyncio.gather(*(perdure.answers.keep("k", b"asked", 200 + n, b"%d" % n) for n in range(5)))
        assert len(set(kept)) == 1
        again = await perdure.answers.find("k")
        assert again == kept[0] and again is not None and again.request == b"asked"
        for other in (perdure.acting(tenant="other"), perdure.acting(principal="other")):
            assert await other.answers.find("k") is None
            assert (await other.answers.keep("k", b"", 404, b"")).status == 404
        assert await perdure.answers.find("k") == kept[0]


@pytest.mark.req("P2")
async def test_answers_are_forgotten_after_a_day(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_answers, "FORGOTTEN_AT_ONCE", 2)
    async with Sandbox.open(store_url) as sandbox:
        for n in range(5):
            await sandbox.answers.keep(f"old-{n}", b"", 200, b"")
        await sandbox.advance("PT23H")
        await sandbox.answers.keep("new", b"", 200, b"")
        assert await sandbox.runtime.forget() == 0
        await sandbox.advance("PT2H")
        assert await sandbox.runtime.forget() == 5
        assert await sandbox.answers.find("old-1") is None and await sandbox.answers.find("new") is not None
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

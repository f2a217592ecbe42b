"""A lifecycle that is deployed while others write records: not one change of a fact is slept through."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

from perdure.store.queries import load_queries
from perdure.testing.sandbox import Sandbox
from tests.lifecycles.onboarding import LIFECYCLE, ME, Handlers, catalogue, lifecycles_of, state_of, written


@pytest.mark.both_stores
@pytest.mark.req("T5")
async def test_a_process_that_runs_since_before_the_first_deployment_wakes_whoever_waits(
    store_url: str, tmp_path: Path
) -> None:
    handlers, file = Handlers().bound(), written(tmp_path)
    async with Sandbox.open(store_url, definitions=catalogue(), handlers=handlers) as writer:
        await writer.call("client.create", {"id": "c1", "risk": "low"})
        await writer.call("client.create", {"id": "c2", "risk": "low"})
        async with Sandbox.open(store_url, definitions=catalogue(), lifecycles=[file], handlers=handlers) as other:
            begun = [
                (await lifecycles_of(other).start("onboarding", each, {}, ME)).aggregate.id for each in ("c1", "c2")
            ]
            await other.run_until_idle()
            for each in ("c1", "c2"):  # the first of them is refused as silent and told, the second is told at once
                await writer.call("client.update", {"id": each, "passport": "verified"})
            await other.run_until_idle()
            assert [(await state_of(other, id)).state for id in begun] == ["REVIEW", "REVIEW"]


@pytest.mark.both_stores
async def test_what_one_process_deploys_by_its_text_wakes_by_records_that_another_writes(store_url: str) -> None:
    handlers = Handlers().bound()
    async with (
        Sandbox.open(store_url, definitions=catalogue(), handlers=handlers) as writer,
        Sandbox.open(store_url, definitions=catalogue(), handlers=handlers) as other,
    ):
        await other.lifecycles.deploy(LIFECYCLE)
        id = (await lifecycles_of(other).start("onboarding", "c1", {}, ME)).aggregate.id
        await other.run_until_idle()
        await writer.call("client.create", {"id": "c1", "passport": "verified"})
        await other.run_until_idle()
        assert (await state_of(other, id)).state == "REVIEW"


async def test_an_instance_begins_to_wait_only_after_commits_that_could_not_know_of_it(
    postgres_url: str, tmp_path: Path
) -> None:
    handlers, file = Handlers().bound(), written(tmp_path)
    async with (
        Sandbox.open(postgres_url, definitions=catalogue(), lifecycles=[file], handlers=handlers) as sandbox,
        await psycopg.AsyncConnection.connect(postgres_url) as silent,
        await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as watching,
    ):
        await silent.execute(load_queries("postgres")["share_records"])  # a commit that tells nobody is under way
        start = asyncio.ensure_future(lifecycles_of(sandbox).start("onboarding", "c1", {}, ME))
        waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while not start.done() and await (await watching.execute(waiting)).fetchone() is None:
            pass
        assert not start.done()
        assert await lifecycles_of(sandbox).newest("onboarding", "c1", ME) is None
        await silent.commit()
        assert (await start).is_new

"""The overview counts what needs somebody, what runs and what went through, and never all there is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from perdure.app.overview import counts
from perdure.testing.sandbox import Sandbox
from tests.conformance.stores import Raw

VERBS = """
- {name: glance.note, version: 1, description: Note, execution: {kind: sync, effects: none}}
- {name: glance.refuse, version: 1, description: Refuse, output_schema: {properties: {ok: {type: boolean}}},
   execution: {kind: sync, effects: none}}
- {name: glance.ask, version: 1, description: Ask, execution: {kind: durable}}
- {name: glance.decide, version: 1, description: Decide, execution: {kind: durable,
   task: {title: Decide upon it, groups: [reviewers], due: PT1H}}}
"""


@asynccontextmanager
async def opened(url: str, folder: Any) -> AsyncIterator[Sandbox]:
    (folder / "glance.yaml").write_text(VERBS)
    handlers = {"glance.note": lambda call: {}, "glance.refuse": lambda call: {"ok": "perhaps"}}
    async with Sandbox.open(url, definitions=folder / "glance.yaml", handlers=handlers) as sandbox:
        yield sandbox


@pytest.mark.req("V24", "P2")
async def test_an_overview_tells_what_needs_me_what_is_stuck_and_what_runs(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        await sandbox.call("glance.ask")
        await sandbox.advance("PT2H")
        await sandbox.call("glance.refuse")
        await sandbox.call("glance.decide")
        await sandbox.runbooks.start("(glance.ask)")
        await sandbox.complete("nobody", {}, message_id="m-1")
        await sandbox.acting(tenant="other").call("glance.ask")
        ada = sandbox.acting(principal="ada", groups=["reviewers"])
        seen = await ada.overview()
        assert (seen.needs_me.tasks, [each.name for each in seen.needs_me.first]) == (1, ["Decide upon it"])
        assert seen.needs_me.is_all
        assert (seen.stuck.incidents, seen.stuck.dead_letters, seen.stuck.overdue_tasks) == (1, 1, 0)
        assert seen.running.runbooks == {"parked": 4}
        waits = {each.kind: each for each in seen.waits}
        assert (waits["completion"].count, waits["task"].count) == (3, 1)
        began = (await sandbox.listing.parked(limit=1)).items[0]
        assert began.waiting_for is not None and waits["completion"].oldest == began.waiting_for.since
        assert (await sandbox.acting(principal="bob").overview()).needs_me.tasks == 0
        await sandbox.advance("PT2H")
        assert (await ada.overview()).stuck.overdue_tasks == 1


async def test_throughput_is_told_hour_by_hour_for_a_day(store_url: str, tmp_path: Any) -> None:
    async with opened(store_url, tmp_path) as sandbox:
        await sandbox.advance("PT30M")
        for count in (2, 0, 3):
            for _ in range(count):
                await sandbox.call("glance.note")
            asked = await sandbox.runbooks.start("(glance.ask)")
            await sandbox.runbooks.cancel(asked.id, "no")
            await sandbox.acting(tenant="other").call("glance.note")
            await sandbox.advance("PT1H")
        hours = (await sandbox.overview()).throughput
        assert len(hours) == 24
        assert [(each.started, each.ended, each.failed) for each in hours[-4:]] == [
            (3, 3, 0), (1, 1, 0), (4, 4, 0), (0, 0, 0),
        ]  # fmt: skip
        assert hours == sorted(hours, key=lambda each: each.at) and not any(each.started for each in hours[:-4])
        await sandbox.advance("PT20M")
        await sandbox.call("glance.note")
        await sandbox.advance("PT2S")
        again = (await sandbox.overview()).throughput
        assert [(each.started, each.ended) for each in again[-4:]] == [(3, 3), (1, 1), (4, 4), (1, 1)]


async def test_a_damaged_call_does_not_stop_the_counting(sqlite_url: str, tmp_path: Any) -> None:
    async with opened(sqlite_url, tmp_path) as sandbox:
        for _ in range(5):
            await sandbox.call("glance.note")
        with Raw(sqlite_url) as raw:
            raw("UPDATE aggregate SET state = x'c1' WHERE number IN (1, 3, 5)")
        assert (await sandbox.overview()).throughput[-1].started == 5


async def test_counts_go_up_to_a_bound_and_are_remembered_for_a_second(
    sqlite_url: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "MOST_PER_HOUR", 3)
    async with opened(sqlite_url, tmp_path) as sandbox:
        for _ in range(5):
            await sandbox.call("glance.note")
        first = await sandbox.overview()
        assert (first.throughput[-1].started, first.throughput[-1].ended) == (3, 3)
        await sandbox.call("glance.ask")
        assert (await sandbox.overview()).running.runbooks == {}
        await sandbox.advance("PT1S")
        assert (await sandbox.overview()).running.runbooks == {"parked": 1}


@pytest.mark.both_stores
@pytest.mark.req("T6")
async def test_an_overview_counts_active_lifecycles_and_documents_that_nobody_has_decided_on(
    store_url: str, tmp_path: Any
) -> None:
    papers = "documents:\n  letter: {data_schema: {properties: {title: {type: string}}}}\n"
    waiting = "lifecycle: {}\nstates: {{OPEN: {{}}, DONE: {{terminal: true}}}}\n"
    waiting += "transitions: [{{from: OPEN, to: DONE, manual: true}}]\n"
    (tmp_path / "papers.yaml").write_text(papers)
    (tmp_path / "onboarding.yaml").write_text(waiting.format("onboarding"))
    (tmp_path / "review.yaml").write_text(waiting.format("review"))
    files = [tmp_path / "onboarding.yaml", tmp_path / "review.yaml"]
    async with Sandbox.open(
        store_url, definitions=tmp_path / "papers.yaml", lifecycles=files, blobs=tmp_path / "blobs"
    ) as sandbox:
        begun = [await sandbox.lifecycles.start("onboarding", client) for client in ("anna", "boris", "clara")]
        await sandbox.lifecycles.transit(begun[0].instance.id, "DONE", reason="all there")
        await sandbox.lifecycles.cancel(begun[1].instance.id, reason="went elsewhere")
        await sandbox.documents.create("letter", "anna")
        first = await sandbox.documents.create("letter", "anna", data={"title": "x"})
        await sandbox.documents.create("letter", "boris", data={"title": "y"})
        await sandbox.documents.verify(first.id, 1)
        seen = await sandbox.overview()
        assert (seen.running.lifecycles, seen.documents_to_verify) == ({"onboarding": 1}, 1)
        other = await sandbox.acting(tenant="other").overview()
        assert (other.running.lifecycles, other.documents_to_verify) == ({}, 0)

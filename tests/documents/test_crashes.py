"""The process stops before and after every commit of a document's life: nothing is lost, nothing happens twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.app.documents.views import day_text
from perdure.durations import DAY
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs.loader import load_text
from tests.depth import killed_commits, some_kills
from tests.documents.papers import PDF
from tests.documents.test_checks import DEFINITIONS, Lab

MAX_COMMITS = 40
ENTRIES = Counter(
    {
        "DocumentCreated": 1, "VersionReceived": 2, "BlobScanned": 2, "FieldsExtracted": 2, "VersionRejected": 1,
        "VersionVerified": 1, "VersionExpired": 1,
    }
)  # fmt: skip
Act = Callable[[Sandbox, dict[str, Any]], Awaitable[None]]


async def create(perdure: Sandbox, known: dict[str, Any]) -> None:
    blob = await perdure.documents.upload(PDF)
    made = await perdure.documents.create("passport", "anna", blob=blob.blob, idempotency_key=known["key"])
    known["id"] = made.id


async def idle(perdure: Sandbox, known: dict[str, Any]) -> None:
    await perdure.run_until_idle()


async def reject(perdure: Sandbox, known: dict[str, Any]) -> None:
    await perdure.documents.reject(known["id"], 1, "BLURRED", "look closer")


async def receive(perdure: Sandbox, known: dict[str, Any]) -> None:
    blob = await perdure.documents.upload(PDF)
    await perdure.documents.receive(
        known["id"], blob=blob.blob, valid_to=known["until"], idempotency_key=f"{known['key']}-2"
    )


async def verify(perdure: Sandbox, known: dict[str, Any]) -> None:
    await perdure.documents.verify(known["id"], 2)


async def expire(perdure: Sandbox, known: dict[str, Any]) -> None:
    await perdure.advance("P3D")


ACTS: tuple[Act, ...] = (create, idle, reject, receive, idle, verify, expire)


async def live(url: str, folder: Path, crash_at: int, side: Side, clock: VirtualSources) -> tuple[int, Counter[str]]:
    """One document's life with one crash; its client repeats each act until it is acknowledged."""
    crashes, known = 0, {"key": f"{side}-{crash_at}", "until": _in_two_days(clock)}
    perdure, faulty = await _open(url, folder, crash_at, side, clock)
    for act in ACTS:
        while True:
            try:
                await act(perdure, known)
                break
            except Crash:
                crashes += 1
                await faulty.abandon()
                perdure, faulty = await _open(url, folder, 0, side, clock)
    entries = Counter(each.entry for each in await perdure.documents.events(known["id"]))
    held = await perdure.documents.get(known["id"])
    assert [each.status for each in held.versions] == ["rejected", "expired"], (crash_at, side)
    report = await verify_store(perdure, {})
    assert report.findings == [], (crash_at, side)
    await perdure.runtime.stop()
    return crashes, entries


def _in_two_days(clock: VirtualSources) -> str:
    return day_text(clock.now() + 2 * DAY) or ""


async def _open(
    url: str, folder: Path, crash_at: int, side: Side, clock: VirtualSources
) -> tuple[Sandbox, FaultyDriver]:
    faulty, lab = FaultyDriver(quiet_driver(url), crash_at, side), Lab({"clean": True}, {"fields": {"name": "Anna"}})
    perdure = await Sandbox.start(
        url, definitions=load_text(DEFINITIONS), handlers={"lab.scan": lab, "lab.read": lab}, clock=clock,
        driver=faulty, blobs=folder / "blobs",
    )  # fmt: skip
    return perdure, faulty


@pytest.mark.req("T6", "T10", "T11")
@pytest.mark.parametrize("side", ["before", "after"])
@some_kills
async def test_a_crash_at_any_commit_of_a_document_loses_nothing_and_repeats_nothing(
    store_url: str, side: Side, tmp_path: Path, every: int
) -> None:
    clock = VirtualSources(seed=1)
    for crash_at in killed_commits(every, f"documents {side}", MAX_COMMITS):
        crashes, entries = await live(store_url, tmp_path, crash_at, side, clock)
        del entries["ContentRead"]
        assert entries == ENTRIES, (crash_at, side)
        if not crashes:
            assert every > 1 or crash_at > len(ACTS)
            return
    pytest.fail("the life of the document never ended without reaching the crash")

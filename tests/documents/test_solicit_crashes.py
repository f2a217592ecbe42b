"""The process stops before and after every commit while a client is asked, answers, is rejected and asked again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.app.channels.open_channels import OpenChannels
from perdure.channels.channel_settings import ChannelSettings, FileSettings
from perdure.errors import RejectedError
from perdure.testing.fault_injection import Crash, FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs.loader import load_text
from tests.depth import killed_commits, some_kills
from tests.documents.papers import DEFINITIONS
from tests.lifecycles.onboarding import written

MAX_COMMITS = 80
LIFECYCLE = """
lifecycle: onboarding
states:
  OPEN:
    requirements:
      - type: document_exists
        document_type: form
        on_fail:
          blocker:
            type: MissingDocument
            resolution: "(document.solicit :subject-entity-id $subject :document-type form :to $subject)"
            auto: true
  DONE: {terminal: true}
transitions:
  - {from: OPEN, to: DONE}
"""


async def _open(url: str, folder: Path, crash_at: int, side: Side, clock: VirtualSources) -> Any:
    faulty = FaultyDriver(quiet_driver(url), crash_at, side)
    perdure = await Sandbox.start(
        url, definitions=load_text(DEFINITIONS), clock=clock, driver=faulty, blobs=folder / "blobs",
        lifecycles=[written(folder, LIFECYCLE)],
    )  # fmt: skip
    settings = ChannelSettings((FileSettings("files", folder / "out"),), "files")
    perdure.runtime.channels = OpenChannels(perdure.runtime, settings)
    return perdure, faulty


async def begin(perdure: Sandbox, subject: str) -> None:
    await perdure.lifecycles.start("onboarding", subject)
    await perdure.run_until_idle()


async def _asked(perdure: Sandbox, subject: str) -> Any:
    (item,) = await perdure.lifecycles.list("onboarding", subject=subject)
    return await perdure.lifecycles.get(item.id)


async def answer(perdure: Sandbox, subject: str) -> None:
    tasks = (await _asked(perdure, subject)).tasks
    asked = tasks[-1].correlation_id
    try:
        await perdure.documents.submit_data(asked, {"title": f"try {tasks[-1].attempt}"})
    except RejectedError:
        assert (await perdure.documents.request(asked)).status == "received", "only when it was counted before"
    await perdure.run_until_idle()


async def reject(perdure: Sandbox, subject: str) -> None:
    (paper,) = await perdure.documents.find(subject=subject)
    await perdure.documents.reject(paper.id, 1, "BLURRED")
    await perdure.run_until_idle()


async def verify(perdure: Sandbox, subject: str) -> None:
    (paper,) = await perdure.documents.find(subject=subject)
    await perdure.documents.verify(paper.id, 2)
    await perdure.run_until_idle()


async def live(url: str, folder: Path, crash_at: int, side: Side, clock: VirtualSources) -> int:
    crashes, subject = 0, f"{side}-{crash_at}"
    perdure, faulty = await _open(url, folder, crash_at, side, clock)
    for act in (begin, answer, reject, answer, verify):
        while True:
            try:
                await act(perdure, subject)
                break
            except Crash:
                crashes += 1
                await faulty.abandon()
                perdure, faulty = await _open(url, folder, 0, side, clock)
    status = await _asked(perdure, subject)
    place = (crash_at, side)
    assert status.state == "DONE", place
    assert [(each.attempt, each.status, each.received) for each in status.tasks] == [
        (1, "completed", 1), (2, "completed", 1),
    ], place  # fmt: skip
    sent = [each.deliveries[0] for each in status.tasks]
    assert [each.status for each in sent] == ["sent", "sent"], place
    (paper,) = await perdure.documents.find(subject=subject)
    assert [each.status for each in (await perdure.documents.get(paper.id)).versions] == ["rejected", "verified"], place
    bodies = [msgspec.json.decode(each.read_bytes()) for each in (folder / "out").iterdir()]
    assert sorted(each["effect_id"] for each in bodies if each["to"] == subject) == sorted(e.effect_id for e in sent)
    assert (await verify_store(perdure, {})).findings == [], place
    await perdure.runtime.stop()
    return crashes


@pytest.mark.req("T13", "T15")
@pytest.mark.parametrize("side", ["before", "after"])
@some_kills
async def test_a_crash_at_any_commit_loses_no_request_and_counts_no_answer_twice(
    store_url: str, side: Side, tmp_path: Path, every: int
) -> None:
    clock = VirtualSources(seed=1)
    perdure, _ = await _open(store_url, tmp_path, 0, side, clock)
    await perdure.runtime.stop()  # its lifecycle is deployed
    for crash_at in killed_commits(every, f"solicit {side}", MAX_COMMITS):
        if not await live(store_url, tmp_path, crash_at, side, clock):
            return
    pytest.fail("it never ended without reaching the crash")

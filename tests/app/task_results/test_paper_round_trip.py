"""The round trip of a paper by every door: asked for, kept in a bucket, brought, counted once, verified, moved on.

The consumer dies at every commit in turn and around its acknowledgements; everything comes twice and out of order.
"""

from __future__ import annotations

import random
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from perdure.app.audit.store_audit import verify_store
from perdure.testing.fault_injection import FaultyDriver, Side
from perdure.testing.sandbox import Sandbox, quiet_driver
from perdure.verbs import Catalogue, load_text
from tests.app.task_results.doors import Door, HttpDoor
from tests.app.task_results.test_round_trip import (
    BROKERS,
    CLIENTS,
    MAX_LIVES,
    POISON,
    UNACKNOWLEDGED,
    Story,
    door_named,
)
from tests.documents.papers import PDF
from tests.lifecycles.onboarding import written

DEFINITIONS = """
documents:
  passport:
    content: {media_types: [application/pdf]}
    verify: {groups: [compliance]}
"""
LIFECYCLE = """
workflow: onboarding
states:
  AWAITING_PASSPORT:
    requirements:
      - type: document_exists
        document_type: passport
        status: verified
        subject: $entity_id
    on_fail:
      blocker:
        type: MissingDocument
        resolution: "(document.solicit :subject-entity-id $entity_id :document-type passport)"
        auto: true
        expires: P20D
  REVIEW: {terminal: true}
transitions:
  - {from: AWAITING_PASSPORT, to: REVIEW}
"""
DOORS = ("http", "verb", "sql", *BROKERS)


class PaperStory(Story):
    """Clients whose passports lie in a bucket before a pointer to them is brought."""

    def __init__(self, url: str, file: Path, blobs: str) -> None:
        super().__init__(url, file)
        self.blobs = blobs
        self.documents: dict[str, str] = {}

    async def process(self, crash_at: int = 0, side: Side = "before") -> tuple[Sandbox, FaultyDriver]:
        faulty = FaultyDriver(quiet_driver(self.url), crash_at, side)
        sandbox = await Sandbox.start(
            self.url, definitions=_catalogue(), lifecycles=[self.file], clock=self.clock, driver=faulty,
            blobs=self.blobs,
        )  # fmt: skip
        return sandbox, faulty

    async def begin(self) -> list[str]:
        """Ask for three passports, and let another system keep what came: the correlation ids, in order."""
        sandbox, _ = await self.process()
        found: list[str] = []
        for client in CLIENTS:
            begun = await sandbox.lifecycles.start("onboarding", client, {"entity_id": client})
            await sandbox.run_until_idle()
            (task,) = (await sandbox.lifecycles.get(begun.instance.id)).tasks
            assert (task.verb, task.status, task.attempt) == ("document.solicit", "pending", 1)
            portal = sandbox.acting(principal="portal")
            kept = await portal.documents.upload(_scan(client))
            made = await portal.documents.create("passport", client, blob=kept.blob, name="scan.pdf")
            self.documents[task.correlation_id] = made.id
            found.append(task.correlation_id)
        await sandbox.runtime.stop()
        return found


def _catalogue() -> Catalogue:
    return load_text(DEFINITIONS)


def _scan(client: str) -> bytes:
    return PDF.replace(b"x" * 10, client.encode() * 5, 1)


def mail(story: PaperStory, seed: int) -> list[dict[str, Any] | bytes]:
    """A pointer for each task, everything twice and out of order, poison and somebody else's cargo in between."""
    found: list[dict[str, Any] | bytes] = [
        {
            "correlation_id": correlation, "verb": "document.solicit", "status": "completed", "cargo_type": "document",
            "cargo_ref": f"document://default/{document}", "idempotency_key": f"ext-{number}",
        }
        for number, (correlation, document) in enumerate(story.documents.items())
    ]  # fmt: skip
    first = next(iter(story.documents))
    for stolen in ("document://other/1", f"document://default/{'0' * 26}"):
        found.append({"correlation_id": first, "status": "completed", "cargo_ref": stolen})
    found += POISON
    found += found
    random.Random(seed).shuffle(found)
    return found


def in_bucket(names: tuple[str, ...]) -> list[Any]:
    """The doors with a bucket of a real server, in a deep run."""
    return [pytest.param(name, "s3", marks=pytest.mark.deep, id=f"{name}-s3") for name in names]


@pytest.mark.req("T2", "T3", "T4", "T5", "T8")
@pytest.mark.parametrize(("name", "place"), [("http", "folder"), ("sql", "folder"), *in_bucket(DOORS)])
async def test_a_paper_comes_by_any_door_and_moves_its_client_once(
    name: str, place: str, sqlite_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await round_trip(name, place, sqlite_url, tmp_path, request)


@pytest.mark.req("T4", "T8")
@pytest.mark.parametrize(("name", "place"), in_bucket(DOORS))
async def test_a_paper_comes_by_any_door_and_moves_its_client_once_on_postgres(
    name: str, place: str, postgres_url: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    await round_trip(name, place, postgres_url, tmp_path, request)


async def round_trip(name: str, place: str, url: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    blobs = request.getfixturevalue("s3_service").address() if place == "s3" else str(tmp_path / "blobs")
    story = PaperStory(url, written(tmp_path, LIFECYCLE), blobs)
    door: Door = HttpDoor() if name == "http" else await door_named(name, url, request)
    await story.begin()
    for each in mail(story, seed=5):
        await door.send(each)
    for lives in count(1):
        assert lives < MAX_LIVES
        is_turn = lives % 3 == 0 and lives < 12 and name not in (*UNACKNOWLEDGED, "http")
        dies_at = 1 + (lives // 3) % 2 if is_turn else 0
        if await story.live(door, 0 if dies_at else lives, "before" if lives % 2 else "after", dies_at):
            break
    assert lives > 3, "nothing was killed"
    await _decided(story)


async def _decided(story: PaperStory) -> None:
    sandbox, _ = await story.process()
    for state in await story.states(sandbox):
        (task,) = state.tasks
        document = story.documents[task.correlation_id]
        assert (state.state, task.status, task.received) == ("AWAITING_PASSPORT", "completed", 1)
        assert task.cargo == (f"document://default/{document}",)
        officer = sandbox.acting(principal="olga", groups=["compliance"])
        found = b"".join([part async for part in officer.documents.download(document, 1)])
        assert found == _scan(state.subject)
        await officer.documents.verify(document, 1)
    await sandbox.run_until_idle()
    for state in await story.states(sandbox):
        moves = [(each.source, each.target) for each in state.history]
        assert moves == [("", "AWAITING_PASSPORT"), ("AWAITING_PASSPORT", "REVIEW")]
        assert len(state.tasks) == 1, "nobody was asked twice"
    assert (await verify_store(sandbox, {})).findings == []
    await sandbox.runtime.stop()

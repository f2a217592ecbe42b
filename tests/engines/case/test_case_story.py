"""One bad day of `kyc.open-case`, told alike by every engine: outcome events, data hashes, trail, runs and result."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.conftest import unavailable
from tests.engines.case.case_story import CASE, Story
from tests.house.tree import ROOT

SECONDS = 240


def told(stage: str, store: str, folder: Path) -> Story:
    output = folder / f"{stage}.json"
    command = [sys.executable, "-m", "tests.engines.case.case_play", stage, store, str(output)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    if "ServiceUnavailable" in done.stderr:
        unavailable(done.stderr.strip().splitlines()[-1])
    assert output.exists(), done.stderr[-3000:]
    return msgspec.json.decode(output.read_bytes(), type=Story)


def assert_whole(story: Story) -> None:
    """What must hold wherever it is played, so that engines are not merely wrong alike."""
    assert story.result == {"state": "completed", "result": {"case_id": CASE, "review_decision": "approved"}}
    assert story.messages == ("buffered", "duplicate", "no_subscription")
    assert story.incidents == ("request_documents: payload.damaged",)
    assert story.findings == ()
    ran = [run for run in story.runs if run.startswith("kyc.request-documents")]
    assert len(ran) == 2, "the desk was closed once, and the damaged payload reached no handler"
    others = [run for run in story.runs if run not in ran]
    assert len(others) == len(set(others)), "every other job ran once"
    assert all(before[3] == after[2] for before, after in zip(story.trail, story.trail[1:], strict=False))


@pytest.mark.deep
def test_the_story_is_whole_on_the_embedded_engine(tmp_path: Path) -> None:
    story = told("embedded", f"sqlite:///{tmp_path}/p.db", tmp_path)
    assert_whole(story)
    assert [turn.stands_at for turn in story.turns][-2:] == [("senior_review",), ()]


@pytest.mark.deep
@pytest.mark.timeout(400)
@pytest.mark.req("V26")
def test_the_embedded_engine_tells_it_alike_on_both_stores(tmp_path: Path, postgres_url: str) -> None:
    assert told("embedded", postgres_url, tmp_path) == told("embedded", f"sqlite:///{tmp_path}/p.db", tmp_path)


@pytest.mark.deep
@pytest.mark.timeout(400)
@pytest.mark.req("V26")
def test_temporal_tells_it_as_the_embedded_engine_does_with_an_escalation_in_virtual_time(tmp_path: Path) -> None:
    reference = told("embedded", f"sqlite:///{tmp_path}/e.db", tmp_path)
    story = told("temporal", f"sqlite:///{tmp_path}/t.db", tmp_path)
    assert_whole(story)
    assert story == reference


@pytest.mark.deep
@pytest.mark.timeout(400)
@pytest.mark.req("V26")
def test_a_real_temporal_server_that_is_killed_tells_it_as_the_embedded_engine_does(tmp_path: Path) -> None:
    reference = told("embedded-still", f"sqlite:///{tmp_path}/e.db", tmp_path)
    story = told("temporal-still", f"sqlite:///{tmp_path}/t.db", tmp_path)
    assert_whole(story)
    assert story == reference


@pytest.mark.deep
@pytest.mark.timeout(400)
@pytest.mark.req("V26")
def test_a_real_camunda_broker_that_is_killed_tells_it_as_the_embedded_engine_does(tmp_path: Path) -> None:
    reference = told("embedded", f"sqlite:///{tmp_path}/e.db", tmp_path)
    story = told("camunda", f"sqlite:///{tmp_path}/c.db", tmp_path)
    assert_whole(story)
    assert story == reference

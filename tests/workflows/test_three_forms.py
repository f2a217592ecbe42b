"""One process in three forms: one hash, and the same stories on our engine and on Temporal."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from perdure.testing import Sandbox
from perdure.testing.service_availability import ServiceUnavailable
from perdure.testing.temporal_server import real_server
from perdure.workflows.conversion import FORMS
from tests.conftest import ROOT, unavailable
from tests.workflows.three_forms import STORIES, grade, in_form, play, purchase

CHILD_SECONDS = 280


async def embedded(form: Any) -> dict[str, Any]:
    async with Sandbox.open(workflows=in_form(form)) as sandbox:

        async def go_on(instance: object) -> None:
            await sandbox.advance("PT1M")

        return await play(sandbox, go_on)


@pytest.mark.req("O2", "O1", "V13")
@pytest.mark.parametrize("form", FORMS)
def test_a_process_has_one_hash_in_three_forms(form: Any) -> None:
    assert [each.content_hash() for each in in_form(form)] == [grade().content_hash(), purchase().content_hash()]


@pytest.mark.req("O2", "O1")
async def test_the_stories_of_a_process_are_the_same_in_three_forms() -> None:
    python, yaml, bpmn = [await embedded(form) for form in FORMS]
    assert {name: python[name]["state"] for name in STORIES} == {
        "small": "completed", "approved": "completed", "refused": "completed", "undone": "compensated",
    }  # fmt: skip
    assert (python["approved"]["data"]["order"], python["undone"]["data"]["order"]) == ("O-900", None)
    assert "order" not in python["refused"]["data"]
    assert yaml == python
    assert bpmn == python


@pytest.fixture(scope="module")
def temporal() -> Iterator[str]:
    try:
        server = real_server()
    except ServiceUnavailable as error:
        unavailable(str(error))
    try:
        server.start()
        yield f"temporal://{server.target}/default"
    finally:
        server.remove()


@pytest.mark.deep
@pytest.mark.timeout(300)
@pytest.mark.req("O2", "V13")
@pytest.mark.parametrize("form", FORMS)
def test_the_stories_are_the_same_on_temporal(form: Any, temporal: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.workflows.three_forms", form, f"sqlite:///{tmp_path / 'a.db'}", temporal]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=CHILD_SECONDS, check=False)
    line = next((each for each in done.stdout.splitlines() if each.startswith("@")), "")
    assert line, done.stdout + done.stderr
    assert json.loads(line[1:]) == json.loads(json.dumps(asyncio.run(embedded(form))))

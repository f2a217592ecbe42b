"""The demonstration keeps every promise it makes, and notices one that is broken."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from perdure.demo import example_project, tamper_scene
from perdure.demo.command_runner import BrokenPromise, Stage
from perdure.demo.script import tell
from tests.acceptance.in_process import run_here
from tests.house.tree import ROOT, tracked_files

PROMISED = (
    "two entities have that name",
    "owners in the end: Ingrid Solberg 60 % and Mikael Strand 40 %",
    "one is politically exposed: a decision added a step",
    "the case waits as it did",
    "for a client who is eager",
    "a wrong key wakes nobody",
    "the client was reminded, once",
    "after three days without a decision the case went to a senior",
    "ana opened the case: her own approval is refused",
    "whoever gets the document can check it",
    "seven steps, six planned and one decided, are complete",
    "linted and proved, it is version 2",
    "compensation withdrew every document",
    "asked for on day 9, uploaded on day 1",
    "the passport was blurred: the client was asked again, by itself",
    "the extract expired: the review opened and asked for a new one",
    "the change is found, and its place is named",
)


class InnerStage(Stage):
    """A stage whose commands run inside the test's process, unless they go on or are talked to."""

    def _done(self, words: tuple[str, ...], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        self._commands += 1
        return run_here(["perdure", *words], self.folder, environment, "")


@pytest.mark.req("P1")
@pytest.mark.req("V26")
@pytest.mark.req("X24")
def test_the_story_keeps_every_promise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stage = InnerStage(tmp_path)
    try:
        tell(stage)
    finally:
        stage.close()
    assert_told(capsys.readouterr().out)


@pytest.mark.deep
@pytest.mark.req("P1")
@pytest.mark.req("V26")
@pytest.mark.req("X24")
def test_the_demonstration_runs_by_itself() -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PERDURE_")}
    done = subprocess.run(
        [sys.executable, "-m", "perdure.demo"], env=kept, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert_told(done.stdout)


def assert_told(text: str) -> None:
    for words in PROMISED:
        assert f"✓ {words}" in text
    assert "All is as it was written" in text and "AUD010 payload" in text


def test_a_promise_that_does_not_hold_ends_the_story(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with pytest.raises(BrokenPromise, match="exited 3, not 0"):
        stage.ask("call", "no.such-verb")
    with pytest.raises(BrokenPromise, match="not as promised: the moon is cheese"):
        stage.promise(False, "the moon is cheese")
    (tmp_path / "empty.db").write_bytes(b"nothing")
    with pytest.raises(BrokenPromise, match=r"not found in empty\.db"):
        tamper_scene.flip(tmp_path / "empty.db", b"Ingrid")
    stage.close()


def test_the_clock_of_the_story_is_ahead_by_the_days_that_passed(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    assert "PERDURE_CLOCK_AHEAD" not in stage.environment()
    stage.pass_days(4, "a long weekend")
    stage.pass_days(4, "and another")
    assert stage.environment("rita", "compliance")["PERDURE_CLOCK_AHEAD"] == "P8D"


def test_the_project_of_the_story_is_a_copy_without_what_runs_left_behind(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    for name in ("perdure.yaml", "perdure.db", "perdure.db.seal.key"):
        (tmp_path / "source" / name).touch()
    example_project.begin(tmp_path / "copy", tmp_path / "source")
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["perdure.yaml"]
    example_project.begin(tmp_path / "whole")
    parts = {"perdure.yaml", "verbs", "models", "casework", "data", "packs", "runbooks"}
    assert parts <= {path.name for path in (tmp_path / "whole").iterdir()}


def test_the_package_brings_every_part_of_the_project() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    brought = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    example = ROOT / "examples" / "kyc"
    tracked = {path.relative_to(example).parts[0] for path in tracked_files() if example in path.parents}
    assert brought == {f"examples/kyc/{name}": f"perdure/demo/kyc/{name}" for name in tracked}

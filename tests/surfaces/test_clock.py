"""A command may live some days ahead, so that nobody has to wait for a timer; it is refused when it cannot be read."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from perdure.sources import SECOND, SystemSources
from perdure.surfaces.cli.time_text import AHEAD, clock, relative
from tests.acceptance.commands import Shell

VERBS = "- {name: t.wait, execution: {kind: durable, correlation: {key: k}, policy: {timeout: P9D}}}\n"


def ahead(folder: Path, span: str) -> Shell:
    shell = Shell(folder)
    shell.environment[AHEAD] = span
    return shell


def test_the_clock_is_the_system_s_unless_it_is_to_be_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(AHEAD, raising=False)
    assert type(clock()) is SystemSources
    monkeypatch.setenv(AHEAD, "P9D")
    later, here = clock(), SystemSources()
    before = here.now()
    told = later.now()
    assert before <= told - 9 * 86_400 * SECOND <= here.now()
    assert relative(datetime.fromtimestamp(told / SECOND).astimezone().isoformat()) == "just now"


@pytest.mark.req("P1")
def test_a_wait_of_nine_days_ends_for_a_command_that_lives_ten_days_ahead(tmp_path: Path) -> None:
    (tmp_path / "verbs.yaml").write_text(VERBS, encoding="utf-8")
    (tmp_path / "perdure.yaml").write_text("definitions: [verbs.yaml]\n", encoding="utf-8")
    shell = Shell(tmp_path)
    call = shell.json("call", "t.wait")
    assert call["state"] == "parked"
    worker = ahead(tmp_path, "P10D").start("worker")
    try:
        while (found := shell.json("status", call["id"]))["state"] == "parked":
            pass
    finally:
        worker.terminate()
        worker.communicate(timeout=60)
    assert (found["state"], found["error"]["code"]) == ("failed", "timed_out")


def test_a_clock_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "perdure.db").touch()
    done = ahead(tmp_path, "next week").run("parked", code=10)
    assert "'next week', but it is not an ISO 8601 duration" in done.error

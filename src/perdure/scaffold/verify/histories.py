"""Recorded histories against the code of the project, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from perdure.errors import RejectedError, Rejection
from perdure.scaffold.verify.findings import Mismatch
from perdure.typed_reading import read_json

MOST_SECONDS = 600


class _Replayed(msgspec.Struct):
    history: str
    failure: str


def replay_histories(folder: Path, package: str, histories: Path) -> tuple[int, list[Mismatch]]:
    """How many histories were replayed, and those that do not replay. Runs the code of the project."""
    if not histories.is_dir() or not any(histories.rglob("*.json")):
        fact = "there is no history (*.json) in it"
        hint = "Record one: temporal workflow show -w ID -o json > FILE.json"
        raise RejectedError(Rejection("not_found", "replay", "folder", str(histories), fact, hint))
    replayed = _run(folder, package, histories)
    return len(replayed), list(_findings(replayed))


def _run(folder: Path, package: str, histories: Path) -> list[_Replayed]:
    command = [sys.executable, "-m", f"{package}.generated.replay", str(histories.resolve())]
    done = subprocess.run(
        command, cwd=folder / "src", capture_output=True, text=True, timeout=MOST_SECONDS, check=False
    )
    try:
        return read_json(done.stdout.strip().rpartition("\n")[2], list[_Replayed])
    except msgspec.DecodeError:
        said = (done.stderr or done.stdout).strip()[-500:] or f"it ended with {done.returncode}"
        raise RejectedError(
            Rejection("wrong_state", "replay", "project", str(folder), f"its code does not run: {said}",
                      "Install its dependencies beside perdure.")
        ) from None  # fmt: skip


def _findings(replayed: list[_Replayed]) -> Iterator[Mismatch]:
    for each in replayed:
        if each.failure:
            fact = f"the history no longer replays: {' '.join(each.failure.split())[:300]}"
            yield Mismatch(code="AME085", path=each.history, fact=fact, hint="Put the change behind a marker.")

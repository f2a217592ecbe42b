"""Writes golden journals that are not there yet; those that are there are history and stay as they are."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from perdure.runbooks.machine.journal_entries import ENTRY_VERSION
from tests.replay.histories import HISTORIES, Moment, play
from tests.replay.process_histories import SHELVES, play_on

FOLDER = Path(__file__).parent / "golden"


def path_of(version: int, kind: str = "runbook") -> Path:
    return FOLDER / f"{kind}-{version}.json"


def golden(version: int, kind: str = "runbook") -> dict[str, list[dict[str, Any]]]:
    """The journals of one entry version by name; none when there is no file."""
    path = path_of(version, kind)
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def add(version: int, kind: str, played: dict[str, Iterable[Moment]]) -> None:
    kept = golden(version, kind)
    new = {name: [moment._asdict() for moment in each] for name, each in played.items() if name not in kept}
    FOLDER.mkdir(exist_ok=True)
    path = path_of(version, kind)
    path.write_text(json.dumps({**kept, **new}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{path.name}: {len(kept)} kept, {len(new)} added")


def main() -> None:
    add(ENTRY_VERSION, "runbook", {name: play(each) for name, each in HISTORIES.items()})
    for shelf in SHELVES.values():
        played = {name: play_on(shelf.machine, each) for name, each in shelf.histories.items()}
        add(shelf.version, shelf.kind, played)


if __name__ == "__main__":
    main()

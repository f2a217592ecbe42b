"""Writes golden journals that are not there yet; those that are there are history and stay as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from perdure.runbooks.entries import ENTRY_VERSION
from tests.replay.histories import HISTORIES, play

FOLDER = Path(__file__).parent / "golden"


def path_of(version: int) -> Path:
    return FOLDER / f"runbook-{version}.json"


def golden(version: int) -> dict[str, list[dict[str, Any]]]:
    """The journals of one entry version by name; none when there is no file."""
    path = path_of(version)
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def main() -> None:
    kept = golden(ENTRY_VERSION)
    new = {name: [moment._asdict() for moment in play(each)] for name, each in HISTORIES.items() if name not in kept}
    FOLDER.mkdir(exist_ok=True)
    path_of(ENTRY_VERSION).write_text(json.dumps({**kept, **new}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{path_of(ENTRY_VERSION).name}: {len(kept)} kept, {len(new)} added")


if __name__ == "__main__":
    main()

"""A store is readable by its owner alone: its file and those beside it, whatever the umask."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from perdure import Perdure

pytestmark = [pytest.mark.req("P3"), pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")]


def modes_in(folder: Path) -> dict[str, int]:
    return {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir() if each.is_file()}


async def test_the_files_of_a_new_store_are_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        async with Perdure.open(f"sqlite:///{tmp_path / 'store.db'}") as perdure:
            await perdure.access.create_key("ci", principal="ci", roles=["viewer"])
            modes = modes_in(tmp_path)
    finally:
        os.umask(before)
    assert {"store.db", "store.db-wal", "store.db-shm"} <= set(modes)
    shared = {name for name, mode in modes.items() if mode & (stat.S_IRWXG | stat.S_IRWXO)}
    assert {name for name in shared if not name.endswith(".pub")} == set()

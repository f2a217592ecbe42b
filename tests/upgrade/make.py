"""Packs the store of this release, so that later ones can be tried against it: `python -m tests.upgrade.make`.

Run it with every release that has a new schema: it writes `releases/schema-NUMBER.tar.xz` with the modules that open,
read and write a store, and their statements.
"""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path

import perdure
import perdure.store.driver_selection
import perdure.store.postgres.driver
import perdure.store.store
import perdure.work.worker_identity
from perdure.store.migrations import newest

RELEASES = Path(__file__).parent / "releases"
SOURCE = Path(perdure.__file__).parent


def packed(schema: int) -> Path:
    return RELEASES / f"schema-{schema}.tar.xz"


def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without what differs from one machine to the next."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry


def pack() -> Path:
    modules = [each for name, each in sys.modules.items() if name.partition(".")[0] == "perdure"]
    files = {Path(each.__file__) for each in modules if each.__file__ is not None}
    files |= set((SOURCE / "store").rglob("*.sql"))
    target = packed(newest("sqlite"))
    with tarfile.open(target, "w:xz") as archive:
        for file in sorted(files):
            archive.add(file, str(file.relative_to(SOURCE.parent)), filter=plain)
    return target


if __name__ == "__main__":
    sys.stdout.write(f"{pack()}\n")

"""The file under an open store: whether its path still leads to it, and where it went.

| the path | the store |
|---|---|
| leads to the file that was opened | goes on |
| leads nowhere, or to another file | acknowledges nothing and answers nothing; an error in the log says where it went |
| leads to the file again | goes on |

It is looked at before a commit is acknowledged, and with every heartbeat. A commit written after the file was moved
lies in a write-ahead log without a database: its caller is told that the store is unavailable.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from pathlib import Path

from perdure.errors import RejectedError, Rejection, StoreUnavailableError

OPEN_FILES = Path("/proc/self/fd")

log = logging.getLogger("perdure")


class StoreFile:
    """Device and inode of the file at a path, as they were when it was opened."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._path = "" if not path or path.startswith("file:") else os.path.abspath(path)
        self._known: tuple[int, int] | None = None
        self.is_lost = False

    def require(self) -> None:
        """Refuse a path that leads nowhere: who only looks must not make a store."""
        if self._path and not os.path.exists(self._path):
            hint = "The first call makes it; is --store or the folder right?"
            raise RejectedError(Rejection("not_found", "open", "store", self.path, "there is no such file", hint))

    def remember(self) -> None:
        """The file that was just opened is the store's."""
        if self._path:
            found = os.stat(self._path)
            self._known = found.st_dev, found.st_ino
            self.is_lost = False

    def check(self) -> None:
        """Raise unless the path leads to the file that was opened."""
        if self._known is None:
            return
        try:
            found = os.stat(self._path)
            is_same = (found.st_dev, found.st_ino) == self._known
        except OSError:
            is_same = False
        if not is_same:
            raise self._missing()
        self.is_lost = False

    def _missing(self) -> StoreUnavailableError:
        error = StoreUnavailableError(
            "use", "store", self.path, self._where(),
            "Nothing more is acknowledged. Put the file back, with those that end in -wal and -shm, or restart.",
        )  # fmt: skip
        if not self.is_lost:
            self.is_lost = True
            log.error("%s", error)
        return error

    def _where(self) -> str:
        """Found among the files this process has open: to open it once more would end the locks on it."""
        with suppress(OSError):
            for each in OPEN_FILES.iterdir():
                with suppress(OSError):
                    found = each.stat()
                    if (found.st_dev, found.st_ino) == self._known:
                        place = os.readlink(each)
                        return "its file was removed" if found.st_nlink == 0 else f"its file was moved to '{place}'"
        return "its file is no longer there"

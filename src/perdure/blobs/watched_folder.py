"""A folder under an open process: whether its path still leads to it.

| the path | content |
|---|---|
| leads to the folder that was first seen | is stored and read |
| leads nowhere, or to another folder | nothing is acknowledged or answered |
| leads to the folder again | goes on |

A folder is missed when it was moved or removed, and when its disk is not mounted any more.
"""

from __future__ import annotations

from pathlib import Path

from perdure.errors import StoreUnavailableError


class WatchedFolder:
    """Device and inode of a folder, as they were when it was first seen."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: tuple[int, int] | None = None

    def check(self) -> None:
        """Raise unless the path leads to the folder that was first seen; one that was never there is not missed."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            if self._known is None:
                return
            raise self._missing("it is no longer there") from None
        if self._known is None:
            self._known = found.st_dev, found.st_ino
        if (found.st_dev, found.st_ino) != self._known:
            raise self._missing("another folder lies in its place")

    def _missing(self, fact: str) -> StoreUnavailableError:
        hint = "Nothing more is acknowledged. Put it back or mount it again, or restart."
        return StoreUnavailableError("use", "folder of blobs", str(self.path), fact, hint)

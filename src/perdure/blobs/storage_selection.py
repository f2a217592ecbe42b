"""The storage of blobs that a setting names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from perdure.blobs.folder_storage import FolderStorage
from perdure.documents.ports import Blobs
from perdure.errors import StoreSettingError
from perdure.sources import Micros

FILE = "file://"
BESIDE = ".blobs"


def open_blobs(place: str, now: Callable[[], Micros]) -> Blobs:
    """The storage at a place: the path of a folder, or `file:///…`."""
    if "://" in place and not place.startswith(FILE):
        hint = "Write the path of a folder."
        raise StoreSettingError("open", "blobs at", place, "nothing here keeps blobs at such an address", hint)
    return FolderStorage(Path(place.removeprefix(FILE)), now)


def default_place(store: str) -> str:
    """The folder of blobs of a store: `<file>.blobs` beside a file, else `perdure.blobs` where the process runs."""
    path = store.removeprefix("sqlite:///")
    if path.endswith(".db"):
        return path + BESIDE
    return "perdure" + BESIDE

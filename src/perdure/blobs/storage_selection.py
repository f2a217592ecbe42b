"""The storage of blobs that a setting names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import gettempdir

from perdure.blobs.folder_storage import FolderStorage
from perdure.documents.ports import Blobs
from perdure.errors import StoreSettingError
from perdure.sources import Micros, fresh_secret

FILE, BUCKET = "file://", "s3://"
BESIDE = ".blobs"
MEMORY = ("", "sqlite://")


def open_blobs(place: str, store: str, now: Callable[[], Micros]) -> Blobs:
    """The storage at a place: the path of a folder, `file:///…`, or `s3://bucket/prefix`.

    Default: beside the store. Files of a store in memory are as short-lived as the store: a temporary folder has them.
    """
    if not place and store in MEMORY:
        return FolderStorage(Path(gettempdir()) / f"perdure-blobs-{fresh_secret(8).hex()}", now, is_temporary=True)
    if place.startswith(BUCKET):
        from perdure.blobs.bucket_address import parse_address  # noqa: PLC0415  only who names a bucket loads it
        from perdure.blobs.bucket_storage import open_bucket  # noqa: PLC0415

        return open_bucket(parse_address(place), now)
    if "://" in place and not place.startswith(FILE):
        hint = "Write the path of a folder, or s3://bucket/prefix."
        raise StoreSettingError("open", "blobs at", place, "nothing here keeps blobs at such an address", hint)
    return FolderStorage(Path((place or default_place(store)).removeprefix(FILE)), now)


def default_place(store: str) -> str:
    """The folder of blobs of a store: `<file>.blobs` beside a file, else `perdure.blobs` where the process runs."""
    path = store.removeprefix("sqlite:///")
    if path.endswith(".db"):
        return path + BESIDE
    return "perdure" + BESIDE

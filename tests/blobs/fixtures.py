"""Fixtures of places: a folder, a bucket in memory and, in a deep run, a bucket of a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import obstore
import pytest
from obstore.store import MemoryStore

from perdure.blobs import bucket_storage
from perdure.blobs.bucket_address import parse_address
from perdure.testing.s3_service import S3Service
from perdure.testing.service_availability import ServiceUnavailable
from tests.blobs.places import BucketPlace, FolderPlace, Place
from tests.conftest import unavailable


@pytest.fixture(scope="session")
def s3_service() -> Iterator[S3Service]:
    """The session's S3 server."""
    service = S3Service()
    try:
        service.start()
    except ServiceUnavailable as error:
        unavailable(str(error))
    yield service
    service.stop()


@pytest.fixture(params=["folder", "bucket", pytest.param("s3", marks=pytest.mark.deep)])
def blob_place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place of blobs, once for each kind; `bucket` is the storage of S3 over an object store in memory."""
    if request.param == "folder":
        return FolderPlace(tmp_path / "blobs")
    if request.param == "s3":
        setting = request.getfixturevalue("s3_service").address()
        opened = bucket_storage.open_bucket(parse_address(setting), lambda: 0)
        obstore.put(opened._store, "first", b"-")  # the bucket comes into being by it
        obstore.delete(opened._store, "first")
        return BucketPlace(opened._store, setting)
    store = MemoryStore()
    monkeypatch.setattr(
        bucket_storage, "open_bucket", lambda address, now: bucket_storage.BucketStorage(store, address.shown, now)
    )
    return BucketPlace(store, "s3://memory")

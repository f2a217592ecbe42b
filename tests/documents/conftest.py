"""The places that files of documents are kept in."""

from __future__ import annotations

from tests.blobs.fixtures import blob_place, s3_service

__all__ = ["blob_place", "s3_service"]

"""The places of blobs, for every test of this folder."""

from __future__ import annotations

from tests.blobs.fixtures import blob_place, s3_service

__all__ = ["blob_place", "s3_service"]

"""The store's own suites keep their files on disk."""

from __future__ import annotations

from tests.on_disk import store_folder

__all__ = ["store_folder"]

"""The store's own suites make their schema themselves, in databases in which nothing is yet."""

from __future__ import annotations

from tests.on_disk import postgres_template, store_folder

__all__ = ["postgres_template", "store_folder"]

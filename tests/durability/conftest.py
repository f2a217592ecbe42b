"""Durability is shown on a disk, by stores that begin empty."""

from __future__ import annotations

from tests.on_disk import postgres_server, postgres_template, store_folder

__all__ = ["postgres_server", "postgres_template", "store_folder"]

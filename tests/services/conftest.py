"""The server itself is tested where it lies for others: on disk."""

from __future__ import annotations

from tests.on_disk import postgres_server, postgres_template, store_folder

__all__ = ["postgres_server", "postgres_template", "store_folder"]

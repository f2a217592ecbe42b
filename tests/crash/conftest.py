"""Crashes are survived by a store on disk that begins empty."""

from __future__ import annotations

from tests.on_disk import postgres_server, postgres_template, store_folder

__all__ = ["postgres_server", "postgres_template", "store_folder"]

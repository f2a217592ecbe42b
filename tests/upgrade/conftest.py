"""Upgrades begin in stores in which nothing is yet: each release makes its own schema."""

from __future__ import annotations

from tests.on_disk import postgres_template, store_folder

__all__ = ["postgres_template", "store_folder"]

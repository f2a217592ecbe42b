"""Backups and exports begin with databases in which nothing is yet."""

from __future__ import annotations

from tests.on_disk import postgres_template

__all__ = ["postgres_template"]

"""GLEIF, the public register of legal entities: who an entity is, who its parents, children and funds are."""

from __future__ import annotations

from casework.gleif.handlers import discover_hierarchy as discover_hierarchy

__all__ = ["discover_hierarchy"]

"""How verbs, keywords and symbols are spelled."""

from __future__ import annotations

import re

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
VERB = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*)*\Z")
FIELD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*\Z")
RESERVED = frozenset({"as", "after"})
WORDS: dict[str, bool | None] = {"true": True, "false": False, "nil": None}

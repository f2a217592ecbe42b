"""How verbs, keywords and symbols are spelled."""

from __future__ import annotations

import re

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
VERB = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*)*\Z")
FIELD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*\Z")
RESERVED = frozenset({"as", "after", "on_failure", "gate", "reevaluate"})
"""What a call says of itself and not to its verb, in one spelling."""
ON_FAILURE = ("fail", "stop", "continue", "ask", "decide")
VARIABLE = re.compile(r"\$[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_][A-Za-z0-9_-]*)*\Z")
ALWAYS = "always"
"""What is said of a decision that is asked again at every resume."""
WORDS: dict[str, bool | None] = {"true": True, "false": False, "nil": None}

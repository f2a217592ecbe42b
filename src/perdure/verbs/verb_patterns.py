"""Verb patterns: `kyc.open-case`, `kyc.*` and `*` name the verbs that a key, a hook or a secret is for."""

from __future__ import annotations


def reaches(patterns: tuple[str, ...], verb: str) -> bool:
    """Whether any of the patterns is the verb's name, or its beginning before a star at the end."""
    return any(
        pattern == verb or (pattern.endswith("*") and verb.startswith(pattern[:-1])) for pattern in patterns
    )  # fmt: skip


def is_pattern(text: str) -> bool:
    """Whether a text names verbs: a star may stand at its end alone, after nothing or after a dot."""
    name, star = text.removesuffix("*"), text.endswith("*")
    if star and name and not name.endswith("."):
        return False
    return bool(text) and "*" not in name and name.isprintable() and " " not in name

"""Names of principals: one spelling for each, none that the platform uses itself, none that looks like another's.

| a name | is |
|---|---|
| `Ada ` , `ＡＤＡ`, `ada  b` | written `Ada`, `ADA`, `ada b`: compatible letters and blanks have one form |
| `perdure`, `Local`, `wait:x`, `hook:up` | refused: the journal knows the platform, tokens and hooks by them |
| `аda` with a Cyrillic first letter | refused: letters of two scripts in one name are there to be mistaken |
| `ADA` where a good key speaks for `ada` | refused: two names that differ by case alone are read as one person |
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from perdure.human_tasks import AGENT

PLATFORM: Final = "perdure"
LOCAL: Final = "local"
RESERVED: Final = frozenset({PLATFORM, LOCAL})
RESERVED_PREFIXES: Final = ("wait:", "hook:", "key:", "oidc:", "session:")
_ONE_SCRIPT: Final = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN"})
"""Scripts with letters that look like those of another of them."""


def normalised(name: str) -> str:
    """The one spelling of a name: compatible letters composed, blanks single, none around it."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def same_name(one: str, other: str) -> bool:
    """Whether people would read two names as one."""
    return _folded(one) == _folded(other)


def reserved_fault(name: str) -> str:
    """Why nobody may be called so; empty when somebody may."""
    bare = _folded(name).removeprefix(AGENT).strip()
    if bare in RESERVED:
        return f"'{bare}' is the name of {'the platform' if bare == PLATFORM else 'whoever sits at the machine'}"
    if prefix := next((each for each in RESERVED_PREFIXES if bare.startswith(each)), ""):
        return f"names that begin with '{prefix}' are the platform's own"
    return ""


def confusable_fault(name: str, others: Iterable[str] = ()) -> str:
    """Why a name could be mistaken for another; empty when it cannot."""
    scripts = sorted({script for letter in name if letter.isalpha() if (script := _script(letter)) in _ONE_SCRIPT})
    if len(scripts) > 1:
        return f"'{name}' mixes letters of {' and '.join(each.capitalize() for each in scripts)}"
    if other := next((each for each in others if each != name and same_name(each, name)), ""):
        return f"'{name}' could be mistaken for '{other}'"
    return ""


def _folded(name: str) -> str:
    return normalised(unicodedata.normalize("NFKC", name).casefold())


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]

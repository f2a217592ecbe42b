"""Versions of workflows: `1.0`, `1.2.3`, `2.0-strict`; compared, and made whole numbers for verbs."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

_FORM = re.compile(r"(\d{1,4})(?:\.(\d{1,3}))?(?:\.(\d{1,3}))?(?:-([0-9A-Za-z.-]{1,40}))?")
SUFFIXES = 499


class VersionError(ValueError):
    """A text that is no version."""


class Version(NamedTuple):
    """Ordered as people expect: of two with the same numbers, the one without a suffix is higher."""

    major: int
    minor: int
    patch: int
    is_plain: bool
    suffix: str = ""

    @property
    def number(self) -> int:
        """A whole number from 1, the same on every machine: verbs count by whole numbers.

        That of a version with a suffix lies below that of the version itself, where hardly any patch has a number.
        """
        numbers = (self.major * 1000 + self.minor) * 1000 + self.patch
        if self.is_plain:
            return max(1, numbers)
        above = numbers if numbers > SUFFIXES else 1_000_000
        return above - 1 - zlib.crc32(self.suffix.encode()) % SUFFIXES


def parse_version(text: str) -> Version:
    found = _FORM.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise VersionError(f"{text!r} is no version")
    major, minor, patch, suffix = found.groups()
    return Version(int(major), int(minor or 0), int(patch or 0), suffix is None, suffix or "")

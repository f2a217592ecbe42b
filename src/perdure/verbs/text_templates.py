"""Text templates with named placeholders: found, and replaced by plain substitution."""

from __future__ import annotations

import re
from collections.abc import Callable

_PLACEHOLDER = re.compile(r"\{([^{}\s]{1,100})\}")
_CORRELATION = re.compile(r"\$([A-Za-z_][A-Za-z0-9_-]{0,99})|\{([^{}\s]{1,100})\}")


def placeholders(template: str) -> list[str]:
    """The names between braces, as written."""
    return _PLACEHOLDER.findall(template)


def substitute(template: str, value_of: Callable[[str], str]) -> str:
    """Replaces each `{name}`; what comes in is never read as a template again."""
    return _PLACEHOLDER.sub(lambda match: value_of(match[1]), template)


def correlation_names(template: str) -> list[str]:
    """The names of a correlation template, written `$name` or `{name}`."""
    return [first or second for first, second in _CORRELATION.findall(template)]


def substitute_correlation(template: str, value_of: Callable[[str], str]) -> str:
    return _CORRELATION.sub(lambda match: value_of(match[1] or match[2]), template)

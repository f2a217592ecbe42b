"""References: strings that stand for data kept elsewhere."""

from __future__ import annotations

import re
from typing import Any

_REFERENCE = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,31}://[^\s\x00-\x20\x7f]{1,2000}")


def is_reference(value: Any) -> bool:
    """Whether a value is written as a reference, such as `document://tenant/uuid`; nothing is looked up."""
    return type(value) is str and _REFERENCE.fullmatch(value) is not None

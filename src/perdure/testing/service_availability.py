"""Service availability: a test whose service is missing is skipped, or fails where services are required."""

from __future__ import annotations

import os

REQUIRE_VARIABLE = "PERDURE_REQUIRE_SERVICES"


class ServiceUnavailable(Exception):
    """A service that cannot be had on this machine; the message says what was tried and what would help."""


def is_required() -> bool:
    """Whether a missing service is a failure instead of a skip."""
    return os.environ.get(REQUIRE_VARIABLE, "") not in ("", "0")

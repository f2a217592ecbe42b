"""Fixtures for the tests of verbs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2].parent / "shared"


@pytest.fixture
def shared_material() -> Path:
    """The folder of source material beside the repository."""
    if not SHARED.is_dir():
        message = f"the folder {SHARED} is missing, so the published snippets are not checked"
        if os.environ.get("PERDURE_REQUIRE_SERVICES") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return SHARED

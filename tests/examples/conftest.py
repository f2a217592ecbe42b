"""The KYC example as a project: its folder, and its handlers where they can be imported."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

KYC = Path(__file__).parents[2] / "examples" / "kyc"


@pytest.fixture
def kyc(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The example's folder; its handlers can be imported while the test runs."""
    # What other tests imported at the top stays: its types look their names up in the module when they are first used.
    kept = set(sys.modules)
    monkeypatch.syspath_prepend(str(KYC))
    yield KYC
    for name in [name for name in sys.modules if name.partition(".")[0] == "casework" and name not in kept]:
        del sys.modules[name]

"""Secrets of the stand-in, where the settings say they are."""

from __future__ import annotations

import pytest

from tests.task_channels.github_stand_in import SECRET, TOKEN


@pytest.fixture(autouse=True)
def secrets_of_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    monkeypatch.setenv("GITHUB_SECRET", SECRET)

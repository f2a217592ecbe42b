"""The changelog: releases, each short enough to be read, and the version that is built among them."""

from __future__ import annotations

import re
import tomllib

from tests.house.tree import ROOT

LONGEST_RELEASE = 30


def releases() -> dict[str, list[str]]:
    """The lines of every section of the changelog by its title, without blank ones."""
    _, *sections = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    parted = [section.partition("\n") for section in sections]
    return {title: [line for line in text.splitlines() if line.strip()] for title, _, text in parted}


def test_a_release_is_told_in_thirty_lines() -> None:
    long = {title: len(lines) for title, lines in releases().items() if len(lines) > LONGEST_RELEASE}
    assert not long, (
        f"Say what a user can do, what changed and what was fixed; a rule's corners belong to its page: {long}"
    )


def test_the_version_that_is_built_is_told() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert any(title.startswith(project["version"]) for title in releases())

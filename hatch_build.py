"""What building a package adds: the dashboard, built, and a README for a page on which no file stands beside it."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n\n", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")


class DashboardHook(BuildHookInterface[Any]):
    """Builds the dashboard first. An editable installation needs none: `make dashboard` builds it there."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        built = runpy.run_path(str(Path(self.root) / "dashboard" / "build.py"))
        built["build"]()
        if not (built["STATIC"] / "index.html").is_file():
            raise RuntimeError("Expected to build the dashboard, but it has no index.html.")


class ReadmeHook(MetadataHookInterface):
    """Gives the package the README without pictures and links of this folder, which would lead nowhere."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": standing_alone(text)}


def standing_alone(text: str) -> str:
    """A page of this folder as it reads elsewhere: without its pictures, its links as their words."""
    return _LINK.sub(r"\1", _PICTURE.sub("", text))

"""Puts the built dashboard into every wheel and source archive; one that would lack it is not made."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


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

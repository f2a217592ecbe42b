"""Projects from models: the contract profile as code that a team owns, and the check that both still agree."""

from __future__ import annotations

from perdure.scaffold.drop import DroppedVersion, DropReport, drop_versions
from perdure.scaffold.verify.findings import Mismatch, VerifyReport
from perdure.scaffold.verify.verify import verify
from perdure.scaffold.write import ScaffoldReport, WrittenFile, scaffold

__all__ = [
    "DropReport",
    "DroppedVersion",
    "Mismatch",
    "ScaffoldReport",
    "VerifyReport",
    "WrittenFile",
    "drop_versions",
    "scaffold",
    "verify",
]

"""Projects from models: the contract profile as code that a team owns, and the check that both still agree."""

from __future__ import annotations

from perdure.scaffold.verify.findings import Mismatch, VerifyReport
from perdure.scaffold.verify.verify import verify
from perdure.scaffold.write import ScaffoldReport, WrittenFile, scaffold

__all__ = ["Mismatch", "ScaffoldReport", "VerifyReport", "WrittenFile", "scaffold", "verify"]

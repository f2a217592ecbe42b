"""What a check finds, with a stable code.

| code | found |
|---|---|
| AME070 | a task type without a body, or with the body the scaffold left |
| AME071 | a request without its wait |
| AME072 | a body that belongs to no task |
| AME073 | workflow code that reads a clock, chance or the network, or starts threads |
| AME080 | a generated file that was changed by hand |
| AME081 | a generated file that is stale: model or policies changed after it was written |
| AME082 | a generated file that is missing, or one too many |
| AME083 | a lock that does not say what model and policies say |
| AME084 | other commands than the workflow issued before, neither behind a marker nor in a new version |
| AME085 | a history that no longer replays |
| AME086 | a module of an earlier version that was changed |
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that disagrees. `diff` leads from what is there to what should be."""

    code: str
    """One of the table above, or that of a rule of the profile which the model breaks."""
    path: str
    fact: str
    hint: str = ""
    line: int = 0
    diff: str = ""
    severity: Literal["error", "warning"] = "error"


class VerifyReport(msgspec.Struct, frozen=True):
    """Everything that was found, and how many histories were replayed."""

    folder: str
    findings: tuple[Mismatch, ...] = ()
    histories: int = 0

    def has_errors(self) -> bool:
        return any(each.severity == "error" for each in self.findings)

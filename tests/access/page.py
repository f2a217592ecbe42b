"""Writes the table of operations and roles into the page about security: `python -m tests.access.page`."""

from __future__ import annotations

from perdure.access.principal import ROLES
from perdure.access.roles import OPERATIONS
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "explanation" / "security-model.md"
BEGIN = "<!-- generated: python -m tests.access.page -->\n"
END = "<!-- end of what is generated -->\n"


def table() -> str:
    """One row for each set of roles, the widest first."""
    groups: dict[frozenset[str], list[str]] = {}
    for operation, roles in OPERATIONS.items():
        groups.setdefault(frozenset(roles), []).append(operation)
    rows = ["| operations | " + " | ".join(ROLES) + " |", "|---|" + "---|" * len(ROLES)]
    for roles, operations in sorted(groups.items(), key=lambda each: (-len(each[0]), each[1])):
        marks = " | ".join("yes" if role in roles else "" for role in ROLES)
        rows.append(f"| {', '.join(f'`{each}`' for each in sorted(operations))} | {marks} |")
    return "\n".join(rows) + "\n"


def written() -> str:
    """The page with the table of today."""
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, ended, after = rest.partition(END)
    assert found, "the page has lost the mark where the table begins"
    assert ended, "the page has lost the mark where the table ends"
    return before + BEGIN + table() + END + after


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")

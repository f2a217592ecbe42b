"""Writes the matrix into `docs/reference/authorisation.md`: `python -m tests.security.authorisation_page`."""

from __future__ import annotations

from perdure.access.principal import ROLES
from perdure.app.operations.operation_table import TABLE
from tests.house.tree import ROOT
from tests.security.authorisation import Row, outcome, roads

PAGE = ROOT / "docs" / "reference" / "authorisation.md"
MARK = "<!-- generated: python -m tests.security.authorisation_page -->\n"
NARROW = {"allowed": "as any", "blank": "left out, blank", "forbidden": "403"}


def table() -> str:
    """One row for each request."""
    heads = ("operation", "HTTP", "roles", "a narrow key", "MCP", "token", "webhook", "REPL")
    return "\n".join([_line(heads), _line(["---"] * len(heads)), *(_line(_cells(row)) for row in TABLE)]) + "\n"


def _cells(row: Row) -> list[str]:
    ways = roads(row)
    may = [role for role in ROLES if role in row.roles]
    told = "everybody" if len(may) == len(ROLES) else ", ".join(may)
    narrow = NARROW[outcome(row, "admin", "narrow")]
    return [f"`{row.name}`", ways["HTTP"], told, narrow, ways["MCP"], ways["token"], ways["webhook"], ways["REPL"]]


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"


def written() -> str:
    """The page with the matrix of today."""
    before, found, _ = PAGE.read_text(encoding="utf-8").partition(MARK)
    assert found, "the page has lost the mark where the matrix begins"
    return before + MARK + table()


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")

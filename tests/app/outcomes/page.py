"""Writes the table of outcome events into its page: `python -m tests.app.outcomes.page`."""

from __future__ import annotations

from perdure.app.outcomes.event_table import EVENTS, SILENT
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "outcome-events.md"
BEGIN = "<!-- generated: python -m tests.app.outcomes.page -->\n"
END = "<!-- end of what is generated -->\n"


def table() -> str:
    """One row for each word, then the entries that give none."""
    rows = ["| event | what happened | `text` shows | entries it is read from |", "|---|---|---|---|"]
    for word, row in EVENTS.items():
        shown = ", ".join(f"`{each}`" for each in row.shown)
        rows.append(f"| `{word}` | {row.meaning} | {shown} | {_entries(row.entries)} |")
    rows += ["", "Entries that give no event:", "", "| why | entries |", "|---|---|"]
    rows += [f"| {why} | {_entries(entries)} |" for why, entries in SILENT.items()]
    return "\n".join(rows) + "\n"


def _entries(names: tuple[str, ...]) -> str:
    """The entries of runbooks, then those of instances."""
    found = [f"{kind} " + ", ".join(f"`{name.partition('.')[2]}`" for name in names if name.startswith(f"{kind}."))
             for kind in ("runbook", "instance") if any(name.startswith(f"{kind}.") for name in names)]  # fmt: skip
    return "; ".join(found)


def written() -> str:
    """The page with the table of today."""
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, ended, after = rest.partition(END)
    assert found, "the page has lost the mark where the table begins"
    assert ended, "the page has lost the mark where the table ends"
    return before + BEGIN + table() + END + after


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")

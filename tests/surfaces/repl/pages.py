"""Writes the generated part of `docs/reference/repl.md` from the commands themselves."""

from __future__ import annotations

from perdure.surfaces.repl.command_parser import FORMS
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "repl.md"
MARK = "<!-- generated: python -m tests.surfaces.repl.pages -->\n"


def reference() -> str:
    """Every command and what it does."""
    rows = [f"| `{form.shown}` | {form.help} |" for form in FORMS if form.shown]
    return "\n".join(["## Commands\n", "| say | and it will |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    before = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(before + MARK + "\n" + reference(), encoding="utf-8")

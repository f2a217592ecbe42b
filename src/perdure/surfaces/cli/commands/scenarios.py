"""Commands about scenarios: run processes on virtual time and compare with what was expected."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.exit_codes import FAILED
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.progress_bar import progress_bar

if TYPE_CHECKING:
    from perdure.testing.scenarios import Outcome


async def run(
    settings: Settings,
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files or folders.", show_default=False)],
    engine: Annotated[Literal["embedded"], typer.Option("--engine", help="What carries the processes.")] = "embedded",
    junit: Annotated[str | None, typer.Option("--junit", metavar="FILE", help="Also write JUnit's XML.")] = None,
) -> None:
    """Run scenario files. Exits 0 only if everything expected holds.

    Each file has a SQLite store of its own, or with --store a tenant of its own there.
    """
    from perdure.testing.scenarios import find_scenarios, run_files
    from perdure.testing.scenarios.reports import junit as written
    from perdure.testing.scenarios.reports import plain

    files = find_scenarios(paths)
    logging.getLogger("perdure").setLevel(logging.ERROR)  # that nobody waited for a message is what some are about
    with progress_bar(settings, "Scenarios") as progress:
        outcomes = await run_files(files, settings.store or "", progress)
    output.line(plain(outcomes)) if settings.json else _tell(outcomes)
    if junit is not None:
        _write(Path(junit), written(outcomes))
    if not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(FAILED)


def _tell(outcomes: list[Outcome]) -> None:
    """One line per file, per failure and per remark that may explain it, however long: paths are copied from here."""
    from rich.text import Text

    console = output.console()
    for each in outcomes:
        word, style = ("ok    ", "") if each.passed else ("FAILED", "red")
        console.print(Text(f"{word} {each.file}", style), soft_wrap=True)
        for said in _said(each):
            console.print(Text(f"       {said}"), soft_wrap=True)
    failed = sum(not each.passed for each in outcomes)
    end = f"{failed} failed" if failed else "all hold"
    console.print(Text(f"{output.counted(len(outcomes), 'scenario')}, {end}", "red" if failed else "green"))


def _said(outcome: Outcome) -> list[str]:
    return [] if outcome.passed else list(dict.fromkeys([*outcome.failures, *outcome.actual.remarks]))


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise usage("write", "report", str(file), f"it cannot be written ({error.strerror})") from None


COMMANDS = {"scenario": {"run": run}}

"""Tables of a proof's verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from perdure.app.processes.proof import ProofReport
from perdure.bpmn.proof import Finding
from perdure.surfaces.cli.output import counted

COLOURS = {"proved": "green", "refuted": "red", "undecided": "yellow"}
SIGNS = {"proved": "✓", "refuted": "✗", "undecided": "?"}


def proof_picture(reports: Sequence[ProofReport]) -> RenderableType:
    """Each process with its verdict, and every finding with the steps that lead to it."""
    parts: list[RenderableType] = []
    for report in reports:
        parts.extend(_report(report))
    return Group(*parts)


def _report(report: ProofReport) -> Iterator[RenderableType]:
    verdict = report.verdict
    colour = COLOURS[verdict.word]
    bound = f" (the bound of {verdict.bound} was reached)" if verdict.bound else ""
    statistics = verdict.statistics
    size = f"{counted(statistics.states, 'state')} in {statistics.seconds:.2f} s"
    yield Text.assemble(
        (f"{SIGNS[verdict.word]} {report.process} is {verdict.word}", f"bold {colour}"), bound, (f"  {size}", "dim")
    )
    if report.verb is None:
        text = "  No verb names this process: its flags were taken from its conditions, and any verb may write them."
        yield Text(text, style="dim")
    for finding in verdict.findings:
        yield from _finding(finding)


def _finding(finding: Finding) -> Iterator[RenderableType]:
    colour = "red" if finding.severity == "error" else "yellow"
    yield Text.assemble((f"{finding.severity} ", f"bold {colour}"), f"{finding.code}: {finding.message()}")
    for number, step in enumerate(finding.steps, 1):
        yield Text.assemble((f"  {number}. ", "dim"), step.sentence())
    yield Text.assemble(("  → ", "cyan"), finding.hint)

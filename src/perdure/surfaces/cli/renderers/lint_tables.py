"""Tables of lint findings in process models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from perdure.app.processes.lint import LintReport
from perdure.bpmn.lint.findings import Finding
from perdure.surfaces.cli.output import counted

_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}


def lint_picture(report: LintReport) -> RenderableType:
    """Every finding under its model, then how many there are of each kind."""
    parts: list[RenderableType] = []
    for finding in report.findings:
        parts.extend(_finding(finding))
    parts.extend(_remarks(report))
    counts = Counter(finding.severity for finding in report.findings)
    if not report.findings:
        text = f"✓ {counted(len(report.models), 'model')}, nothing to say against them."
        return Group(Text(text, style="green"), *parts)
    summary = f"{counted(counts['error'], 'error')}, {counted(counts['warning'], 'warning')}"
    parts.append(Text(f"{summary}, {counted(counts['info'], 'remark')}", style="bold"))
    return Group(*parts)


def _finding(finding: Finding) -> Iterator[RenderableType]:
    where = f"{finding.file}:{finding.line}:{finding.column}" if finding.line else finding.file
    colour = _COLOURS[finding.severity]
    yield Text.assemble(
        (f"{finding.severity} ", f"bold {colour}"), (where, "dim"), f" {finding.code}: {finding.message()}"
    )
    if finding.hint:
        yield Text.assemble(("  → ", "cyan"), finding.hint)


def _remarks(report: LintReport) -> Iterator[RenderableType]:
    bare = [process for process, verb in report.contracts.items() if verb is None]
    if bare:
        text = f"No verb names {', '.join(bare)}: rules about its contract did not run."
        yield Text(text, style="dim")

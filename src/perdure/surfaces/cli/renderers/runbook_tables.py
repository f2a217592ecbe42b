"""Runbooks and plans as pictures for the terminal, also while they run. Data is never read as markup."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from perdure.app.override_views import override_text
from perdure.app.runbooks.usage_views import usage_text
from perdure.app.runbooks.views import PlanDiff, PlanView, RunbookView, StepView, wait_text
from perdure.engine.engine_url import EMBEDDED
from perdure.surfaces.cli import output
from perdure.surfaces.cli.renderers.call_tables import COLOURS, SIGNS, carried_text, state_text, table
from perdure.surfaces.cli.time_text import relative

STEP_SIGNS = {**SIGNS, "pending": "·", "ready": "○", "running": "▶", "skipped": "↷"}
STEP_COLOURS = {**COLOURS, "pending": "dim", "ready": "blue", "running": "blue", "skipped": "dim"}


def runbook_picture(view: RunbookView, detailed: bool = False) -> RenderableType:
    """A runbook: every step on a line, those of a section together, and how far it has come."""
    lines: list[RenderableType] = []
    section = ""
    for step in view.steps:
        if step.section and step.section != section:
            section = step.section
            lines.append(Text(section, style="bold"))
        lines.append(_step_line(step))
        if detailed:
            lines.extend(_details(step))
    title = Text.assemble(state_text(view.state), ("  ", ""), (view.id, "bold"))
    if view.case:
        title.append(f"  case {view.case}", style="dim")
    lines.extend(
        Text(f"override {each.number} {each.state}: {override_text(each)}", style="yellow") for each in view.overrides
    )
    lines.append(Text(view.progress, style="italic"))
    if view.usage is not None:
        lines.append(Text(f"agents used {usage_text(view.usage)}", style="dim"))
    colour = COLOURS.get(view.state, "white")
    return Panel(Group(*lines), title=title, title_align="left", border_style=colour, expand=False, padding=(0, 1))


def _step_line(step: StepView) -> Text:
    state = step.state
    is_stuck = step.waiting_for is not None and step.waiting_for.kind == "incident"
    colour = "red" if is_stuck else STEP_COLOURS.get(state, "")
    indent = "  " * (len(step.branch) + 1)
    line = Text(f"{indent}{STEP_SIGNS.get(state, '●')} ", style=colour)
    line.append(f"{step.number:>2} ", style="dim")
    line.append(step.sentence or f"{step.name} ({step.verb})", style="dim" if state in ("skipped", "pending") else "")
    line.append(f"  {_remark(step)}", style=colour)
    return line


def _remark(step: StepView) -> str:
    if wait := wait_text(step):
        due = step.waiting_for.due_at if step.waiting_for is not None else None
        return f"waiting for {wait}" + (f", due {relative(due)}" if due else "")
    if step.error is not None and step.state == "failed":
        return f"failed: {step.error.message}"
    if step.side is not None:
        return "yes" if step.side else "no"
    return step.state


def _details(step: StepView) -> Iterator[Text]:
    for label, value in (("asked", step.args), ("gave", step.result)):
        if value is not None:
            yield Text(f"        {label}: {output.encode(value)}", style="dim", overflow="ellipsis", no_wrap=True)
    if step.proposal is not None:
        yield Text(f"        proposed: {output.encode(step.proposal.data)}, but {step.proposal.why}", style="dim")
    if step.usage is not None:
        yield Text(f"        its agent used {usage_text(step.usage)}", style="dim")
    if step.waiting_for is not None and step.waiting_for.key:
        yield Text(f"        key: {step.waiting_for.key}", style="dim")
    if step.mode and step.mode != "sync":
        yield Text(f"        carried as: {carried_text(step.mode, step.carrier)}", style="dim")
    if step.task_link:
        yield Text(f"        task list: {step.task_link}", style="dim")


def runbooks_picture(found: Sequence[RunbookView]) -> RenderableType:
    """A list of runbooks."""
    rows = [
        (state_text(each.state), Text(each.id), Text(each.case), Text(each.progress), Text(relative(each.started_at)))
        for each in found
    ]
    return table("Runbooks", ("state", "id", "case", "progress", "started"), rows, "No runbooks.", ("started",))


def plan_picture(view: PlanView) -> RenderableType:
    """What a plan would do: waves of steps in sentences, then what it changes and where it may wait."""
    steps = {step.name: step for step in view.steps}
    lines: list[RenderableType] = []
    for number, wave in enumerate(view.waves, 1):
        lines.append(Text(f"{number}.", style="bold"))
        for name in wave:
            step = steps[name]
            line = Text(f"   {step.sentence or step.name}")
            line.append(f"  {step.name}", style="dim")
            if step.parks:
                line.append(f"  {step.parks}", style="cyan")
            if step.engine not in ("", EMBEDDED):
                line.append(f"  on {step.engine}", style="cyan")
            lines.append(line)
    if view.locks:
        lines.append(Text(f"changes: {', '.join(view.locks)}"))
    lines.extend(Text(f"note: {remark}", style="dim") for remark in view.remarks)
    lines.append(Text(f"consequence: {view.tier.replace('_', ' ')} ({view.tier_reason})"))
    lines.append(Text(view.plan_hash, style="dim"))
    return Group(*lines)


def diff_picture(found: PlanDiff) -> RenderableType:
    """What became of a plan."""
    lines = [Text(f"from record {found.at} to record {found.to}", style="dim")]
    lines.extend(Text(f"+ {name}", style="green") for name in found.added)
    lines.extend(Text(f"+ {step} after {before}", style="green") for step, before in found.edges)
    lines.extend(Text(f"  {name}: {old} → {new}") for name, (old, new) in found.changed.items())
    if len(lines) == 1:
        lines.append(Text("nothing changed"))
    return Group(*lines)


@contextmanager
def live(is_live: bool) -> Iterator[Callable[[Any], None]]:
    """Draws a runbook in place, as often as it is told to; nothing where nobody watches."""
    if not is_live:
        yield lambda view: None
        return
    with Live(console=output.console(), auto_refresh=False, transient=False) as screen:
        yield lambda view: screen.update(runbook_picture(view), refresh=True)

"""The table of agents."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from perdure.app.agent_views import AgentView
from perdure.app.budgets import BudgetView
from perdure.app.runbooks.usage_views import usage_text
from perdure.app.worst_case import ElementCase, WorstCase
from perdure.surfaces.cli.time_text import relative

STYLES = {"open": "red", "half_open": "yellow", "closed": "green"}


def agents_picture(agents: Sequence[AgentView]) -> RenderableType:
    """One row an agent; who closed its breaker by hand stands below its name."""
    table = Table(box=None, pad_edge=False)
    for title in ("agent", "breaker", "failed", "opened", "tried again"):
        table.add_column(title, overflow="fold")
    for each in agents:
        name = Text(each.name, style="bold")
        if each.closed_by:
            name.append(f"\nclosed by {each.closed_by}: {each.reason}", style="dim")
        table.add_row(
            name, Text(each.state, style=STYLES[each.state]), f"{each.failed} of {each.attempts}", str(each.trips),
            relative(each.retry_at) if each.retry_at else "",
        )  # fmt: skip
    return table


def budget_picture(view: BudgetView) -> RenderableType:
    """The bounds, what is used and reserved, and what waits."""
    table = Table(box=None, pad_edge=False, show_header=False)
    bounds = [f"{view.max_tokens:,} tokens" if view.max_tokens is not None else "", view.max_cost or ""]
    who = " (set by hand)" if view.is_set else ""
    rows = [("may use", f"{', '.join(filter(None, bounds)) or 'unbounded'}{who}")]
    rows.append(("has used", usage_text(view.used) if view.used is not None else "nothing"))
    for each in view.reserved:
        parts = [f"{each.tokens:,} tokens" if each.tokens is not None else "", each.cost or ""]
        rows.append(("reserved", f"{', '.join(filter(None, parts))} by {each.place}"))
    rows.extend(("waits", each) for each in view.waiting)
    for label, text in rows:
        table.add_row(Text(label, style="dim"), Text(text))
    return table


def worst_case_picture(view: WorstCase) -> RenderableType:
    """One row a task, and all of them together; why something has no bound stands below."""
    table = Table(box=None, pad_edge=False)
    for title in ("task", "verb"):
        table.add_column(title, overflow="fold")
    for title in ("times", "calls", "tokens", "cost", "writes", "tasks"):
        table.add_column(title, justify="right")
    for each in view.elements:
        table.add_row(each.element, each.verb, *_worst(each, each.times))
    table.add_row(Text("all together", style="bold"), "", *_worst(view, ""))
    reasons = [Text(f"unbounded by {each}", style="yellow") for each in view.reasons]
    return Group(table, *reasons)


def _worst(case: ElementCase | WorstCase, times: int | str | None) -> list[str]:
    numbers = (times, case.calls, case.tokens, case.cost, case.writes, case.tasks)
    return ["unbounded" if each is None else f"{each:,}" if isinstance(each, int) else each for each in numbers]

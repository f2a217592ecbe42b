"""The table of agents."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from perdure.app.agent_views import AgentView
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

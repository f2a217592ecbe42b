"""The table of engines."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from perdure.app.engine_views import EngineView


def engines_picture(engines: Sequence[EngineView]) -> RenderableType:
    """One row an engine; what hinders it stands below its url."""
    table = Table(box=None, pad_edge=False)
    for title in ("engine", "at", "version"):
        table.add_column(title, overflow="fold")
    for title in ("dispatches", "lag", "steps wait"):
        table.add_column(title, justify="right")
    for each in engines:
        reached = Text(each.version or "reachable") if each.reachable else Text("away", style="red")
        place = Text(each.url or ("this store" if each.reachable else ""))
        if chosen := _chosen(each):
            place.append(f"\n{chosen}", style="dim")
        if each.reason:
            place.append(f"\n{each.reason}", style="dim")
        table.add_row(
            each.name, place, reached, str(each.open_dispatches), f"{each.lag_seconds:.0f} s", str(each.waiting_steps)
        )  # fmt: skip
    return table


def _chosen(engine: EngineView) -> str:
    """What settings give to an engine."""
    parts = ["everything else" if engine.is_default else ""]
    parts += [f"process {each}" for each in engine.processes] + [f"tenant {each}" for each in engine.tenants]
    given = ", ".join(each for each in parts if each)
    return f"begins {given}" if given else ""

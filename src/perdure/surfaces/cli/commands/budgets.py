"""Commands about budgets of agents."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import open_store

WorkWord = Annotated[str, typer.Argument(metavar="ID", help="A call, a runbook or an instance.")]
TokensWord = Annotated[int | None, typer.Option("--max-tokens", metavar="N", help="In and out, in all.")]
CostWord = Annotated[str, typer.Option("--max-cost", metavar="AMOUNT", help="In all, such as 0.50.")]


async def show(settings: Settings, id: WorkWord) -> None:
    """Show what all agents of a call, a runbook or an instance may use, have used and have reserved."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        _show(settings, await perdure.budget(id))


async def tighten(settings: Settings, id: WorkWord, max_tokens: TokensWord = None, max_cost: CostWord = "") -> None:
    """Let agents use less; what would be wider than now is refused."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        _show(settings, await perdure.tighten_budget(id, max_tokens=max_tokens, max_cost=max_cost))


async def loosen(
    settings: Settings,
    id: WorkWord,
    max_tokens: TokensWord = None,
    max_cost: CostWord = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the journal.")] = "",
) -> None:
    """Let agents use more, with a reason; what waits for it goes on."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        _show(settings, await perdure.loosen_budget(id, reason=reason, max_tokens=max_tokens, max_cost=max_cost))


def _show(settings: Settings, view: Any) -> None:
    output.show(settings, view, lambda: output.tables("agent_tables").budget_picture(view))


COMMANDS: dict[str, Any] = {"budgets": {"show": show, "tighten": tighten, "loosen": loosen}}

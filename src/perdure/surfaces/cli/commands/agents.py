"""Commands about agents and their circuit breakers."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import open_store

AgentWord = Annotated[str, typer.Argument(metavar="AGENT", help="Such as agent:judge.")]


async def list_agents(settings: Settings) -> None:
    """List agents whose attempts a circuit breaker watches: its state, how many failed, when it is tried again."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.agents()
    output.show(settings, found, lambda: output.tables("agent_tables").agents_picture(found))


async def close(
    settings: Settings,
    agent: AgentWord,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is shown with the agent.")] = "",
) -> None:
    """Close the circuit breaker of an agent by hand: it is asked again at once."""
    async with open_store(settings, "caller", must_exist=True) as perdure:
        closed = await perdure.close_agent(agent, reason=reason)
    output.show(settings, closed, lambda: output.tables("agent_tables").agents_picture([closed]))


COMMANDS: dict[str, Any] = {"agents": {"list": list_agents, "close": close}}

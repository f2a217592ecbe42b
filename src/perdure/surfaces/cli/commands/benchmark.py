"""The command that measures how fast a store works, here and now."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.commands.worker import shown_url
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project
from perdure.surfaces.cli.remote_server import only_on_store

TENANT = "perdure-bench"
VERBS = """
- name: bench.step
  description: Answer at once
  execution: {kind: sync, effects: none}
- name: bench.wait
  description: Wait once
  execution: {kind: durable, policy: {timeout: P1D}}
"""


def bench(
    settings: Settings,
    calls: Annotated[int, typer.Option("--calls", min=64, help="How many calls and signals.")] = 2000,
    together: Annotated[int, typer.Option("--together", min=1, max=1024, help="How many at once.")] = 64,
    full: Annotated[bool, typer.Option("--full", help="Run the repository's comparison with peers instead.")] = False,
) -> None:
    """Measure calls and signals per second on this store, everything durable; what it makes it also ends."""
    if full and Path("bench/__main__.py").exists():
        raise typer.Exit(subprocess.run([sys.executable, "-m", "bench"], check=False).returncode)
    only_on_store(settings, "bench")
    config = load_project(settings)
    told = {"store": shown_url(config.store), **asyncio.run(_measure(config.store, calls, together))}
    output.show(settings, told, lambda: _picture(told))


async def _measure(url: str, calls: int, together: int) -> dict[str, Any]:
    from perdure.app import Perdure
    from perdure.verbs import load_text

    handlers: dict[str, Callable[..., Any]] = {"bench.step": _step}
    opening = Perdure.open(url, definitions=load_text(VERBS), handlers=handlers, tenant=TENANT, role="caller")
    async with opening as perdure:
        keys: list[str] = []

        async def step(number: int) -> None:
            await perdure.call("bench.step", {})

        async def park(number: int) -> None:
            keys.append((await perdure.call("bench.wait", {})).id)

        async def signal(number: int) -> None:
            await perdure.complete(keys[number], {})

        now = perdure.runtime.sources.now
        return {
            "one_at_a_time_per_second": await _rate(now, step, min(calls, 200), 1),
            "calls_per_second": await _rate(now, step, calls, together),
            "parked_per_second": await _rate(now, park, calls, together),
            "signals_per_second": await _rate(now, signal, calls, together),
            "calls": calls,
            "together": together,
        }


async def _step(call: Any) -> dict[str, Any]:
    return {}


async def _rate(now: Callable[[], int], work: Callable[[int], Awaitable[None]], count: int, together: int) -> int:
    async def row(start: int) -> None:
        for number in range(start, count, together):
            await work(number)

    before = now()
    await asyncio.gather(*[row(start) for start in range(together)])
    return round(count * 1_000_000 / max(1, now() - before))


def _picture(told: dict[str, Any]) -> Any:
    from rich.console import Group
    from rich.text import Text

    from perdure.surfaces.cli.renderers.call_tables import table

    names = {
        "one_at_a_time_per_second": "calls, one at a time",
        "calls_per_second": f"calls, {told['together']} at once",
        "parked_per_second": "calls parked",
        "signals_per_second": "signals completed",
    }
    rows = [(Text(words), Text(f"{told[name]:,}", style="bold", justify="right")) for name, words in names.items()]
    place = Text(f"{told['store']}, everything durable", style="dim")
    return Group(table("", ("what", "per second"), rows, ""), place)


COMMANDS = {"bench": bench}

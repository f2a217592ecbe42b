"""The command that shows what Perdure is for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from perdure.surfaces.cli.global_options import Settings


def demo(
    settings: Settings,
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Play it yourself.")] = False,
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="DIR", help="With --interactive: where; kept afterwards.")
    ] = None,
) -> None:
    """Tell the story of a case, unattended, in a folder of its own: owners, waits, kill -9, time, people, proof."""
    words = [*(["--interactive"] if interactive else []), *(["--folder", str(folder)] if folder else [])]
    raise typer.Exit(subprocess.run([sys.executable, "-m", "perdure.demo", *words], check=False).returncode)


COMMANDS = {"demo": demo}

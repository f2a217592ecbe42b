"""Where results go: one JSON value for machines, or something pleasant to read."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer

from perdure.surfaces.cli.exit_codes import INTEGRITY, QUARANTINED
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.root_help import has_colours

if TYPE_CHECKING:
    from rich.console import Console


def encode(value: Any) -> str:
    """A value as one line of JSON."""
    import msgspec

    return msgspec.json.encode(value, enc_hook=str).decode()


@functools.cache
def console() -> Console:
    """Where people read results."""
    from perdure.surfaces.cli.console import make_console

    return make_console()


def tables(name: str) -> Any:
    """A module of renderers, loaded for people only: machines do not wait for it."""
    return import_module(f"perdure.surfaces.cli.renderers.{name}")


def show(settings: Settings, value: Any, picture: Callable[[], Any]) -> None:
    """The value for machines or its picture for people; one that is quarantined ends the command with 9."""
    if settings.json:
        line(value)
    else:
        console().print(picture())
    if getattr(value, "state", "") == QUARANTINED:
        raise typer.Exit(INTEGRITY)


def sentence(text: str) -> None:
    """A short remark in place of a picture, dim on a terminal, without loading what draws pictures."""
    sys.stdout.write(f"\x1b[2m{text}\x1b[0m\n" if has_colours(sys.stdout) else f"{text}\n")


def counted(number: int, thing: str) -> str:
    """`1 seal`, `2 seals`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def line(value: Any) -> None:
    """One JSON value on a line of its own, at once."""
    stdout = sys.__stdout__
    assert stdout is not None
    stdout.buffer.write(encode(value).encode() + b"\n")
    stdout.buffer.flush()


def plain(text: str) -> None:
    """A file on stdout, byte for byte, whatever the terminal's encoding and width."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def warn_in_box(text: str) -> None:
    """A warning nobody overlooks, on stderr for people and machines alike."""
    from rich.console import Console
    from rich.panel import Panel

    Console(stderr=True).print(Panel(text, title="Warning", border_style="yellow", expand=False))


def note(settings: Settings, text: str) -> None:
    """A remark for people only."""
    if not settings.json:
        from rich.text import Text

        console().print(Text(text, style="dim"), soft_wrap=True)

"""The help of `perdure` alone: a page of boxes drawn from the tables of commands and options, without typer or rich."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TextIO

from perdure.surfaces.cli.command_table import COMMANDS
from perdure.surfaces.cli.global_option_table import PANEL, SHARED_OPTIONS

HELP = "Durable verbs: typed work that is never lost, whether it takes a millisecond or nine days."
USAGE = "Usage: perdure [OPTIONS] COMMAND [ARGS]..."
OWN_OPTIONS = (
    ("--version, -V", "Say which release this is."),
    ("--install-completion", "Install completion for the current shell."),
    ("--show-completion", "Show completion for the current shell, to copy it or customize the installation."),
    ("--help, -h", "Show this message and exit."),
)
"""The options of `perdure` itself, as typer names the last three."""
USUAL_WIDTH = 80
NARROWEST = 50
BOLD, CYAN, YELLOW, DIM, PLAIN = "\x1b[1m", "\x1b[1;36m", "\x1b[1;33m", "\x1b[2m", "\x1b[0m"


class Style(NamedTuple):
    """The width of the page, the corners and lines of its boxes, and whether it has colours."""

    width: int
    box: str
    has_colours: bool

    def paint(self, colour: str, text: str) -> str:
        return f"{colour}{text}{PLAIN}" if self.has_colours and text else text


def print_root_help(stream: TextIO | None = None) -> None:
    """Print the page as wide as the terminal; plain where the stream is not one."""
    stream = stream or sys.stdout
    try:
        for line in root_help(style_of(stream)):
            stream.write(f"{line}\n")
        stream.flush()
    except BrokenPipeError:
        # Whoever read the page has enough; nothing more can be flushed to them.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def style_of(stream: TextIO) -> Style:
    """The style that suits a stream: 80 columns where nothing says how wide it is."""
    is_terminal = stream.isatty()
    box = "╭╮╰╯─│" if (stream.encoding or "").lower().startswith("utf") else "++++-|"
    return Style(max(NARROWEST, _columns(stream, is_terminal)), box, has_colours(stream))


def has_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal that shows colours."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _columns(stream: TextIO, is_terminal: bool) -> int:
    if (named := os.environ.get("COLUMNS", "")).isdigit():
        return int(named)
    try:
        return (os.get_terminal_size(stream.fileno()).columns if is_terminal else 0) or USUAL_WIDTH
    except (OSError, ValueError):
        return USUAL_WIDTH


def root_help(style: Style) -> Iterator[str]:
    """The lines of the page."""
    yield ""
    yield " " + style.paint(BOLD, USAGE)
    yield ""
    yield from (f" {line}" for line in _wrapped(HELP, style.width - 2))
    yield ""
    yield from _box("Options", [(name, "", text) for name, text in OWN_OPTIONS], style, _own_width())
    yield from _box(PANEL, [(each.name, each.metavar, each.help) for each in SHARED_OPTIONS], style, _own_width())
    name_width = max(len(each.name) for each in COMMANDS)
    for panel in dict.fromkeys(each.panel for each in COMMANDS):
        rows = [(each.name, "", each.help) for each in COMMANDS if each.panel == panel]
        yield from _box(panel, rows, style, name_width)


def _own_width() -> int:
    return max(len(name) for name, _ in OWN_OPTIONS)


def _box(title: str, rows: Sequence[tuple[str, str, str]], style: Style, name_width: int) -> Iterator[str]:
    """A titled box around rows of a name, its value and its sentence."""
    top_left, top_right, bottom_left, bottom_right, line, side = tuple(style.box)
    edge = style.paint(DIM, side)
    value_width = max(len(value) for _, value, _ in rows)
    left = name_width + 2 + (value_width + 2 if value_width else 0)
    inside = style.width - 4
    yield style.paint(DIM, f"{top_left}{line} {title} ".ljust(style.width - 1, line) + top_right)
    for name, value, text in rows:
        column = value.ljust(value_width) + "  " if value_width else ""
        head = style.paint(CYAN, name) + " " * (name_width + 2 - len(name)) + style.paint(YELLOW, column)
        for words in _wrapped(text, inside - left):
            yield f"{edge} {head}{words.ljust(inside - left)} {edge}"
            head = " " * left
    yield style.paint(DIM, bottom_left + line * (style.width - 2) + bottom_right)


def _wrapped(text: str, width: int) -> Iterator[str]:
    """The text in lines of whole words; a word longer than a line is cut."""
    line = ""
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
        while len(line) > width:
            yield line[:width]
            line = line[width:]
    yield line

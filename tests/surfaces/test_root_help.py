"""The help of `perdure` alone: drawn from tables that say the same as the commands themselves."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from perdure.surfaces.cli import commands
from perdure.surfaces.cli.application import application, outline
from perdure.surfaces.cli.command_table import COMMANDS
from perdure.surfaces.cli.global_option_table import SHARED_OPTIONS
from perdure.surfaces.cli.root_help import OWN_OPTIONS, Style, print_root_help, root_help


def test_the_table_of_commands_says_what_the_commands_say() -> None:
    root: Any = get_command(application())
    said = {each.name: (each.panel, each.help) for each in COMMANDS}
    helps = {name: each.help.split("\n\n")[0].replace("\n", " ") for name, each in root.commands.items()}
    assert said == {name: (each.rich_help_panel, helps[name]) for name, each in root.commands.items()}
    named: Any = get_command(outline())
    assert sorted(named.commands) == sorted(root.commands)


def test_a_command_is_found_in_the_module_that_the_table_names() -> None:
    for each in COMMANDS:
        alone: Any = get_command(application([each.name]))
        assert list(alone.commands) == [each.name]


def test_every_module_of_commands_is_in_the_table() -> None:
    modules = {f"commands.{path.stem}" for path in Path(commands.__path__[0]).glob("*.py")} - {"commands.__init__"}
    assert {each.module for each in COMMANDS} == modules


def test_the_page_names_every_option_of_the_application() -> None:
    root: Any = get_command(application())
    said = {", ".join(each.opts): each.help for each in root.params}
    told = {**dict(OWN_OPTIONS[:-1]), **{each.name: each.help for each in SHARED_OPTIONS}}
    assert {name: text.rstrip(".") for name, text in told.items()} == {
        name: text.rstrip(".") for name, text in said.items()
    }


@pytest.mark.parametrize("width", [50, 80, 200])
def test_no_line_is_wider_than_the_page_and_no_word_is_lost(width: int) -> None:
    lines = list(root_help(Style(width, "╭╮╰╯─│", False)))
    assert max(map(len, lines)) == width
    words = " ".join(lines).replace("│", " ").split()
    for each in COMMANDS:
        assert each.name in words
    assert lines.count(f"╰{'─' * (width - 2)}╯") == 2 + len({each.panel for each in COMMANDS})


def test_colours_are_for_terminals_and_lines_for_those_that_can_draw_them() -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    plain, coloured = io.TextIOWrapper(io.BytesIO(), "ascii", "replace"), Terminal(io.BytesIO(), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERM", "xterm")
        patch.delenv("NO_COLOR", raising=False)
        for stream in (plain, coloured):
            print_root_help(stream)
            stream.flush()
    pages = [stream.buffer.getvalue().decode(stream.encoding) for stream in (plain, coloured)]  # type: ignore[attr-defined]
    assert "\x1b" not in pages[0]
    assert "+- Calls -" in pages[0]
    assert "\x1b[1;36mparked\x1b[0m" in pages[1]


def test_whoever_has_read_enough_of_the_page_is_told_of_no_fault() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as closed:
        print_root_help(closed)

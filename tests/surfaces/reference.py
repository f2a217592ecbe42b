"""Writes the generated part of `docs/reference/cli.md` from what the commands say of themselves."""

from __future__ import annotations

from typing import Any

import typer

from perdure.surfaces.cli.application import application
from perdure.surfaces.cli.global_options import GLOBAL
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "cli.md"
MARK = "<!-- generated: python -m tests.surfaces.reference -->\n"
HIDDEN = {"help", "install_completion", "show_completion", *GLOBAL}


def reference() -> str:
    """Every command with its words and options."""
    root: Any = typer.main.get_command(application())
    parts = ["## Options of every command\n", _options(root, only=set(GLOBAL))]
    for path, command in _commands("perdure", root):
        parts.append(f"## `{path}`\n")
        parts.append(command.help.replace("\n\n", "\n").replace("\n", " ").strip() + "\n")
        parts.append(_usage(path, command))
        if options := _options(command):
            parts.append(options)
    return "\n".join(parts)


def _commands(path: str, command: Any) -> list[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        return [(path, command)]
    return [found for name, child in command.commands.items() for found in _commands(f"{path} {name}", child)]


def _usage(path: str, command: Any) -> str:
    words = [param.metavar or param.name.upper() for param in command.params if param.param_type_name == "argument"]
    options = ["[OPTIONS]"] if any(True for _ in _listed(command)) else []
    return f"```text\n{' '.join([path, *words, *options])}\n```\n"


def _listed(command: Any) -> list[Any]:
    return [each for each in command.params if each.param_type_name == "option" and each.name not in HIDDEN]


def _options(command: Any, only: set[str] | None = None) -> str:
    listed = [each for each in command.params if each.name in only] if only else _listed(command)
    if not listed:
        return ""
    rows = ["| option | meaning |", "|---|---|"]
    for each in listed:
        value = f" {each.metavar}" if each.metavar else "" if each.is_flag else f" {each.type.name.upper()}"
        rows.append(f"| `{', '.join(reversed(each.opts))}{value}` | {each.help} |".replace("|DIR|", "DIR"))
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    before = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(before + MARK + "\n" + reference(), encoding="utf-8")

"""The command that writes runbook programs again in one layout: fmt."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.exit_codes import FAILED
from perdure.surfaces.cli.global_options import Settings

if TYPE_CHECKING:
    from perdure.runbooks.language.program_reader import Form

SUFFIXES = (".runbook", ".let", ".lisp")


def fmt(
    settings: Settings,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH…", help="Programs, folders of them, or - for stdin.", show_default=False),
    ],
    check: Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 when something would change.")] = False,
    to: Annotated[str | None, typer.Option("--to", metavar="FORM", help="Write it as lisp or let.")] = None,
) -> None:
    """Write runbook programs again in their settled layout, comments kept. What is settled is left alone."""
    form = _form(to)
    if paths == ["-"]:
        _stream(check, form)
        return
    changed = _written([path for word in paths for path in _files(word)], check, form)
    if settings.json:
        output.line({"changed": changed})
    else:
        _tell(changed, check)
    if check and changed:
        raise typer.Exit(FAILED)


def _stream(check: bool, form: Form | None) -> None:
    text = sys.stdin.read()
    formatted = _formatted(text, "<stdin>", form)
    if not check:
        output.plain(formatted)
    elif formatted != text:
        raise typer.Exit(FAILED)


def _written(files: list[Path], check: bool, form: Form | None) -> list[str]:
    """The files that changed, or would; all of them are read before any is written."""
    texts = {file: _text(file) for file in dict.fromkeys(files)}
    formatted = {file: _formatted(text, str(file), form) for file, text in texts.items()}
    changed = [file for file, text in texts.items() if formatted[file] != text]
    if not check:
        for file in changed:
            file.write_text(formatted[file], encoding="utf-8", newline="")
    return [str(file) for file in changed]


def _formatted(text: str, file: str, form: Form | None) -> str:
    from perdure.runbooks.language.formatter import format_program

    return format_program(text, to=form, file=file)


def _files(word: str) -> list[Path]:
    path = Path(word)
    if path.is_dir():
        return sorted(found for found in path.rglob("*") if found.suffix in SUFFIXES and found.is_file())
    if not path.is_file():
        raise usage("format", "program", word, "there is no such file or folder", "Give a file, a folder, or -.")
    return [path]


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        fact = f"it is not UTF-8 (byte {error.start})"
        raise usage("format", "program", str(file), fact, "Save it as UTF-8.") from None


def _form(word: str | None) -> Form | None:
    match word:
        case None | "lisp" | "let":
            return word
        case _:
            raise usage("format as", "form", word, "there is no such form", "Forms: lisp, let.")


def _tell(changed: list[str], check: bool) -> None:
    from rich.text import Text

    console = output.console()
    for file in changed:
        console.print(Text(f"{'would change' if check else 'changed'} {file}"), soft_wrap=True)
    if not changed:
        console.print(Text("nothing to change", style="green"))


COMMANDS = {"fmt": fmt}

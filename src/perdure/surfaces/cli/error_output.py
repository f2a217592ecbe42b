"""How a command ends that could not do what was asked: one sentence, a hint, the right exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

import typer

from perdure.surfaces.cli.exit_codes import INTERNAL, INTERRUPTED, INVALID, exit_code
from perdure.surfaces.cli.global_options import Settings

DEBUG = "PERDURE_DEBUG"


@contextlib.contextmanager
def ending(settings: Settings) -> Iterator[None]:
    """Turns every error into words on stderr and an exit code."""
    from perdure.errors import InvariantBroken, PerdureError

    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Whoever read the output has enough; nothing more can be flushed to them.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        if isinstance(error, PerdureError) and not isinstance(error, InvariantBroken):
            show_error(settings.json, describe(error))
        else:
            show_error(settings.json, _internal(error))
        raise typer.Exit(exit_code(error)) from error


def usage(do: str, thing: str, id: str, fact: str, hint: str = "") -> Exception:
    """A mistake in the command itself."""
    from perdure.errors import RejectedError, Rejection

    return RejectedError(Rejection("invalid", do, thing, id, fact, hint))


def describe(error: Any) -> dict[str, Any]:
    """An error as plain values: at least code, message and hint."""
    from perdure.errors import DefinitionError, RejectedError

    code = f"rejected.{error.rejection.code}" if isinstance(error, RejectedError) else error.code
    told: dict[str, Any] = {"code": code, "message": str(error), "hint": error.hint, "exit_code": exit_code(error)}
    if isinstance(error, DefinitionError):
        import msgspec

        told["problems"] = msgspec.to_builtins(error.problems)
        if text := error.data.get("text"):  # a program: each problem is shown at its line
            from perdure.verbs.sexpr.mistakes import render, source_lines

            lines = source_lines(text)
            told["message"] = "\n".join(render(problem, lines) for problem in error.problems)
    if "violations" in error.data:
        told["violations"] = error.data["violations"]
    return told


def _internal(error: Exception) -> dict[str, Any]:
    code = getattr(error, "code", "perdure.internal")
    message = f"{type(error).__name__}: {error}"
    hint = f"This should not happen. Set {DEBUG}=1 and run it again to see where it comes from."
    return {"code": str(code), "message": message, "hint": hint, "exit_code": INTERNAL}


def usage_error(as_json: bool, message: str) -> int:
    """A line that could not be understood as a command; only asked for when it is to be told as JSON."""
    hint = "See `perdure --help`."
    show_error(as_json, {"code": "cli.usage", "message": message, "hint": hint, "exit_code": INVALID})
    return INVALID


def show_error(as_json: bool, told: dict[str, Any]) -> None:
    """Say it on stderr: one JSON object, or words."""
    if as_json:
        from perdure.surfaces.cli.output import encode

        sys.stderr.write(encode({"error": told}) + "\n")
        return
    from rich.text import Text

    from perdure.surfaces.cli.console import make_console

    console = make_console(is_error=True)
    hint = told.get("hint", "")
    sentence = told["message"]
    lines = (sentence.removesuffix(f" {hint}") if hint and "problems" not in told else sentence).splitlines()
    console.print(Text.assemble(("✗ ", "bold red"), Text("\n").join(Text(line) for line in lines)), soft_wrap=True)
    if hint and "problems" not in told:
        console.print(Text.assemble(("  → ", "bold cyan"), hint), soft_wrap=True)

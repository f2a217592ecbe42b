"""The language of runbooks: two forms of one program, compiled to a plan, shown before it runs, written again."""

from __future__ import annotations

from perdure.errors import ProgramError
from perdure.runbooks.language.code_completion import Candidate, complete
from perdure.runbooks.language.compiler import compile_calls, compile_program
from perdure.runbooks.language.dry_run import DryRun, Edge, dry_run
from perdure.runbooks.language.formatter import format_program, write_program
from perdure.runbooks.language.json_calls import calls_from_json
from perdure.runbooks.language.program import CallSource, Program, Ref, Var
from perdure.runbooks.language.program_reader import form_of, read_program

__all__ = [
    "CallSource",
    "Candidate",
    "DryRun",
    "Edge",
    "Program",
    "ProgramError",
    "Ref",
    "Var",
    "calls_from_json",
    "compile_calls",
    "compile_program",
    "complete",
    "dry_run",
    "form_of",
    "format_program",
    "read_program",
    "write_program",
]

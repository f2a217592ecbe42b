"""Programs written again in the one way that is agreed on, in their own form or in the other."""

from __future__ import annotations

import msgspec

from perdure.errors import DefinitionError
from perdure.runbooks.language.faults import Fault, refused
from perdure.runbooks.language.let.unnested_calls import unnested
from perdure.runbooks.language.let.writer import write_let
from perdure.runbooks.language.program import CallForm, Program
from perdure.runbooks.language.program_reader import AnyForm, Form, form_of, read_program
from perdure.verbs.sexpr.forms import Program as Forms
from perdure.verbs.sexpr.mistakes import refuse
from perdure.verbs.sexpr.writer import write as write_forms


def format_program(text: str, *, form: AnyForm = "auto", to: Form | None = None, file: str = "<input>") -> str:
    """The text in its settled layout, comments kept; doing it again changes nothing.

    Raises ProgramError when it cannot be read, or when the form asked for cannot say it.
    """
    own = form_of(text, file) if form == "auto" else form
    program = read_program(text, own, file=file)
    try:
        return write_program(program, to or own)
    except DefinitionError as error:
        problems = [msgspec.structs.replace(problem, file=file) for problem in error.problems]
        raise refused(problems, text) from None


def write_program(program: Program, form: Form) -> str:
    """The text of a program in one of the forms; DefinitionError when that form has no words for it."""
    return write_let(unnested(program)) if form == "let" else write_forms(_forms(program))


def _forms(program: Program) -> Forms:
    for statement in program.statements:
        if not isinstance(statement, CallForm):
            hint = "Leave the program in the LET form."
            reason = "a choice cannot be written as an S-expression"
            raise refuse(Fault.NOT_IN_THIS_FORM, "<program>", statement.span, reason, hint)
    statements = tuple(statement for statement in program.statements if isinstance(statement, CallForm))
    return Forms(statements, program.comments)

"""The language of runbooks: two forms of one program, compiled to a plan, shown before it runs, written again."""

from __future__ import annotations

from perdure.runbooks.language.compiler import compile_calls as compile_calls
from perdure.runbooks.language.compiler import compile_program as compile_program
from perdure.runbooks.language.dry_run import dry_run as dry_run
from perdure.runbooks.language.program import CallSource as CallSource
from perdure.runbooks.language.program import Ref as Ref

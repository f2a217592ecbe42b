"""How each form writes what a message advises."""

from __future__ import annotations

from typing import Literal

import msgspec

from perdure.verbs.sexpr.mistakes import shown


class Style(msgspec.Struct, frozen=True):
    """The way of one form; calls given as JSON are advised as in the LET form."""

    form: Literal["lisp", "let"] = "let"

    def argument(self, name: str) -> str:
        return f":{name.replace('_', '-')} value" if self.form == "lisp" else f"{name}: value"

    def result(self, name: str) -> str:
        return f"@{shown(name)}" if self.form == "lisp" else f"'{shown(name)}'"

    def undefined(self, name: str) -> str:
        if self.form == "lisp":
            return f"Bind it with ':as @{shown(name)}' on the call whose result it is."
        return f"Bind it with 'LET {shown(name)} = EXEC …', or put text in double quotes: \"{shown(name)}\"."

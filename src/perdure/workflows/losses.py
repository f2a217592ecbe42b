"""Losses: what one form of a workflow cannot say, named while it is written in that form."""

from __future__ import annotations

from typing import Any

from perdure.workflows.code import code_name
from perdure.workflows.nodes import Node

UNNAMED = "name_me"
"""What stands where a name would have to stand."""


class Losses:
    """Filled while a form is written; empty when it says everything."""

    def __init__(self, form: str) -> None:
        self.form = form
        self.found: list[str] = []

    def add(self, where: str, what: str, hint: str = "") -> None:
        self.found.append(f"{where}: {self.form} cannot say {what}.{f' {hint}' if hint else ''}")

    def name(self, node: Node, what: str, code: Any) -> str:
        """The name of code; a lambda has none, and is told."""
        name = code_name(code)
        if not name:
            self.add(node.id, f"{what}, which has no name", "Write a function with 'def' and name it.")
        return name or UNNAMED

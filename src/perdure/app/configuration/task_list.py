"""The key `task_list`: the address of a human task in a task list elsewhere, with places for what names the task."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from perdure.verbs.mapping_reader import Fields

PLACES = ("key", "instance", "process", "element", "tenant")
PLACE = re.compile(r"\{([^{}]*)\}")
HINT = f"Write an address such as https://tasks.example.org/{{key}}; it may name {', '.join(PLACES)}."


def read_task_list(fields: Fields) -> str:
    """The template as it is written; problems go to the report."""
    template = fields.text("task_list")
    if template and (fault := template_fault(template)):
        fields.wrong(fields.get("task_list"), "task_list", fault, HINT)
    return template


def template_fault(template: str) -> str:
    """Why a text is no template of links; empty when it is one."""
    parts = urlsplit(PLACE.sub("x", template))
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return f"'{template}' is no address of http or https"
    unknown = next((name for name in PLACE.findall(template) if name not in PLACES), None)
    return f"a task has no '{unknown}'" if unknown is not None else ""

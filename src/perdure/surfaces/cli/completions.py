"""What the shell offers while a line is typed."""

from __future__ import annotations

import typer


def verb_names(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Verbs of the project that begin so; also inside an expression."""
    from perdure.errors import PerdureError
    from perdure.surfaces.cli.options import settings_of
    from perdure.surfaces.cli.project import load_project, load_verbs

    opening = "(" if incomplete.startswith("(") else ""
    try:
        catalogue = load_verbs(load_project(settings_of(context)))
    except PerdureError:
        return []
    found = [(f"{opening}{verb.name}", verb.definition.description) for verb in catalogue]
    return [each for each in found if each[0].startswith(incomplete)]

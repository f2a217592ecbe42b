"""Definitions of a platform: verbs and models from files, or given as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perdure.app.processes.project_models import ProjectModels, default_places
from perdure.lifecycles.guards import GuardTable
from perdure.lifecycles.lifecycle_reader import LifecycleFile
from perdure.lifecycles.loader import default_places as lifecycle_places
from perdure.lifecycles.loader import load_lifecycles
from perdure.verbs import Catalogue, definition_places, load_catalogue


def load_models(
    definitions: Sequence[str | Path] | str | Path | Catalogue, models: Sequence[str | Path] | None
) -> ProjectModels:
    """The model files named, or those beside the definitions."""
    if models is not None:
        return ProjectModels.load(models)
    if isinstance(definitions, Catalogue):
        return ProjectModels([])
    places = [definitions] if isinstance(definitions, str | Path) else definitions
    return ProjectModels.load(default_places(places))


def load_project_lifecycles(
    definitions: Sequence[str | Path] | str | Path | Catalogue,
    lifecycles: Sequence[str | Path] | None,
    table: GuardTable | None = None,
) -> list[LifecycleFile]:
    """The lifecycle files named, or those beside the definitions, read with the guards of the table."""
    if lifecycles is not None:
        return load_lifecycles(lifecycles, table)
    if isinstance(definitions, Catalogue):
        return []
    places = [definitions] if isinstance(definitions, str | Path) else definitions
    return load_lifecycles(lifecycle_places(places), table)


def load_definitions(
    definitions: Sequence[str | Path] | str | Path | Catalogue,
    environment: str | Path | Mapping[str, Any] | None,
    documents: Sequence[str | Path] | None = None,
) -> Catalogue:
    """The catalogue given, which has its document types; else that of all files."""
    if isinstance(definitions, Catalogue):
        return definitions
    places = [definitions] if isinstance(definitions, str | Path) else list(definitions)
    overrides = Path(environment) if isinstance(environment, str) else environment
    return load_catalogue(definition_places(places, documents), overrides)

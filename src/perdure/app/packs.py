"""The packs of a project: where they are and how they load."""

from __future__ import annotations

from pathlib import Path

from perdure.app.config import Config
from perdure.packs.loader import Shelf, load_packs

FOLDER = "packs"


def pack_places(config: Config) -> list[Path]:
    """As the configuration says, else the folders `packs` beside the definitions or beside the configuration."""
    if config.packs is not None:
        return list(config.packs)
    beside = [Path(each).parent / FOLDER for each in config.definitions] + [config.folder / FOLDER]
    return [place for place in dict.fromkeys(beside) if place.is_dir()]


def project_packs(config: Config) -> Shelf:
    """Every pack of the project, or DefinitionError with every problem in them."""
    return load_packs(pack_places(config))

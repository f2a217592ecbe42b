"""The packs of a project: where they are, how they load, and what surfaces show of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.app.configuration.project import Config

if TYPE_CHECKING:
    from perdure.packs.definition import Pack
    from perdure.packs.loader import Shelf

FOLDER = "packs"


class PackRow(msgspec.Struct, frozen=True):
    """A pack on one line; `templates` are their ids."""

    id: str
    name: str
    version: str
    description: str
    questions: int
    templates: list[str]


class PackOperations:
    """The packs of a project, loaded when they are first asked for. Reached as `perdure.packs`."""

    def __init__(self, places: Sequence[Path] = ()) -> None:
        self._places = tuple(places)
        self._shelf: Shelf | None = None

    @property
    def shelf(self) -> Shelf:
        """Every pack, or DefinitionError with every problem in them."""
        if self._shelf is None:
            from perdure.packs.loader import load_packs  # noqa: PLC0415  only who asks for packs needs it

            self._shelf = load_packs(self._places)
        return self._shelf

    def list(self) -> list[PackRow]:
        return [brief(pack) for pack in self.shelf]

    def get(self, id: str) -> dict[str, Any]:
        """Everything a pack says; where it stands on this machine is nobody's business."""
        told = whole(self.shelf.get(id))
        del told["file"]
        return told


def brief(pack: Pack) -> PackRow:
    """A pack on one line."""
    templates = [each.template_id for each in pack.templates]
    return PackRow(pack.id, pack.name, pack.version, pack.description, len(pack.questions), templates)


def whole(pack: Pack) -> dict[str, Any]:
    """Everything a pack says, conditions as they were written."""
    told: dict[str, Any] = _written(msgspec.to_builtins(pack))
    del told["lines"]
    for template, made in zip(pack.templates, told["templates"], strict=True):
        made["hash"] = template.content_hash
    return told


def _written(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"text", "condition"}:
            return value["text"]
        return {key: _written(each) for key, each in value.items()}
    return [_written(each) for each in value] if isinstance(value, list | tuple) else value


def pack_places(config: Config) -> list[Path]:
    """As the configuration says, else the folders `packs` beside the definitions or beside the configuration."""
    if config.packs is not None:
        return list(config.packs)
    beside = [Path(each).parent / FOLDER for each in config.definitions] + [config.folder / FOLDER]
    return [place for place in dict.fromkeys(beside) if place.is_dir()]


def project_packs(config: Config) -> Shelf:
    """Every pack of the project, or DefinitionError with every problem in them."""
    from perdure.packs.loader import load_packs  # noqa: PLC0415  only who asks for packs needs it

    return load_packs(pack_places(config))

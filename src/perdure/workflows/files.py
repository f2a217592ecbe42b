"""Files with workflows: Python modules and YAML, found in the folders that a project names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from perdure.errors import DefinitionError, Problem
from perdure.workflows.registry import WorkflowRegistry
from perdure.workflows.workflow import Workflow

MAX_FILES = 1000
PYTHON, YAML = (".py",), (".yaml", ".yml")


def load_workflows(given: Iterable[Any]) -> list[Workflow]:
    """Every workflow given: itself, in a registry, in a file, or in the files of a folder."""
    found: dict[int, Workflow] = {}
    for each in given:
        for workflow in _of(each):
            found[id(workflow)] = workflow
    return list(found.values())


def _of(given: Any) -> Iterator[Workflow]:
    if isinstance(given, Workflow):
        yield given
    elif isinstance(given, WorkflowRegistry):
        yield from given
    elif isinstance(given, str | Path):
        yield from workflows_in(Path(given))
    elif isinstance(given, ModuleType):
        yield from _declared_in(given)
    else:
        reason = f"{given!r} is no workflow"
        raise DefinitionError([Problem("workflow.given", "<python>", 1, 1, "workflows", reason, "Give a Workflow.")])


def workflows_in(place: Path) -> list[Workflow]:
    """The workflows of a file, or of every file of a folder."""
    if place.is_dir():
        files = [each for each in sorted(place.rglob("*")) if each.suffix in (*PYTHON, *YAML) and each.is_file()]
        return [workflow for file in files[:MAX_FILES] for workflow in _in_file(file, place, is_named=False)]
    return _in_file(place, place.parent, is_named=True)


def _in_file(file: Path, folder: Path, *, is_named: bool) -> list[Workflow]:
    if not file.is_file():
        raise _unreadable(file, "there is no such file")
    if file.suffix in YAML:
        from perdure.workflows.yaml_reader import read_workflow_file  # noqa: PLC0415

        return read_workflow_file(file, folder, is_named=is_named)
    return list(_declared_in(imported(file, folder)))


def imported(file: Path, folder: Path) -> ModuleType:
    """A file of a folder as a module of the folder's name: `workflows/review.py` is `workflows.review`."""
    parts = file.resolve().relative_to(folder.resolve()).with_suffix("").parts
    name = ".".join((folder.resolve().name, *parts)).removesuffix(".__init__")
    above = str(folder.resolve().parent)
    if above not in sys.path:
        sys.path.insert(0, above)
    known = sys.modules.get(name)
    if known is not None and _file_of(known) != file.resolve():
        _forget(folder.resolve().name)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except DefinitionError:
        raise
    except Exception as error:  # a user's module may raise anything while it is imported
        raise _unreadable(file, f"it cannot be imported: {type(error).__name__}: {error}"[:500]) from error


def _file_of(module: ModuleType) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None


def _forget(package: str) -> None:
    """Another folder of that name was imported before: its modules make room."""
    for name in [each for each in sys.modules if each == package or each.startswith(f"{package}.")]:
        del sys.modules[name]


def _declared_in(module: ModuleType) -> Sequence[Workflow]:
    found: dict[int, Workflow] = {}
    for value in vars(module).values():
        if isinstance(value, Workflow):
            found[id(value)] = value
        if isinstance(value, WorkflowRegistry):
            found.update({id(each): each for each in value})
    return list(found.values())


def _unreadable(file: Path, reason: str) -> DefinitionError:
    return DefinitionError([Problem("workflow.unreadable", str(file), 1, 1, "", reason)])

"""Names of code in files: found in the modules of the folders that a project names, or kept as names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from perdure.verbs.near_names import did_you_mean
from perdure.workflows.code import Named
from perdure.workflows.files import imported

Resolve = Callable[[str], Any]


class UnknownName(Exception):
    """A name that no module of the folder has; `hint` says what was meant."""

    def __init__(self, name: str, fact: str, hint: str = "") -> None:
        super().__init__(f"'{name}' {fact}")
        self.hint = hint


class FolderNames:
    """Code of one folder by `module:name`, or by its name alone where one module has it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._modules: dict[str, ModuleType] | None = None

    def __call__(self, name: str) -> Any:
        module, _, wanted = name.rpartition(":")
        modules = self._loaded()
        if module and module not in modules:
            raise UnknownName(name, f"is outside the folder '{self._folder.name}'", did_you_mean(module, modules))
        places = [modules[module]] if module else list(modules.values())
        found = {id(value): value for each in places if (value := _attribute(each, wanted)) is not None}
        if len(found) == 1:
            return next(iter(found.values()))
        if not found:
            known = {key for each in places for key in vars(each) if not key.startswith("_")}
            hint = did_you_mean(wanted, known) or f"Write it in a module of the folder '{self._folder.name}'."
            raise UnknownName(name, f"is in no module of the folder '{self._folder.name}'", hint)
        raise UnknownName(name, "is in several modules", f"Write {next(iter(modules))}:{wanted}, or another module.")

    def _loaded(self) -> dict[str, ModuleType]:
        if self._modules is None:
            files = sorted(each for each in self._folder.rglob("*.py") if each.is_file())
            found = [imported(file, self._folder) for file in files]
            self._modules = {each.__name__: each for each in found}
        return self._modules


def _attribute(module: ModuleType, dotted: str) -> Any:
    found: Any = module
    for part in dotted.split("."):
        found = getattr(found, part, None)
    return found


def kept(name: str) -> Any:
    """The name itself, for a workflow that is read and not run."""
    return Named(name)

"""Models of a project: read from its files, deployed when they changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from perdure.bpmn.contract.policies import PolicyCatalogue
from perdure.bpmn.model import CallActivity, Model, Process, nodes
from perdure.engine import Deployment, Engine
from perdure.errors import DefinitionError, ModelError, Problem
from perdure.journal import Origin
from perdure.verbs import Catalogue

SUFFIXES = (".bpmn", ".bpmn2", ".bpmn20.xml")
FOLDER = "models"
POLICIES = "policies.yaml"


def default_places(definitions: Iterable[str | Path]) -> list[Path]:
    """The folders `models` beside the verbs, where there are any."""
    found: dict[Path, None] = {}
    for definition in map(Path, definitions):
        for folder in (definition if definition.is_dir() else definition.parent, definition.parent):
            if (folder / FOLDER).is_dir():
                found[folder / FOLDER] = None
    return list(found)


def model_files(places: Iterable[str | Path]) -> list[Path]:
    """Model files named, or found in the folders named, in the order of their names."""
    files: dict[Path, None] = {}
    for place in map(Path, places):
        listed = sorted(place.rglob("*")) if place.is_dir() else [place]
        files.update({file: None for file in listed if not place.is_dir() or (is_model_file(file) and file.is_file())})
    return list(files)


def is_model_file(path: Path) -> bool:
    """Whether a file found in a folder is taken for a model, by its name."""
    return path.name.lower().endswith(SUFFIXES)


def load_model(path: Path) -> Model:
    from perdure.bpmn.xml import read_model_file  # noqa: PLC0415  only who brings models needs it

    try:
        return read_model_file(path)
    except OSError as error:
        raise unreadable(path, error) from error


def read_model_text(path: str | Path) -> str:
    """The text of a model file in any encoding that models are read in; DefinitionError where it cannot be read."""
    from perdure.bpmn.xml.parser import text_of  # noqa: PLC0415  only who brings models needs it

    try:
        return text_of(Path(path).read_bytes())
    except UnicodeDecodeError as error:
        fact = "it is not in UTF-8, and names no other encoding that is read"
        raise unreadable(path, fact, "Save it as UTF-8.") from error
    except OSError as error:
        raise unreadable(path, error) from error


def policies_beside(path: Path) -> PolicyCatalogue | None:
    """The policies that stand beside a model in `policies.yaml`; None when there are none."""
    file = path.parent / POLICIES
    return policies_of(file) if file.is_file() else None


def policies_text(model: Path, given: str | Path | None = None) -> str:
    """Policies as they are written: those given, else those beside a model; empty when there are none."""
    file = Path(given) if given is not None else model.parent / POLICIES
    return file.read_text(encoding="utf-8") if given is not None or file.is_file() else ""


def policies_of(file: Path) -> PolicyCatalogue:
    """The policies of a file."""
    from perdure.processes.policy_file import load_policies  # noqa: PLC0415  the contract profile alone

    return load_policies(file)


def policies_in(text: str, file: str = POLICIES) -> PolicyCatalogue | None:
    """The policies of a text that came over a wire; None of an empty one."""
    from perdure.processes.policy_file import parse_policies  # noqa: PLC0415  the contract profile alone

    return parse_policies(text, file) if text else None


def called_first(files: Sequence[Path]) -> list[Path]:
    """The same files, each after those whose processes it calls; among others, and where calls go round, as given."""
    homes: dict[str, Path] = {}
    calls: dict[Path, dict[str, None]] = {}
    for path in files:
        processes = _executable(path) if len(files) > 1 else ()
        homes.update({each.id: path for each in processes})
        calls[path] = {
            node.process: None for each in processes for node in nodes(each.body) if isinstance(node, CallActivity)
        }
    ordered: dict[Path, None] = {}
    for path in files:
        _put(path, homes, calls, ordered)
    return list(ordered)


def _put(path: Path, homes: dict[str, Path], calls: dict[Path, dict[str, None]], ordered: dict[Path, None]) -> None:
    seen = {path, *ordered}
    open_files = [(path, iter(calls[path]))]
    while open_files:
        current, called = open_files[-1]
        following = next((homes[each] for each in called if each in homes and homes[each] not in seen), None)
        if following is None:
            ordered.setdefault(current)
            open_files.pop()
        else:
            seen.add(following)
            open_files.append((following, iter(calls[following])))


def _executable(path: Path) -> Sequence[Process]:
    try:
        return load_model(path).definitions.executable()
    except (DefinitionError, ModelError):
        return ()  # whoever takes it says what is wrong with it


def unreadable(path: str | Path, why: Exception | str, hint: str = "") -> DefinitionError:
    """What is said of a file that could not be read at all."""
    if isinstance(why, FileNotFoundError):
        why = "there is no such file"
    elif isinstance(why, IsADirectoryError):
        why = "it is a folder"
    return DefinitionError([Problem("model.unreadable", str(path), 1, 1, "", str(why), hint)])


class ProjectModels:
    """The processes a project brings along, by their ids."""

    def __init__(self, models: Sequence[Model]) -> None:
        self._models: dict[str, Model] = {}
        for model in models:
            for process in model.definitions.executable():
                self._models[process.id] = model

    @classmethod
    def load(cls, places: Iterable[str | Path]) -> ProjectModels:
        return cls([load_model(path) for path in model_files(places)])

    async def deploy(self, engine: Engine, origin: Origin, catalogue: Catalogue) -> list[Deployment]:
        """Every process in the profile that it says itself, each anew only when it changed."""
        return [await self._deployed(engine, origin, id, catalogue) for id in self._models]

    async def _deployed(self, engine: Engine, origin: Origin, id: str, catalogue: Catalogue) -> Deployment:
        from perdure.app.processes import contract_binding  # noqa: PLC0415  only who brings models needs it

        model = self._models[id]
        profile = contract_binding.profile_of(model, id)
        policies = contract_binding.own_policies(model) if profile == "contract" else None
        deployed = contract_binding.bound_contract(model, id, profile, policies, catalogue)
        return await engine.deploy(model, origin, process=id, profile=profile, deployed=deployed)

    def finder(self, engine: Engine, catalogue: Catalogue) -> Callable[[str, Origin], Awaitable[None]]:
        """Deploys a process for a tenant that calls for it first."""

        async def find(process: str, origin: Origin) -> None:
            if process in self._models:
                await self._deployed(engine, origin, process, catalogue)

        return find

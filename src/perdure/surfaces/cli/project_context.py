"""The project of a command: its configuration, its verbs and its store."""

from __future__ import annotations

import getpass
import os
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.remote_server import open_server, server_of
from perdure.surfaces.cli.time_text import clock

if TYPE_CHECKING:
    from perdure.app import Config, Perdure
    from perdure.app.runtime import Role
    from perdure.verbs import Catalogue

STORE = "PERDURE_STORE"
PRINCIPAL = "PERDURE_PRINCIPAL"
GROUPS = "PERDURE_GROUPS"
PYTHON = ".py"


def load_project(settings: Settings) -> Config:
    """`perdure.yaml` here or where `--config` says, changed by the options; works without one, too."""
    import msgspec

    from perdure.app.configuration.project import CONFIG_NAME, DEFAULT_STORE, Config, absolute_store, load_config

    here = Path.cwd()
    file = Path(settings.config) if settings.config else here / CONFIG_NAME
    if settings.config or file.exists():
        config = load_config(file)
    else:
        config = Config(store=absolute_store(DEFAULT_STORE, here), folder=here)
    changes: dict[str, Any] = {}
    if url := settings.store or os.environ.get(STORE):
        changes["store"] = absolute_store(url, here)
    if settings.definitions:
        named = [here / each for each in settings.definitions]
        changes["definitions"] = tuple(each for each in named if each.suffix != PYTHON)
        changes["functions"] = tuple(each for each in named if each.suffix == PYTHON)
    if settings.handlers:
        changes["handlers"] = settings.handlers
    return msgspec.structs.replace(config, **changes)


def load_verbs(config: Config) -> Catalogue:
    """The project's verbs, with those of its functions, workflows and documents; no store is needed."""
    catalogue = load_plain_verbs(config)
    if config.functions:
        from perdure.app.project_functions import ProjectFunctions

        on_import_path(config)
        catalogue = ProjectFunctions.load(config.functions).extend(catalogue)
    if not config.workflows:
        return catalogue
    from perdure.app.workflows.project_workflows import ProjectWorkflows

    on_import_path(config)
    return ProjectWorkflows.load(config.workflows).extend(catalogue)


def load_plain_verbs(config: Config) -> Catalogue:
    """The same without functions and workflows, whose code would be imported."""
    catalogue = load_declared_verbs(config)
    if not catalogue.documents:
        return catalogue
    from perdure.app.documents.verbs import with_document_verbs

    return with_document_verbs(catalogue)


def load_declared_verbs(config: Config) -> Catalogue:
    """The verbs that the project declares itself."""
    from perdure.verbs import definition_places, load_catalogue

    return load_catalogue(definition_places(config.definitions, config.documents), config.environment)


def principal_of(settings: Settings) -> str:
    """Who asks: as said, else as the environment says, else the user of the system."""
    named = settings.principal or os.environ.get(PRINCIPAL)
    if named:
        return named
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "local"


def groups_of(settings: Settings) -> tuple[str, ...]:
    """The groups of who asks: as said, else as the environment says, separated by commas."""
    if settings.groups:
        return settings.groups
    return tuple(name for each in os.environ.get(GROUPS, "").split(",") if (name := each.strip()))


NOTHING = "sqlite://"
"""What a list is read from where there is no store yet: memory, so that looking makes none."""


def open_store(
    settings: Settings,
    role: Role,
    config: Config | None = None,
    catalogue: Catalogue | None = None,
    *,
    must_exist: bool = False,
) -> AbstractAsyncContextManager[Perdure]:
    """The open platform for one command, or the server that `--server` names, which answers alike.

    A `reader` runs no handler and imports none.
    """
    if server_of(settings):
        asked: Any = open_server(settings)
        return asked  # type: ignore[no-any-return]
    import msgspec

    from perdure.app import Perdure

    config = config or load_project(settings)
    require_project(settings, config)
    if must_exist:
        require_store(config.store)
    elif role == "reader" and is_missing(config.store):
        config = msgspec.structs.replace(config, store=NOTHING)
    on_import_path(config)
    opened: AbstractAsyncContextManager[Perdure] = Perdure.from_config(
        config,
        definitions=catalogue if catalogue is not None else load_plain_verbs(config),
        tenant=settings.tenant,
        principal=principal_of(settings),
        groups=groups_of(settings),
        role=role,
        sources=clock(),
    )
    return opened


def on_import_path(config: Config) -> None:
    """Let packages beside the configuration be imported."""
    if str(config.folder.resolve()) not in sys.path:
        sys.path.insert(0, str(config.folder.resolve()))


async def make_store(url: str) -> None:
    """Make the store where there is none, and bring its schema up to date."""
    from perdure.store.driver_selection import open_driver

    driver = open_driver(url)
    await driver.open()
    await driver.close()


def is_missing(url: str) -> bool:
    """Whether a store is a file that is not there."""
    return url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists()


def require_project(settings: Settings, config: Config) -> None:
    """In a folder with neither a project nor a store, an empty list would look as if all were done."""
    from perdure.app.configuration.project import CONFIG_NAME
    from perdure.errors import RejectedError, Rejection

    is_named = settings.config or settings.store or settings.definitions or os.environ.get(STORE)
    if not is_named and not (config.folder / CONFIG_NAME).exists() and is_missing(config.store):
        fact = f"there is no {CONFIG_NAME} in it, and no store"
        hint = "Is the folder right? 'perdure init' begins a project; --store names a store."
        raise RejectedError(Rejection("not_found", "find", "project", str(config.folder), fact, hint))


def require_store(url: str) -> None:
    """Looking at a store must not make one: a wrong path would seem to be an empty store."""
    from perdure.errors import RejectedError, Rejection

    if is_missing(url):
        hint = "The first call makes it; is --store or the folder right?"
        raise RejectedError(Rejection("not_found", "open", "store", url, "there is no such file", hint))

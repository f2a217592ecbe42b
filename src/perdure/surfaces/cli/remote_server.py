"""Commands asked of a server: which one, with which key, and what they need to know of its verbs."""

from __future__ import annotations

import asyncio
import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings
from perdure.typed_reading import convert

if TYPE_CHECKING:
    from perdure.app.verb_views import VerbRow, VerbView
    from perdure.client import AsyncClient
    from perdure.verbs import Catalogue, Verb

SERVER = "PERDURE_SERVER"
KEY = "PERDURE_KEY"
PATIENCE_SECONDS = 5.0
"""How long a command waits for a server that is away; who writes a script asks again."""
MOST_FETCHED = 50


def server_of(settings: Settings) -> str:
    """The address of the server that is to be asked; empty when the store is opened here."""
    if settings.server and settings.store:
        fact = "a store is named as well, and only one of them can be asked"
        raise usage("ask", "server", settings.server, fact, "Leave --server or --store out.")
    return settings.server or ("" if settings.store else os.environ.get(SERVER, ""))


def only_on_store(settings: Settings, command: str) -> None:
    """Refuse what a server does not do for others."""
    if server := server_of(settings):
        fact = f"it works on a store and a project, and '{server}' is a server"
        hint = f"Run it where they are, without --server and {SERVER}, or name the store with --store."
        raise usage("run", "command", command, fact, hint)


def open_server(settings: Settings) -> AbstractAsyncContextManager[AsyncClient]:
    """Somebody to ask, who answers as an open store does."""
    from perdure.client import AsyncClient

    url = server_of(settings)
    if settings.principal or settings.tenant != "default":
        option = "--as" if settings.principal else "--tenant"
        fact = "who asks a server is whom the key stands for"
        raise usage("use", "option", option, fact, f"Leave it out, and show another key ({KEY}, --key-file).")
    return AsyncClient(url, _key(settings), patience_seconds=PATIENCE_SECONDS)


def _key(settings: Settings) -> str:
    if settings.key_file is None:
        return os.environ.get(KEY, "")
    try:
        return Path(settings.key_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise usage("read", "key file", settings.key_file, f"it cannot be read: {error}") from None


def is_remote(perdure: Any) -> bool:
    """Whether what was opened is a server rather than a store."""
    return not hasattr(perdure, "runtime")


async def changed(perdure: Any, seconds: float) -> None:
    """When something may have changed; a server is not asked all the time."""
    if is_remote(perdure):
        await asyncio.sleep(seconds)
    else:
        await perdure.runtime.driver.changed(seconds)


async def find_verb(perdure: Any, name: str, version: int | None = None) -> Verb | None:
    """A verb as it is declared where the work is done; None where it is not."""
    if not is_remote(perdure):
        found: Verb | None = perdure.catalogue.find(name, version)
        return found
    from perdure.errors import RejectedError
    from perdure.verbs import Verb

    try:
        return Verb(_definition(await perdure.verbs.get(name, version or None)))
    except RejectedError:
        return None


async def get_verb(perdure: AsyncClient, name: str, version: int | None = None) -> Verb:
    """A verb of a server, or the server's refusal."""
    from perdure.verbs import Verb

    return Verb(_definition(await perdure.verbs.get(name, version)))


async def server_verbs(perdure: AsyncClient, text: str = "") -> Catalogue:
    """The verbs of a server by name; those that a text speaks of in full."""
    from perdure.verbs import Catalogue

    rows, written = await perdure.verbs.list(), text.replace("_", "-")
    wanted = [row.name for row in rows if row.name.rpartition(".")[2].replace("_", "-") in written][:MOST_FETCHED]
    whole = {name: _definition(await perdure.verbs.get(name)) for name in wanted}
    return Catalogue([whole.get(row.name) or _outline(row) for row in rows])


def _definition(view: VerbView) -> Any:
    import msgspec

    from perdure.verbs.definition import VerbDefinition

    told = msgspec.structs.asdict(view)
    return convert({name: told[name] for name in VerbDefinition.__struct_fields__ if name in told}, VerbDefinition)


def _outline(row: VerbRow) -> Any:

    from perdure.verbs.definition import VerbDefinition

    told = {
        "name": row.name, "version": row.version, "description": row.description, "consequence": row.consequence,
        "domain": row.domain, "sentences": {"step": row.sentences}, "execution": {"kind": row.kind},
    }  # fmt: skip
    return convert(told, VerbDefinition)

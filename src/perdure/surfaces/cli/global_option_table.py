"""The table of global options: their names, values and sentences."""

from __future__ import annotations

from typing import Literal, NamedTuple

PANEL = "Options of every command"


class SharedOption(NamedTuple):
    """An option of every command; `texts` may be given several times."""

    parameter: str
    name: str
    kind: Literal["flag", "text", "texts"]
    metavar: str
    help: str


SHARED_OPTIONS = (
    SharedOption("as_json", "--json", "flag", "", "Print one JSON value for machines."),
    SharedOption("store", "--store", "text", "URL", "sqlite:///file.db or postgresql://…"),
    SharedOption("config", "--config", "text", "FILE", "Instead of ./perdure.yaml."),
    SharedOption("tenant", "--tenant", "text", "NAME", "On whose behalf; 'default' otherwise."),
    SharedOption("principal", "--as", "text", "NAME", "Who asks; otherwise the system's user."),
    SharedOption("groups", "--group", "texts", "NAME", "A group that who asks belongs to."),
    SharedOption("definitions", "--definitions", "texts", "PATH", "Verbs from here instead."),
    SharedOption("handlers", "--handlers", "texts", "PACKAGE", "Handlers from here instead."),
    SharedOption("server", "--server", "text", "URL", "Ask this server instead of a store."),
    SharedOption("key_file", "--key-file", "text", "FILE", "The key to show it, else PERDURE_KEY."),
)

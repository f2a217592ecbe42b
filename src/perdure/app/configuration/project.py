"""`perdure.yaml`: what a project is made of. Unknown keys are errors with file, line and the nearest known key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from perdure.app.configuration.calendars import read_calendars
from perdure.app.configuration.engines import read_engines
from perdure.app.configuration.resolvers import ResolverSettings, read_resolvers
from perdure.app.configuration.server import SECRET_FILE, SERVER_KEYS, ServerConfig, read_server
from perdure.app.configuration.task_list import read_task_list
from perdure.app.configuration.telemetry import read_telemetry
from perdure.buses.bus_settings import BusSettings, read_bus
from perdure.business_calendar import Calendars
from perdure.channels.channel_settings import ChannelSettings, read_channels
from perdure.channels.task_channel_settings import TaskChannelSettings, read_task_channels
from perdure.channels.webhook_settings import Hooks, read_hooks
from perdure.engine.engine_settings import EngineSettings
from perdure.errors import DefinitionError, StoreSettingError
from perdure.telemetry import TelemetrySettings
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.verb_patterns import is_pattern
from perdure.verbs.yaml_nodes import Node, Report
from perdure.work.secrets import Secret

CONFIG_NAME = "perdure.yaml"
DEFAULT_STORE = "sqlite:///perdure.db"
KEEP_SECONDS = 1826 * 86_400.0
"""Data of ended calls is erased after five years unless the configuration says otherwise."""
SEAL_SECONDS = 10.0

CONFIG_KEYS = frozenset(
    {
        "store", "engine", "engines", "processes", "tenants",
        "definitions", "documents", "models", "lifecycles", "packs", "handlers", "guards",
        "environment", "retention", "seal", "server", "hooks", "telemetry", "secrets", "resolvers", "calendars",
        "calendar", "blobs", "bus", "channels", "task_list", "task_channels", "workflows", "functions",
    }
)  # fmt: skip
RETENTION_KEYS = frozenset({"payloads"})
SECRET_KEYS = frozenset({"env", "file", "verbs"})
SEAL_KEYS = frozenset({"key_file", "every"})


class Config(msgspec.Struct, frozen=True):
    """A project's settings; paths are absolute. `keep_seconds` of None keeps data for ever.

    Without `models`, those in folders of that name beside the definitions are deployed; so with `lifecycles`,
    `documents` and `packs`. `guards` are importable packages with kinds of guard.
    """

    store: str = DEFAULT_STORE
    engine: EngineSettings = EngineSettings()
    definitions: tuple[Path, ...] = ()
    documents: tuple[Path, ...] | None = None
    models: tuple[Path, ...] | None = None
    workflows: tuple[Path, ...] = ()
    functions: tuple[Path, ...] = ()
    lifecycles: tuple[Path, ...] | None = None
    packs: tuple[Path, ...] | None = None
    handlers: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    environment: Path | Mapping[str, Any] | None = None
    keep_seconds: float | None = KEEP_SECONDS
    seal_key_file: Path | None = None
    seal_every_seconds: float = SEAL_SECONDS
    server: ServerConfig = ServerConfig()
    hooks: Hooks = Hooks()
    telemetry: TelemetrySettings = TelemetrySettings()
    secrets: Mapping[str, Secret] = {}
    resolvers: Mapping[str, ResolverSettings] = {}
    calendars: Calendars | None = None
    blobs: str = ""
    task_list: str = ""
    bus: BusSettings = BusSettings()
    channels: ChannelSettings = ChannelSettings()
    task_channels: tuple[TaskChannelSettings, ...] = ()
    folder: Path = Path()


def load_config(path: Path) -> Config:
    """Read a configuration file, or raise DefinitionError with every problem in it."""
    report = Report()
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StoreSettingError("read", "configuration", str(path), str(error)) from error
    from perdure.verbs.yaml_reader import parse_text  # noqa: PLC0415  a project without a file reads no YAML

    documents = parse_text(text, str(path), report)
    folder = path.resolve().parent
    config = Config(folder=folder, server=ServerConfig(secret_file=folder / SECRET_FILE))
    if documents and documents[0].value is not None:
        config = _read(Fields(documents[0], "config", str(path), report, accepted=CONFIG_KEYS), folder)
    if report.problems:
        raise DefinitionError(report.problems)
    return config


def _read(fields: Fields, folder: Path) -> Config:
    node = fields.get("environment")
    environment: Path | Mapping[str, Any] | None = None
    if node is not None:
        environment = folder / node.value if isinstance(node.value, str) else node.plain()
    keep, key_file, every = _policies(fields, folder)
    return Config(
        store=absolute_store(fields.text("store", DEFAULT_STORE), folder),
        engine=read_engines(fields),
        definitions=tuple(folder / each for each in fields.texts("definitions")),
        documents=_places(fields, "documents", folder),
        models=_places(fields, "models", folder),
        workflows=_places(fields, "workflows", folder) or (),
        functions=_places(fields, "functions", folder) or (),
        lifecycles=_places(fields, "lifecycles", folder),
        packs=_places(fields, "packs", folder),
        handlers=fields.texts("handlers"),
        guards=fields.texts("guards"),
        environment=environment,
        keep_seconds=keep,
        seal_key_file=key_file,
        seal_every_seconds=every,
        server=_server(fields, folder),
        hooks=_hooks(fields, folder),
        telemetry=read_telemetry(fields),
        secrets=_secrets(fields, folder),
        resolvers=read_resolvers(fields),
        calendars=read_calendars(fields),
        blobs=absolute_blobs(fields.text("blobs"), folder),
        task_list=read_task_list(fields),
        bus=_bus(fields),
        channels=_channels(fields, folder),
        task_channels=_task_channels(fields, folder),
        folder=folder,
    )


def _places(fields: Fields, key: str, folder: Path) -> tuple[Path, ...] | None:
    """Folders and files; None where the key is not there and those beside the definitions count."""
    return tuple(folder / each for each in fields.texts(key)) if key in fields else None


def _server(fields: Fields, folder: Path) -> ServerConfig:
    node = fields.get("server")
    if node is None:
        return ServerConfig(secret_file=folder / SECRET_FILE)
    return read_server(Fields(node, "server", fields.file, fields.report, accepted=SERVER_KEYS), folder)


def _hooks(fields: Fields, folder: Path) -> Hooks:
    node = fields.get("hooks")
    return read_hooks(node, fields.file, fields.report, folder) if node is not None else Hooks()


def _bus(fields: Fields) -> BusSettings:
    node = fields.get("bus")
    return read_bus(node, fields.file, fields.report) if node is not None else BusSettings()


def _channels(fields: Fields, folder: Path) -> ChannelSettings:
    node = fields.get("channels")
    return read_channels(node, fields.file, fields.report, folder) if node is not None else ChannelSettings()


def _task_channels(fields: Fields, folder: Path) -> tuple[TaskChannelSettings, ...]:
    node = fields.get("task_channels")
    return read_task_channels(node, fields.file, fields.report, folder) if node is not None else ()


def _secrets(fields: Fields, folder: Path) -> dict[str, Secret]:
    found = fields.mapping("secrets") if "secrets" in fields else {}
    return {
        name: _secret(Fields(node, "secret", fields.file, fields.report, accepted=SECRET_KEYS), node, folder)
        for name, node in found.items()
    }


def _secret(fields: Fields, node: Node, folder: Path) -> Secret:
    env, file = fields.text("env"), fields.text("file")
    if bool(env) == bool(file):
        fields.wrong(node, "secret", "exactly one of 'env' and 'file' says where it is")
    for pattern in (verbs := fields.texts("verbs")):
        if not is_pattern(pattern):
            fields.wrong(
                fields.get("verbs"), "secret", f"'{pattern}' names no verbs", "Write kyc.open-case, kyc.* or *."
            )
    return Secret(env, folder / file if file else None, verbs or ("*",))


def _policies(fields: Fields, folder: Path) -> tuple[float | None, Path | None, float]:
    keep: float | None = KEEP_SECONDS
    key_file: Path | None = None
    every = SEAL_SECONDS
    if (node := fields.get("retention")) is not None:
        retention = Fields(node, "retention", fields.file, fields.report, accepted=RETENTION_KEYS)
        payloads = retention.get("payloads")
        if payloads is not None:
            keep = None if payloads.value == "forever" else retention.duration("payloads")
    if (node := fields.get("seal")) is not None:
        seal = Fields(node, "seal", fields.file, fields.report, accepted=SEAL_KEYS)
        if name := seal.text("key_file"):
            key_file = folder / name
        every = seal.duration("every") or SEAL_SECONDS
    return keep, key_file, every


def absolute_store(url: str, folder: Path) -> str:
    """A relative SQLite path is relative to the configuration, wherever the command runs."""
    if "://" not in url and url.endswith(".db"):
        url = f"sqlite:///{url}"
    prefix = "sqlite:///"
    path = url.removeprefix(prefix)
    if url.startswith(prefix) and path and not path.startswith("/"):
        return prefix + str(folder / path)
    return url


def absolute_blobs(place: str, folder: Path) -> str:
    """A relative folder of blobs is relative to the configuration; empty: beside the store."""
    return str(folder / place) if place and "://" not in place else place

"""Engine settings: the engines of a project by name, and which one an instance begins on.

| said | where an instance of a process begins |
|---|---|
| `tenants: {T: {processes: {P: {engine: NAME}}}}` | its engine, for this tenant |
| `tenants: {T: {engine: NAME}}` | else that one: a tenant's work stays together |
| `processes: {P: {engine: NAME}}` | else that one |
| `engine: NAME` | else that one; without it `embedded` |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import msgspec

from perdure.engine.engine_url import EMBEDDED, check_engine
from perdure.errors import EngineSettingError

NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
UI_HINT = "Write an address such as https://operate.example.org."


class EngineEntry(msgspec.Struct, frozen=True):
    """An engine outside: its url, and the address of its own web interface, which pages link to."""

    url: str
    ui: str = ""


class TenantEngines(msgspec.Struct, frozen=True):
    """The engine of a tenant's processes, and those of some of them."""

    engine: str = ""
    processes: Mapping[str, str] = {}


class EngineSettings(msgspec.Struct, frozen=True):
    """Names of engines are those of `engines`, or `embedded`."""

    default: str = EMBEDDED
    engines: Mapping[str, EngineEntry] = {}
    processes: Mapping[str, str] = {}
    tenants: Mapping[str, TenantEngines] = {}

    def choose(self, process: str, tenant: str) -> str:
        """The name of the engine on which an instance of a process begins."""
        own = self.tenants.get(tenant)
        if own is not None and (name := own.processes.get(process) or own.engine):
            return name
        return self.processes.get(process) or self.default

    def names(self) -> Iterator[tuple[str, str]]:
        """Every name that is chosen, with the place that chooses it."""
        yield "engine", self.default
        for process, name in self.processes.items():
            yield f"processes.{process}.engine", name
        for tenant, own in self.tenants.items():
            if own.engine:
                yield f"tenants.{tenant}.engine", own.engine
            for process, name in own.processes.items():
                yield f"tenants.{tenant}.processes.{process}.engine", name

    def check(self) -> None:
        """Refuse names that stand for no engine, and engines that mean nothing."""
        for name, entry in self.engines.items():
            if fact := name_fault(name):
                raise EngineSettingError("open", "engine", name, fact)
            check_engine(entry.url)
            if fact := ui_fault(entry.ui):
                raise EngineSettingError("open", "engine", name, fact, UI_HINT)
        for place, name in self.names():
            if fact := self.unknown(name):
                raise EngineSettingError("open", "engine", name, f"{fact} ({place})", self.hint)

    def unknown(self, name: str) -> str:
        """Why a name stands for no engine here; empty when it does."""
        return "" if name == EMBEDDED or name in self.engines else f"no engine is named '{name}'"

    @property
    def hint(self) -> str:
        return f"Engines are {', '.join([EMBEDDED, *self.engines])}; name more under 'engines'."


def read_engine(engine: str | EngineSettings) -> EngineSettings:
    """The settings behind a url; one engine that is named by its url is called as its scheme."""
    if isinstance(engine, EngineSettings):
        return engine
    check_engine(engine)
    if engine == EMBEDDED:
        return EngineSettings()
    name = scheme_of(engine)
    return EngineSettings(name, {name: EngineEntry(engine)})


def scheme_of(url: str) -> str:
    return url.partition("://")[0]


def name_fault(name: str) -> str:
    """Why an engine cannot have a name; empty when it can."""
    if name == EMBEDDED:
        return f"'{EMBEDDED}' is the engine in the store, and no other one"
    if not NAME.fullmatch(name):
        return f"'{name}' is no name of an engine: small letters, digits and '-', at most 40, a letter first"
    return ""


def ui_fault(address: str) -> str:
    """Why an address is none of a web interface; empty when it is, or when there is none."""
    if not address:
        return ""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return f"'{address[:200]}' is no address of http or https"
    if parts.username or parts.password or parts.query or parts.fragment:
        return "the address of a web interface has no credentials, no query and no fragment"
    return ""

"""The keys `engine`, `engines`, `processes` and `tenants` of `perdure.yaml`: which engine carries what."""

from __future__ import annotations

from perdure.engine.engine_settings import (
    UI_HINT,
    EngineEntry,
    EngineSettings,
    TenantEngines,
    name_fault,
    scheme_of,
    ui_fault,
)
from perdure.engine.engine_url import EMBEDDED, check_engine
from perdure.errors import EngineSettingError
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.yaml_nodes import Node

ENTRY_KEYS = frozenset({"url", "ui"})
PROCESS_KEYS = frozenset({"engine"})
TENANT_KEYS = frozenset({"engine", "processes"})


def read_engines(config: Fields) -> EngineSettings:
    """The engines as declared; what is wrong is in the report, with its place."""
    return _Reader(config).settings()


class _Reader:
    """Collects engines first: a url in place of a name is an engine of its scheme's name."""

    def __init__(self, config: Fields) -> None:
        self._config = config
        self._engines: dict[str, EngineEntry] = {}

    def settings(self) -> EngineSettings:
        for name, node in self._config.mapping("engines").items():
            if fact := name_fault(name):
                self._config.wrong(node, "engine", fact)
            elif (entry := self._entry(node)) is not None:
                self._engines[name] = entry
        default = self._choice(self._config) or EMBEDDED
        processes = self._processes(self._config)
        tenants = {name: self._tenant(node) for name, node in self._config.mapping("tenants").items()}
        return EngineSettings(default, self._engines, processes, tenants)

    def _entry(self, node: Node) -> EngineEntry | None:
        if isinstance(node.value, str):
            return EngineEntry(node.value) if self._is_url(node, node.value, self._config) else None
        fields = self._fields(node, "engine", ENTRY_KEYS)
        url, ui = fields.text("url", required=True), fields.text("ui")
        if fault := ui_fault(ui):
            fields.wrong(fields.get("ui"), "ui", fault, UI_HINT)
            ui = ""
        return EngineEntry(url, ui) if url and self._is_url(fields.get("url"), url, fields) else None

    def _tenant(self, node: Node) -> TenantEngines:
        fields = self._fields(node, "tenant", TENANT_KEYS)
        return TenantEngines(self._choice(fields), self._processes(fields))

    def _processes(self, around: Fields) -> dict[str, str]:
        found = {}
        for process, node in around.mapping("processes").items():
            if name := self._choice(self._fields(node, "process", PROCESS_KEYS), required=True):
                found[process] = name
        return found

    def _choice(self, fields: Fields, *, required: bool = False) -> str:
        """The name under `engine`; a url is taken in as an engine."""
        name, node = fields.text("engine", required=required), fields.get("engine")
        if not name or name == EMBEDDED or name in self._engines:
            return name
        if "://" in name:
            return self._inline(fields, node, name)
        known = [EMBEDDED, *self._engines]
        hint = did_you_mean(name, known) or f"Engines are {', '.join(known)}; name more under 'engines'."
        fields.wrong(node, "unknown_value", f"no engine is named '{name}'", hint)
        return ""

    def _inline(self, fields: Fields, node: Node | None, url: str) -> str:
        if not self._is_url(node, url, fields):
            return ""
        name = scheme_of(url)
        known = self._engines.setdefault(name, EngineEntry(url))
        if known.url != url:
            fact = f"'{name}' is the name of another engine, at {known.url.partition('?')[0]}"
            fields.wrong(node, "engine", fact, "Give each a name under 'engines', and write the names here.")
            return ""
        return name

    def _is_url(self, node: Node | None, url: str, fields: Fields) -> bool:
        try:
            check_engine(url)
        except EngineSettingError as error:
            fields.wrong(node, "unknown_value", f"'{url}' is refused: {error.fact}", error.hint)
            return False
        if url == EMBEDDED:
            fields.wrong(node, "engine", f"'{EMBEDDED}' needs no other name")
            return False
        return True

    def _fields(self, node: Node, kind: str, accepted: frozenset[str]) -> Fields:
        return Fields(node, kind, self._config.file, self._config.report, accepted=accepted)

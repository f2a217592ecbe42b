"""The url of an engine, as `perdure.yaml` and `Perdure.open` name it."""

from __future__ import annotations

from perdure.errors import EngineSettingError

EMBEDDED = "embedded"
SCHEMES = ("temporal://", "camunda://")


def check_engine(url: str) -> None:
    """Refuse a name that stands for no engine."""
    if url != EMBEDDED and not url.startswith(SCHEMES):
        hint = "Write `embedded`, `temporal://host:7233/namespace` or `camunda://host:8080`."
        raise EngineSettingError("open", "engine", url, "there is no such engine", hint)

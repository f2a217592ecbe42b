"""The selection of engines: the only module outside an engine that knows one by name."""

from __future__ import annotations

from perdure.engine import Engine, EngineSettings, read_engine
from perdure.engines.carrier import Carrier
from perdure.engines.embedded.engine import EmbeddedEngine
from perdure.engines.embedded.ports import EngineStore
from perdure.errors import EngineSettingError
from perdure.processes.instance_reader import InstanceReader
from perdure.processes.wait_schemas import Forms
from perdure.runbooks.executor.call_executor import CallExecutor
from perdure.runbooks.executor.recovery import Recovery
from perdure.sources import Sources

TEMPORAL = "temporal://"


def open_engine(
    engine: str | EngineSettings,
    conductor: CallExecutor,
    upkeep: Recovery,
    store: EngineStore,
    reader: InstanceReader,
    forms: Forms,
    sources: Sources,
) -> Engine:
    """The engines that carry the processes of a platform, behind one contract."""
    settings = read_engine(engine)
    settings.check()
    if not settings.engines:
        return EmbeddedEngine(conductor, upkeep, store, reader, forms, sources)
    from perdure.engines.routed_engine import RoutedEngine  # noqa: PLC0415  only who uses it pays for it

    def carrier(name: str, parts: EmbeddedEngine) -> Carrier:
        return _carrier(name, settings, parts)

    return RoutedEngine(settings, carrier, conductor, upkeep, store, reader, forms, sources)


def _carrier(name: str, settings: EngineSettings, parts: EmbeddedEngine) -> Carrier:
    entry = settings.engines[name]
    if not entry.url.startswith(TEMPORAL):
        from perdure.engines.camunda.carrier import CamundaCarrier  # noqa: PLC0415

        return CamundaCarrier(name, entry, parts)
    try:
        from perdure.engines.temporal.carrier import TemporalCarrier  # noqa: PLC0415
    except ModuleNotFoundError as error:
        hint = "Install it: pip install 'perdure[temporal]'."
        raise EngineSettingError("open", "engine", entry.url, f"the package '{error.name}' is missing", hint) from error
    return TemporalCarrier(name, entry, parts)

"""The selection of the engine: the only module outside an engine that knows one by name."""

from __future__ import annotations

from perdure.engine import Engine, check_engine
from perdure.engines.embedded.engine import EmbeddedEngine
from perdure.engines.embedded.ports import EngineStore
from perdure.errors import EngineSettingError
from perdure.processes.instance_reader import InstanceReader
from perdure.processes.wait_schemas import Forms
from perdure.runbooks.executor.call_executor import CallExecutor
from perdure.runbooks.executor.recovery import Recovery
from perdure.sources import Sources

TEMPORAL = "temporal://"
CAMUNDA = "camunda://"


def open_engine(
    url: str,
    conductor: CallExecutor,
    upkeep: Recovery,
    store: EngineStore,
    reader: InstanceReader,
    forms: Forms,
    sources: Sources,
) -> Engine:
    """The engine that carries the processes of a platform, as its url says."""
    if url.startswith(TEMPORAL):
        try:
            from perdure.engines.temporal.engine import TemporalEngine  # noqa: PLC0415
        except ModuleNotFoundError as error:
            hint = "Install it: pip install 'perdure[temporal]'."
            raise EngineSettingError("open", "engine", url, f"the package '{error.name}' is missing", hint) from error
        return TemporalEngine(url, conductor, upkeep, store, reader, forms, sources)
    if url.startswith(CAMUNDA):
        from perdure.engines.camunda.engine import CamundaEngine  # noqa: PLC0415  only who uses it pays for it

        return CamundaEngine(url, conductor, upkeep, store, reader, forms, sources)
    check_engine(url)
    return EmbeddedEngine(conductor, upkeep, store, reader, forms, sources)

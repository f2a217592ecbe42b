"""The selection of the engine: the only module outside an engine that knows one by name."""

from __future__ import annotations

from perdure.engine import Engine
from perdure.engines.embedded.engine import EmbeddedEngine
from perdure.engines.embedded.ports import EngineStore
from perdure.processes.instance_reader import InstanceReader
from perdure.processes.wait_schemas import Forms
from perdure.runbooks.executor.call_executor import CallExecutor
from perdure.runbooks.executor.recovery import Recovery
from perdure.sources import Sources


def open_engine(
    conductor: CallExecutor,
    upkeep: Recovery,
    store: EngineStore,
    reader: InstanceReader,
    forms: Forms,
    sources: Sources,
) -> Engine:
    """The engine that carries the processes of a platform: the embedded one."""
    return EmbeddedEngine(conductor, upkeep, store, reader, forms, sources)

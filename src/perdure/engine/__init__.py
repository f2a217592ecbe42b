"""The engine contract: everything that may be asked of whatever carries processes, and nothing else.

| guarantee | of every engine |
|---|---|
| repeated | starting under one id, key or parent, publishing under one message id and firing a timer twice count once |
| pinned | an instance stays on the version it was started with until someone migrates it |
| checked | what comes in is refused at the door when it does not fit; payloads come back byte for byte |
| seen | a job that cannot go on is an incident, never silence |
| asked | what not every engine can do is declared in `capabilities`, and refused as `blocked` where it is not |
| journalled | a decision is in our journal before it is answered: reads and lists ask the journal, never an engine |

| failure | what is answered |
|---|---|
| asked for something not possible now | `RejectedError` with a code, and nothing has changed |
| a model that must not be deployed | `DefinitionError` with every finding |
| a job that fails | by its answer, as the table in `jobs` says |
| the engine cannot be reached | `StoreUnavailableError`; asked again, the call counts once |
| a crash before the commit | nothing has happened; after it, all of it has |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from perdure.engine.capabilities import EVERYTHING as EVERYTHING
    from perdure.engine.capabilities import Capabilities as Capabilities
    from perdure.engine.contract import Engine as Engine
    from perdure.engine.deployment import Check as Check
    from perdure.engine.deployment import Deployment as Deployment
    from perdure.engine.deployment import Judged as Judged
    from perdure.engine.deployment import ProcessVersion as ProcessVersion
    from perdure.engine.engine_settings import EngineEntry as EngineEntry
    from perdure.engine.engine_settings import EngineSettings as EngineSettings
    from perdure.engine.engine_settings import TenantEngines as TenantEngines
    from perdure.engine.engine_settings import read_engine as read_engine
    from perdure.engine.engine_url import check_engine as check_engine
    from perdure.engine.host_builds import HostBuild as HostBuild
    from perdure.engine.host_builds import HostBuilds as HostBuilds
    from perdure.engine.instance import Flags as Flags
    from perdure.engine.instance import InstanceName as InstanceName
    from perdure.engine.instance import LifecycleEvent as LifecycleEvent
    from perdure.engine.instance import MigrationPlan as MigrationPlan
    from perdure.engine.instance import Move as Move
    from perdure.engine.instance import MovePlan as MovePlan
    from perdure.engine.instance import NewVerb as NewVerb
    from perdure.engine.instance import StartRequest as StartRequest
    from perdure.engine.instance import Told as Told
    from perdure.engine.instance import Until as Until
    from perdure.engine.jobs import Job as Job
    from perdure.engine.jobs import JobStream as JobStream
    from perdure.engine.messages import MESSAGE as MESSAGE
    from perdure.engine.messages import SIGNAL as SIGNAL
    from perdure.engine.messages import Broadcast as Broadcast
    from perdure.engine.messages import MessageOutcome as MessageOutcome
    from perdure.engine.messages import Receipt as Receipt
    from perdure.engine.messages import Vet as Vet
    from perdure.engine.messages import sent_id as sent_id
    from perdure.engine.status import EngineStatus as EngineStatus
    from perdure.engine.status import NamedEngine as NamedEngine

# Names are loaded when first used: settings are read without them.
_HOMES = {
    "capabilities": (
        "EVERYTHING",
        "Capabilities",
    ),
    "contract": ("Engine",),
    "deployment": (
        "Check",
        "Deployment",
        "Judged",
        "ProcessVersion",
    ),
    "engine_settings": (
        "EngineEntry",
        "EngineSettings",
        "TenantEngines",
        "read_engine",
    ),
    "engine_url": ("check_engine",),
    "host_builds": (
        "HostBuild",
        "HostBuilds",
    ),
    "instance": (
        "Flags",
        "InstanceName",
        "LifecycleEvent",
        "MigrationPlan",
        "Move",
        "MovePlan",
        "NewVerb",
        "StartRequest",
        "Told",
        "Until",
    ),
    "jobs": (
        "Job",
        "JobStream",
    ),
    "messages": (
        "MESSAGE",
        "SIGNAL",
        "Broadcast",
        "MessageOutcome",
        "Receipt",
        "Vet",
        "sent_id",
    ),
    "status": (
        "EngineStatus",
        "NamedEngine",
    ),
}
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)

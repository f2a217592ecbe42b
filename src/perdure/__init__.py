"""Perdure: verbs that look the same whether they take a millisecond or nine days."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.app import CallView as CallView
    from perdure.app import Config as Config
    from perdure.app import Perdure as Perdure
    from perdure.app import WaitingFor as WaitingFor
    from perdure.app import load_config as load_config
    from perdure.errors import BusinessError as BusinessError
    from perdure.errors import CallFailedError as CallFailedError
    from perdure.errors import DefinitionError as DefinitionError
    from perdure.errors import PerdureError as PerdureError
    from perdure.errors import RejectedError as RejectedError
    from perdure.errors import SchemaViolationError as SchemaViolationError
    from perdure.errors import StoreUnavailableError as StoreUnavailableError
    from perdure.errors import Transient as Transient
    from perdure.verbs import Agent as Agent
    from perdure.verbs import Call as Call
    from perdure.verbs import Decide as Decide
    from perdure.verbs import Result as Result
    from perdure.verbs import ResumptionContext as ResumptionContext
    from perdure.verbs import agent as agent
    from perdure.verbs import verb as verb

_HOMES = {
    "Agent": "perdure.verbs",
    "BusinessError": "perdure.errors",
    "Call": "perdure.verbs",
    "CallFailedError": "perdure.errors",
    "CallView": "perdure.app",
    "Config": "perdure.app",
    "Decide": "perdure.verbs",
    "DefinitionError": "perdure.errors",
    "Perdure": "perdure.app",
    "PerdureError": "perdure.errors",
    "RejectedError": "perdure.errors",
    "Result": "perdure.verbs",
    "ResumptionContext": "perdure.verbs",
    "SchemaViolationError": "perdure.errors",
    "StoreUnavailableError": "perdure.errors",
    "Transient": "perdure.errors",
    "WaitingFor": "perdure.app",
    "load_config": "perdure.app",
    "agent": "perdure.verbs",
    "verb": "perdure.verbs",
}


def __getattr__(name: str) -> Any:
    """Names are loaded when first used, so that a machine can be imported without a database driver."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'perdure' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)

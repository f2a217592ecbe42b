"""Perdure: verbs that look the same whether they take a millisecond or nine days."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from perdure.app import CallView as CallView
    from perdure.app import Config as Config
    from perdure.app import Perdure as Perdure
    from perdure.app import WaitingFor as WaitingFor
    from perdure.app import load_config as load_config
    from perdure.errors import BusinessError as BusinessError
    from perdure.errors import CallFailedError as CallFailedError
    from perdure.errors import ContractError as ContractError
    from perdure.errors import DefinitionError as DefinitionError
    from perdure.errors import PerdureError as PerdureError
    from perdure.errors import RejectedError as RejectedError
    from perdure.errors import SchemaViolationError as SchemaViolationError
    from perdure.errors import StoreUnavailableError as StoreUnavailableError
    from perdure.errors import Transient as Transient
    from perdure.errors import TransientInfrastructure as TransientInfrastructure
    from perdure.verbs import Agent as Agent
    from perdure.verbs import Call as Call
    from perdure.verbs import Decide as Decide
    from perdure.verbs import Result as Result
    from perdure.verbs import ResumptionContext as ResumptionContext
    from perdure.verbs import agent as agent
    from perdure.verbs import durable as durable
    from perdure.verbs import sync as sync
    from perdure.verbs import unpacked as unpacked
    from perdure.verbs import verb as verb

# Names are loaded when first used, so that a machine can be imported without a database driver.
_HOMES = {
    "app": ("CallView", "Config", "Perdure", "WaitingFor", "load_config"),
    "errors": (
        "BusinessError",
        "CallFailedError",
        "DefinitionError",
        "PerdureError",
        "RejectedError",
        "SchemaViolationError",
        "StoreUnavailableError",
        "ContractError",
        "Transient",
        "TransientInfrastructure",
    ),
    "verbs": ("Agent", "Call", "Decide", "Result", "ResumptionContext", "agent", "durable", "sync", "unpacked", "verb"),
}
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)

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
    from perdure.verbs import Call as Call
    from perdure.verbs import Result as Result
    from perdure.verbs import verb as verb

_HOMES = {
    "perdure.app": ("CallView", "Config", "Perdure", "WaitingFor", "load_config"),
    "perdure.errors": (
        "BusinessError", "CallFailedError", "DefinitionError", "PerdureError", "RejectedError",
        "SchemaViolationError", "StoreUnavailableError", "Transient",
    ),
    "perdure.verbs": ("Call", "Result", "verb"),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Names are loaded when first used, so that a machine can be imported without a database driver."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'perdure' has no attribute '{name}'")
    return getattr(import_module(home), name)

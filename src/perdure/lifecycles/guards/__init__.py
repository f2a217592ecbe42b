"""Guards: one kind is one module with `KIND`, its parameters and its documentation."""

from perdure.lifecycles.guards.guard_kind import GuardKind, Judgement, Parameter
from perdure.lifecycles.guards.guard_table import BUILT_IN_GUARDS, GuardTable

__all__ = ["BUILT_IN_GUARDS", "GuardKind", "GuardTable", "Judgement", "Parameter"]

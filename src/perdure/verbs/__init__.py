"""Verbs: declared in YAML, checked when loaded, bound to Python functions, read back as sentences."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.verbs.agents import Agent as Agent
    from perdure.verbs.agents import agent as agent
    from perdure.verbs.catalogue import Catalogue as Catalogue
    from perdure.verbs.compiled_verb import Verb as Verb
    from perdure.verbs.definition import BUILT_IN_HANDLERS as BUILT_IN_HANDLERS
    from perdure.verbs.definition import EntityDefinition as EntityDefinition
    from perdure.verbs.definition import EntityField as EntityField
    from perdure.verbs.definition import Execution as Execution
    from perdure.verbs.definition import Sentences as Sentences
    from perdure.verbs.definition import VerbDefinition as VerbDefinition
    from perdure.verbs.handlers import Call as Call
    from perdure.verbs.handlers import Decide as Decide
    from perdure.verbs.handlers import Result as Result
    from perdure.verbs.handlers import ResumptionContext as ResumptionContext
    from perdure.verbs.handlers import StepSummary as StepSummary
    from perdure.verbs.handlers import verb as verb
    from perdure.verbs.loader import load_catalogue as load_catalogue
    from perdure.verbs.loader import load_text as load_text
    from perdure.verbs.registry import Handler as Handler
    from perdure.verbs.registry import HandlerRegistry as HandlerRegistry
    from perdure.verbs.schema import CompiledSchema as CompiledSchema

_HOMES = {
    "Agent": "perdure.verbs.agents",
    "BUILT_IN_HANDLERS": "perdure.verbs.definition",
    "Call": "perdure.verbs.handlers",
    "Catalogue": "perdure.verbs.catalogue",
    "CompiledSchema": "perdure.verbs.schema",
    "Decide": "perdure.verbs.handlers",
    "EntityDefinition": "perdure.verbs.definition",
    "EntityField": "perdure.verbs.definition",
    "Execution": "perdure.verbs.definition",
    "Handler": "perdure.verbs.registry",
    "HandlerRegistry": "perdure.verbs.registry",
    "Result": "perdure.verbs.handlers",
    "ResumptionContext": "perdure.verbs.handlers",
    "Sentences": "perdure.verbs.definition",
    "StepSummary": "perdure.verbs.handlers",
    "Verb": "perdure.verbs.compiled_verb",
    "VerbDefinition": "perdure.verbs.definition",
    "agent": "perdure.verbs.agents",
    "load_catalogue": "perdure.verbs.loader",
    "load_text": "perdure.verbs.loader",
    "verb": "perdure.verbs.handlers",
}


def __getattr__(name: str) -> Any:
    """Names are loaded when first used: a configuration is read without them."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'perdure.verbs' has no attribute '{name}'")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)

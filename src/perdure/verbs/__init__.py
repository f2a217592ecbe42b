"""Verbs: declared in YAML, checked when loaded, bound to Python functions, read back as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from perdure.verbs.agent_handlers import Agent as Agent
    from perdure.verbs.agent_handlers import agent as agent
    from perdure.verbs.archives import Unpacked as Unpacked
    from perdure.verbs.archives import unpacked as unpacked
    from perdure.verbs.catalogue import Catalogue as Catalogue
    from perdure.verbs.compiled_schema import CompiledSchema as CompiledSchema
    from perdure.verbs.compiled_verb import Verb as Verb
    from perdure.verbs.definition import BUILT_IN_HANDLERS as BUILT_IN_HANDLERS
    from perdure.verbs.definition import EntityDefinition as EntityDefinition
    from perdure.verbs.definition import EntityField as EntityField
    from perdure.verbs.definition import Execution as Execution
    from perdure.verbs.definition import Sentences as Sentences
    from perdure.verbs.definition import VerbDefinition as VerbDefinition
    from perdure.verbs.function_verbs import durable as durable
    from perdure.verbs.function_verbs import sync as sync
    from perdure.verbs.handler_registry import Handler as Handler
    from perdure.verbs.handler_registry import HandlerRegistry as HandlerRegistry
    from perdure.verbs.handlers import Alternative as Alternative
    from perdure.verbs.handlers import Call as Call
    from perdure.verbs.handlers import Decide as Decide
    from perdure.verbs.handlers import DecisionPoint as DecisionPoint
    from perdure.verbs.handlers import Result as Result
    from perdure.verbs.handlers import ResumptionContext as ResumptionContext
    from perdure.verbs.handlers import StepSummary as StepSummary
    from perdure.verbs.handlers import verb as verb
    from perdure.verbs.loader import definition_places as definition_places
    from perdure.verbs.loader import load_catalogue as load_catalogue
    from perdure.verbs.loader import load_text as load_text

# Names are loaded when first used: a configuration is read without them.
_HOMES = {
    "agent_handlers": ("Agent", "agent"),
    "archives": ("Unpacked", "unpacked"),
    "catalogue": ("Catalogue",),
    "compiled_verb": ("Verb",),
    "definition": ("BUILT_IN_HANDLERS", "EntityDefinition", "EntityField", "Execution", "Sentences", "VerbDefinition"),
    "function_verbs": ("durable", "sync"),
    "handlers": (
        "Alternative",
        "Call",
        "Decide",
        "DecisionPoint",
        "Result",
        "ResumptionContext",
        "StepSummary",
        "verb",
    ),
    "loader": ("definition_places", "load_catalogue", "load_text"),
    "handler_registry": ("Handler", "HandlerRegistry"),
    "compiled_schema": ("CompiledSchema",),
}
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)

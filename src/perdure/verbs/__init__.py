"""Verbs: declared in YAML, checked when loaded, bound to Python functions, read back as sentences."""

from __future__ import annotations

from perdure.verbs.agents import Agent as Agent
from perdure.verbs.agents import agent as agent
from perdure.verbs.catalogue import Catalogue as Catalogue
from perdure.verbs.compiled import Verb as Verb
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

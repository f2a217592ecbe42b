"""Lint of lifecycles: rules over definitions, each with a code, a page and a set of models."""

from perdure.lifecycles.lint.lint import LifecycleChecks, entities_in
from perdure.lifecycles.lint.rules import RULES

__all__ = ["RULES", "LifecycleChecks", "entities_in"]

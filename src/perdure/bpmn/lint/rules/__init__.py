"""Every rule, in the order of the codes: each module of this folder is one."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import cast

from perdure.bpmn.lint.rule import Rule

FAMILIES = ("HOL", "BPM", "CON", "AME", "PRT")


def _order(rule: Rule) -> tuple[int, str]:
    return FAMILIES.index(rule.CODE[:3]), rule.CODE


_MODULES = [cast("Rule", import_module(f"{__name__}.{module.name}")) for module in iter_modules(__path__)]
RULES: tuple[Rule, ...] = tuple(sorted(_MODULES, key=_order))

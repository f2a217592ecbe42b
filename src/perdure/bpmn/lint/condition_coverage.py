"""Whether conditions cover every value their flags can have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from perdure.bpmn.conditions.tree import Condition, Foreign, Scalar, holds, leaves, literals_of
from perdure.verb_contract import FlagContract

MOST_CASES = 20_000
_OTHER = "\0another text"


def covers(conditions: Sequence[Condition], flags: Mapping[str, FlagContract]) -> bool | None:
    """Whether one of the conditions holds whatever the flags are; None when that cannot be said."""
    literals: dict[str, set[Scalar]] = defaultdict(set)
    for leaf in (leaf for condition in conditions for leaf in leaves(condition)):
        if isinstance(leaf, Foreign):
            return None
        literals[leaf.flag].update(literals_of(leaf))
    names = sorted(literals)
    domains = [_domain(literals[name], flags.get(name)) for name in names]
    if prod(map(len, domains)) > MOST_CASES:
        return None
    cases = (dict(zip(names, case, strict=True)) for case in product(*domains))
    return all(any(holds(condition, case) for condition in conditions) for case in cases)


def _domain(literals: set[Scalar], contract: FlagContract | None) -> list[Scalar]:
    if contract is not None and contract.type == "enum":
        return list(contract.values)
    if (contract is not None and contract.type == "boolean") or all(isinstance(each, bool) for each in literals):
        return [True, False]
    integers = [each for each in literals if isinstance(each, int) and not isinstance(each, bool)]
    if integers:
        return sorted({near for each in integers for near in (each - 1, each, each + 1)})
    return [*sorted(str(each) for each in literals), _OTHER]

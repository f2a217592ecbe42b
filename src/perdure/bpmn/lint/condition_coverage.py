"""Whether conditions cover every value their flags can have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from perdure.bpmn.conditions import Among, Both, Compare, Condition, Either, Foreign, Not, Scalar, holds
from perdure.contracts import FlagContract

MOST_CASES = 20_000
_OTHER = "\0another text"


def covers(conditions: Sequence[Condition], flags: Mapping[str, FlagContract]) -> bool | None:
    """Whether one of the conditions holds whatever the flags are; None when that cannot be said."""
    literals: dict[str, set[Scalar]] = defaultdict(set)
    if not all(_collect(condition, literals) for condition in conditions):
        return None
    names = sorted(literals)
    domains = [_domain(literals[name], flags.get(name)) for name in names]
    if prod(map(len, domains)) > MOST_CASES:
        return None
    cases = (dict(zip(names, case, strict=True)) for case in product(*domains))
    return all(any(holds(condition, case) for condition in conditions) for case in cases)


def _collect(condition: Condition, literals: dict[str, set[Scalar]]) -> bool:
    """Adds the literals each flag meets; False when there is something that is not evaluated."""
    match condition:
        case Compare(flag, _, literal):
            literals[flag].add(literal)
            return True
        case Among(flag, several):
            literals[flag].update(several)
            return True
        case Both(parts) | Either(parts):
            return all(_collect(part, literals) for part in parts)
        case Not(part):
            return _collect(part, literals)
        case Foreign():
            return False


def _domain(literals: set[Scalar], contract: FlagContract | None) -> list[Scalar]:
    if contract is not None and contract.type == "enum":
        return list(contract.values)
    if (contract is not None and contract.type == "boolean") or all(isinstance(each, bool) for each in literals):
        return [True, False]
    integers = [each for each in literals if isinstance(each, int) and not isinstance(each, bool)]
    if integers:
        return sorted({near for each in integers for near in (each - 1, each, each + 1)})
    return [*sorted(str(each) for each in literals), _OTHER]

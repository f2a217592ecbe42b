"""Conditions held against the flag contract: what is undeclared, or compared with what it can never be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Literal, assert_never

import msgspec

from perdure.bpmn.conditions.printer import show_literal
from perdure.bpmn.conditions.tree import Compare, Condition, Foreign, Scalar, leaves, literals_of
from perdure.verb_contract import FlagContract

FaultKind = Literal["foreign", "undeclared", "type", "value", "order"]


class Fault(msgspec.Struct, frozen=True):
    """Why a condition does not fit the contract. `flag` is empty when no flag is to blame."""

    kind: FaultKind
    fact: str
    hint: str = ""
    flag: str = ""


def condition_faults(
    condition: Condition, contracts: Iterable[FlagContract], given: Collection[str] = ()
) -> list[Fault]:
    """Every fault of the condition, in reading order; `given` names integer flags the engine gives here."""
    known = {contract.name: contract for contract in contracts}
    known |= {name: FlagContract(name, "integer") for name in given}
    return list(dict.fromkeys(_faults(condition, known)))


def undeclared(name: str, declared: Iterable[str]) -> Fault:
    """The fault of a flag no contract declares, with the nearest declared name."""
    near = get_close_matches(name, list(declared), n=1)
    hint = f"Did you mean '{near[0]}'?" if near else "Declare it under execution.flags of the durable verb."
    return Fault("undeclared", f"the flag '{name}' is not declared", hint, name)


def _faults(condition: Condition, known: Mapping[str, FlagContract]) -> Iterator[Fault]:
    for leaf in leaves(condition):
        if isinstance(leaf, Foreign):
            yield Fault("foreign", leaf.fact, leaf.hint)
            continue
        yield from _literal_faults(leaf.flag, literals_of(leaf), known)
        if isinstance(leaf, Compare) and leaf.operator not in ("=", "!="):
            yield from _order_faults(leaf.flag, leaf.literal, known)


def _literal_faults(flag: str, literals: tuple[Scalar, ...], known: Mapping[str, FlagContract]) -> Iterator[Fault]:
    contract = known.get(flag)
    if contract is None:
        yield undeclared(flag, known)
        return
    for literal in literals:
        yield from _literal_fault(contract, literal)


def _literal_fault(contract: FlagContract, literal: Scalar) -> Iterator[Fault]:
    if not _fits_type(contract, literal):
        fact = f"the flag '{contract.name}' is {_kind(contract)} and is compared with {show_literal(literal)}"
        yield Fault("type", fact, _example(contract), contract.name)
    elif contract.type == "enum" and literal not in contract.values:
        fact = f"{show_literal(literal)} is not a value of '{contract.name}'"
        near = get_close_matches(str(literal), contract.values, n=1)
        hint = f'Did you mean "{near[0]}"?' if near else f"It has the values {', '.join(contract.values)}."
        yield Fault("value", fact, hint, contract.name)


def _fits_type(contract: FlagContract, literal: Scalar) -> bool:
    match contract.type:
        case "boolean":
            return isinstance(literal, bool)
        case "integer":
            return isinstance(literal, int) and not isinstance(literal, bool)
        case "string" | "enum":
            return isinstance(literal, str)
        case _:
            assert_never(contract.type)


def _order_faults(flag: str, literal: Scalar, known: Mapping[str, FlagContract]) -> Iterator[Fault]:
    contract = known.get(flag)
    is_integer = isinstance(literal, int) and not isinstance(literal, bool)
    if not is_integer or (contract is not None and contract.type != "integer"):
        fact = f"'{flag}' is ordered against {show_literal(literal)}, and only integers are ordered"
        yield Fault("order", fact, "Compare with = or in, or let a verb set an integer flag.", flag)


def _kind(contract: FlagContract) -> str:
    return {"string": "text", "boolean": "true or false", "integer": "an integer", "enum": "an enum"}[contract.type]


def _example(contract: FlagContract) -> str:
    match contract.type:
        case "boolean":
            return f"Write {contract.name} = true or {contract.name} = false."
        case "integer":
            return f"Write {contract.name} = 1."
        case "string":
            return f'Write {contract.name} = "text".'
        case "enum":
            return f'Write {contract.name} = "{contract.values[0]}".'
        case _:
            assert_never(contract.type)

"""Mirrors: flags that the compiler makes, so that gateways and waits read the state without seeing data.

| in the model | the flag | its value |
|---|---|---|
| `state.review.decision = "good"` | `orch_review_decision_is_good` | whether the comparison holds for the data |
| `state.n != 3` | `orch_n_is_3`, negated | the same |
| `state.n in ("a", "b")` | `orch_n_in_a_b` | the same |
| `correlationKeyTemplate` of message `M` | `orch_key_m` | the text of the template; empty while it has none |

Names that would meet, be too long or say nothing get a number made from what they stand for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, assert_never

import msgspec

from perdure.bpmn.conditions.printer import show_condition
from perdure.bpmn.conditions.tree import Among, Atom, Compare, Scalar, holds
from perdure.bpmn.contract.paths import Missing, parse_path, read_path
from perdure.bpmn.contract.templates import parse_template
from perdure.verb_contract import FLAG_NAME, MAX_FLAG_TEXT, FlagContract

STATE_WRITER = "contract:state"
"""Who writes mirrors where no verb does: no verb can be called so."""

_WORDS = {"=": "is", "!=": "is_not", "<": "below", "<=": "at_most", ">": "above", ">=": "at_least"}
_ODD = re.compile(r"[^a-z0-9]+")


class Mirror(msgspec.Struct, frozen=True, omit_defaults=True):
    """One flag: whether a comparison of a path holds, or the text of a template."""

    flag: str
    atom: Compare | Among | None = None
    template: str = ""

    def value(self, state: Mapping[str, Any]) -> bool | str:
        """What the flag says of the data."""
        if self.atom is not None:
            path = parse_path(self.atom.flag)
            found = read_path(state, path.inner)
            is_comparable = not isinstance(found, Missing) and isinstance(found, str | bool | int)
            return holds(self.atom, {self.atom.flag: found} if is_comparable else {})
        text = parse_template(self.template).render(state, {})
        return text if isinstance(text, str) and len(text) <= MAX_FLAG_TEXT else ""

    def contract(self, types: Iterable[str]) -> FlagContract:
        """The flag as the process declares it: written by whatever changes the data."""
        writers = (*sorted(set(types)), STATE_WRITER)
        if self.atom is not None:
            return FlagContract(self.flag, "boolean", initial=False, writers=writers)
        return FlagContract(self.flag, "string", initial="", writers=writers)


def mirrored(mirrors: Iterable[Mirror], state: Mapping[str, Any], flags: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The flags that have another value now than they should have by the data."""
    wanted = {each.flag: each.value(state) for each in mirrors}
    return {name: value for name, value in wanted.items() if flags.get(name) != value}


def positive(atom: Atom) -> Atom:
    """The comparison that a flag stands for: unequal is the opposite of equal."""
    return Compare(atom.flag, "=", atom.literal) if isinstance(atom, Compare) and atom.operator == "!=" else atom


def atom_flags(found: Iterable[Atom]) -> dict[Atom, str]:
    """A flag for each comparison."""
    wanted = {each: _name(_words_of(each)) for each in dict.fromkeys(found)}
    return _apart({each: (name, show_condition(each)) for each, name in wanted.items()})


def key_flags(templates: Mapping[str, str]) -> dict[str, str]:
    """A flag for the key of each message, by the id of the message."""
    return _apart({id: (_name(f"key_{id}"), id) for id in templates})


def _apart(wanted: dict[Any, tuple[str, str]]) -> dict[Any, str]:
    counts = Counter(name for name, _ in wanted.values())
    return {
        each: name if counts[name] == 1 and FLAG_NAME.fullmatch(name) else _numbered(name, said)
        for each, (name, said) in wanted.items()
    }


def _numbered(name: str, said: str) -> str:
    cut = name[:50].rstrip("_")
    return f"{cut if FLAG_NAME.fullmatch(cut) else 'orch_state'}_{sha256(said.encode()).hexdigest()[:8]}"


def _name(text: str) -> str:
    return f"orch_{_ODD.sub('_', text.lower()).strip('_')}"


def _words_of(atom: Atom) -> str:
    path = atom.flag.removeprefix("state.")
    match atom:
        case Compare(_, operator, literal):
            return f"{path} {_WORDS[operator]} {_shown(literal)}"
        case Among(_, literals):
            return f"{path} in {' '.join(map(_shown, literals))}"
        case _:
            assert_never(atom)


def _shown(literal: Scalar) -> str:
    if isinstance(literal, bool):
        return "true" if literal else "false"
    return str(literal).replace("-", "minus ") if isinstance(literal, int) else literal or "empty"

"""A compiled runbook: typed arguments, references, edges and branches of its steps, addressed by its content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, assert_never

import msgspec

from perdure.payload import data_hash

OnFailure = Literal["fail", "stop", "continue", "ask", "decide"]
Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in"]
Provenance = Literal["user_provided", "template_default", "inferred_from_context", "copied_from_previous"]
Reevaluate = Literal["decisions", "always"]
Path = tuple[str | int, ...]


class Reference(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in a step's arguments that takes a value out of another step's result."""

    at: Path
    step: str
    path: Path = ()


class Test(msgspec.Struct, frozen=True, omit_defaults=True, tag="test"):
    """A value of a step's result compared with a literal; without an operator, whether it is true."""

    step: str
    path: Path = ()
    operator: Operator | None = None
    value: Any = None


class Not(msgspec.Struct, frozen=True, tag="not"):
    of: Condition


class All(msgspec.Struct, frozen=True, tag="all"):
    of: tuple[Condition, ...]


class Either(msgspec.Struct, frozen=True, tag="any"):
    of: tuple[Condition, ...]


Condition = Test | Not | All | Either


def tests_of(condition: Condition) -> Iterator[Test]:
    """The comparisons a condition is made of."""
    match condition:
        case Test():
            yield condition
        case Not():
            yield from tests_of(condition.of)
        case All() | Either():
            for part in condition.of:
                yield from tests_of(part)
        case _:
            assert_never(condition)


class Branch(msgspec.Struct, frozen=True):
    """A step belongs to one side of a choice and is skipped when the choice comes out the other way."""

    choice: str
    side: bool


class StepPlan(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One step. With a `condition` it is a choice and has no verb; everything else asks for a verb."""

    name: str
    verb: str = ""
    version: int = 0
    definition: str = ""
    args: dict[str, Any] = {}
    """Literals as given; where a reference goes stands null."""
    references: tuple[Reference, ...] = ()
    after: tuple[str, ...] = ()
    """Steps it comes after without needing what they gave."""
    condition: Condition | None = None
    branches: tuple[Branch, ...] = ()
    on_failure: OnFailure = "fail"
    alternative: str = ""
    """The decision verb that is asked when it fails and `on_failure` is decide."""
    gate: str = ""
    """The group of which someone must agree before it runs; the one who asked cannot."""
    reevaluate: Reevaluate = "decisions"
    """Of a decision: `always` asks it again, with its arguments, whenever a wait of the runbook has ended."""
    writes: tuple[str, ...] = ()
    """Entities it changes, `entity/key`, as templates over its arguments (`case/{case_id}`)."""
    sentence: str = ""
    section: str = ""
    provenance: dict[str, Provenance] = {}


class PackPin(msgspec.Struct, frozen=True, omit_defaults=True):
    """The pack and template a runbook was made from, by the hash of their content."""

    id: str
    version: str
    hash: str
    template: str = ""
    template_hash: str = ""


class Plan(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Everything that runs, in the order it was written. Extending one appends steps and changes none before."""

    steps: tuple[StepPlan, ...]
    reevaluate: Reevaluate = "decisions"
    pack: PackPin | None = None
    source: str = ""
    """The text it was compiled from, as far as there was one; not part of the hash."""

    @property
    def content_hash(self) -> str:
        whole = msgspec.to_builtins(self)
        whole.pop("source", None)
        return data_hash(whole)

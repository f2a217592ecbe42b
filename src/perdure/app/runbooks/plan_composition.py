"""Composition: text or calls become a plan, or an extension of one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from perdure.app.runbooks.confirmation import has_to_be_confirmed, weigh
from perdure.app.runbooks.views import PlanView, RunbookView
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.plan import Plan, Reevaluate
from perdure.sources import parse_id
from perdure.verbs import Catalogue

if TYPE_CHECKING:
    from perdure.app.perdure import Perdure

Form = Literal["auto", "lisp", "let"]
SMALL_TEXT = 2000
"""Characters of a program that is compiled in the event loop."""
SMALL_STEPS = 50
"""Steps of a plan that is looked through in the event loop."""
SMALL_VALUES = 500
"""Values in calls that are compiled in the event loop."""


class Composition(msgspec.Struct, frozen=True):
    """A program, or calls: `[{"verb": "kyc.open-case", "args": {"client": {"$": "client"}}, "name": "case"}]`."""

    program: str = ""
    calls: list[Any] | None = None
    variables: dict[str, Any] = {}
    form: Form = "auto"
    reevaluate: Reevaluate = "decisions"
    """`always`: the last decision is asked again at every resume."""

    @property
    def is_small(self) -> bool:
        """Whether compiling it takes the event loop no time worth speaking of."""
        from perdure.runbooks.language.json_calls import counted  # noqa: PLC0415  only who composes needs it

        return len(self.program) <= SMALL_TEXT and counted(self.calls, SMALL_VALUES) <= SMALL_VALUES

    def check(self) -> None:
        if bool(self.program) == (self.calls is not None):
            fact = "exactly one of 'program' and 'calls' says what to do"
            raise RejectedError(Rejection("invalid", "compose", "runbook", "", fact))


def check_words(form: str, reevaluate: str) -> None:
    """Refuse words that nobody knows: they would be passed over, and the runbook be another than was meant."""
    for name, word, known in (("form", form, get_args(Form)), ("reevaluate", reevaluate, get_args(Reevaluate))):
        if word not in known:
            fact = f"{name} is {word!r}"
            raise RejectedError(Rejection("invalid", "compose", "runbook", "", fact, f"Write {' or '.join(known)}."))


def plan_of(catalogue: Catalogue, what: Composition, after: Plan | None = None) -> Plan:
    """The plan of it; ProgramError with everything that is wrong with it."""
    # Only who composes waits for the compiler.
    from perdure.runbooks.language.compiler import compile_calls, compile_program, reevaluated  # noqa: PLC0415
    from perdure.runbooks.language.json_calls import calls_from_json  # noqa: PLC0415

    what.check()
    check_words(what.form, what.reevaluate)
    if what.calls is not None:
        plan = compile_calls(calls_from_json(what.calls), catalogue, variables=what.variables, after=after)
    else:
        plan = compile_program(what.program, catalogue, form=what.form, variables=what.variables, after=after)
    return reevaluated(plan, catalogue) if what.reevaluate == "always" else plan


async def composed(perdure: Perdure, what: Composition, after: Plan | None = None) -> Plan:
    """The plan of it, compiled beside the event loop unless it is small."""
    work = partial(plan_of, perdure.catalogue, what, after)
    is_small = what.is_small and (after is None or len(after.steps) <= SMALL_STEPS)
    return await perdure.runtime.computations.run(perdure._origin.tenant, work, is_small=is_small)


async def shown(perdure: Perdure, plan: Plan) -> PlanView:
    """What a plan would do, with all it can reach; worked out beside the event loop unless it is small."""
    work = partial(perdure.runbooks.plan, plan)
    is_small = len(plan.steps) <= SMALL_STEPS
    view = await perdure.runtime.computations.run(perdure._origin.tenant, work, is_small=is_small)
    return await weigh(perdure, plan, view)


class Extension(msgspec.Struct, frozen=True):
    """A runbook's plan with what is to be added behind it."""

    before: Plan
    whole: Plan

    @property
    def added(self) -> Plan:
        return msgspec.structs.replace(self.whole, steps=self.whole.steps[len(self.before.steps) :])


async def extension_of(perdure: Perdure, id: str, what: Composition) -> Extension:
    """What the plan of a runbook would be, with what is to be added."""
    aggregate = await perdure.runtime.kernel.read(parse_id(id), perdure._origin)
    if getattr(aggregate.state, "course", None) is None:
        fact = "it is no runbook that has been started"
        raise RejectedError(Rejection("wrong_state", "extend", "runbook", id, fact))
    before = await perdure.runtime.conductor.documents.plan(aggregate)
    return Extension(before, await composed(perdure, what, before))


async def show_extension(perdure: Perdure, extension: Extension) -> PlanView:
    """What would be added, with the hash of the whole plan: that is what is agreed to.

    The phrase is that of the whole as well; nothing has to be typed when nothing grave is added.
    """
    whole, added = await shown(perdure, extension.whole), await shown(perdure, extension.added)
    return msgspec.structs.replace(
        added, plan_hash=whole.plan_hash, steps=whole.steps[len(extension.before.steps) :],
        phrase=whole.phrase if has_to_be_confirmed(added) else "",
    )  # fmt: skip


async def extend(
    perdure: Perdure,
    id: str,
    what: Composition,
    known: Extension,
    agreed: str,
    edges: Sequence[tuple[str, str]] = (),
) -> RunbookView:
    """Add the steps; refused when the plan they make is no longer the one that was looked at."""

    def grow(before: Plan) -> Plan:
        is_known = before.content_hash == known.before.content_hash
        whole = known.whole if is_known else plan_of(perdure.catalogue, what, before)
        if whole.content_hash != agreed:
            fact, hint = "its plan has changed meanwhile", "Look at it again and extend it anew."
            raise RejectedError(Rejection("blocked", "extend", "runbook", id, fact, hint))
        return whole

    await perdure.runtime.conductor.plans.extend(parse_id(id), perdure._origin, grow, edges)
    return await perdure.runbooks.show(id)

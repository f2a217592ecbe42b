"""Sources of a plan: a program, calls as JSON, or a kept draft."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from perdure.app.operations.drafts import read_draft
from perdure.app.operations.request_fields import ById
from perdure.app.runbooks.drafts import compiled_draft
from perdure.app.runbooks.plan_composition import Composition, composed
from perdure.errors import RejectedError, Rejection
from perdure.runbooks.drafts.draft import Draft
from perdure.runbooks.plan import Plan, StepPlan
from perdure.surfaces.mcp.tool import ToolSession
from perdure.typed_reading import convert

Program = Annotated[
    str,
    Meta(
        description=(
            "A runbook program: calls such as (kyc.open-case :entity \"Allianz GmbH\" :as @case), where a later call "
            "takes a result as @case.case_id and a variable as $client."
        ),
        max_length=200_000,
    ),
]  # fmt: skip
Variables = Annotated[dict[str, Any], Meta(description="Values of the variables that are referred to, by name.")]
DraftId = Annotated[str, Meta(description="The id of a draft.", max_length=80)]
Case = Annotated[str, Meta(description="The case it belongs to: your own key for what it is about.", max_length=200)]


class Call(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One call of a plan. In its args {"@": "case.case_id"} stands for a result and {"$": "client"} for a variable."""

    verb: str
    args: dict[str, Any] = {}
    name: Annotated[str, Meta(description="How later calls refer to it.")] = ""
    after: Annotated[list[str], Meta(description="Calls it comes after though it needs nothing of them.")] = []
    on_failure: Literal["fail", "stop", "continue", "ask", "decide"] = "fail"
    alternative: Annotated[str, Meta(description="The decision verb that is asked with on_failure 'decide'.")] = ""
    gate: Annotated[str, Meta(description="A group of which someone must agree before it runs.")] = ""
    reevaluate: Annotated[
        Literal["decisions", "always"],
        Meta(description="'always': this decision is asked again, with its arguments, whenever a wait has ended."),
    ] = "decisions"
    section: str = ""


Calls = Annotated[list[Call], Meta(description="The calls as JSON, instead of a program.", max_length=1000)]


class Source(msgspec.Struct, frozen=True):
    """Exactly one of program and calls; or a draft where one can be."""

    program: str = ""
    calls: list[Call] = []
    variables: dict[str, Any] = {}
    draft: str = ""

    def composition(self) -> Composition:
        """The program or the calls, as operations take them."""
        _require_one(self)
        return Composition(self.program, msgspec.to_builtins(self.calls) or None, self.variables)


async def plan_of(desk: ToolSession, source: Source) -> Plan:
    """The plan of whatever was given; ProgramError tells everything that is wrong with it."""
    _require_one(source)
    if source.draft:
        return await compiled_draft(desk.perdure, await draft_of(desk, source.draft))
    return await composed(desk.perdure, source.composition())


async def draft_of(desk: ToolSession, id: str) -> Draft:
    """A draft as it reads now."""
    view = await desk.perform(read_draft, ById(id))
    try:
        return convert(view.document, Draft)
    except msgspec.ValidationError as error:
        fact = f"its document is not a plan ({error})"
        raise RejectedError(Rejection("wrong_state", "read", "draft", id, fact)) from error


def check_verbs(desk: ToolSession, operation: str, steps: tuple[StepPlan, ...]) -> None:
    """Every verb of a plan is authorised by itself."""
    desk.check(operation)
    for name in {each for step in steps for each in (step.verb, step.alternative) if each}:
        desk.check(operation, name)


def _require_one(source: Source) -> None:
    given = [name for name in ("program", "calls", "draft") if getattr(source, name)]
    if len(given) != 1:
        fact = f"it got {' and '.join(given)}" if given else "it got none of them"
        hint = "Give exactly one of program, calls and, where it can be given, draft."
        raise RejectedError(Rejection("invalid", "plan", "runbook", ",".join(given) or "nothing", fact, hint))

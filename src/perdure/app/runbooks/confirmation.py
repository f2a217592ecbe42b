"""Confirmation: a grave plan starts only when a person has seen that very plan and agreed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from perdure.access.principal import Principal
from perdure.app.access.data_verbs import UNKNOWN
from perdure.app.lifecycles.lifecycle_verbs import called_unasked
from perdure.app.processes.model_review import Proposed
from perdure.app.runbooks.views import PlannedStepView, PlanView, phrase_of
from perdure.engine import Vet
from perdure.errors import ConfirmationRequiredError, Rejection
from perdure.lifecycles.content import content_of
from perdure.lifecycles.machine.definition import Lifecycle
from perdure.payload import data_hash, digest, digest_text
from perdure.runbooks.language.dry_run import tier_reason
from perdure.runbooks.plan import Plan, StepPlan
from perdure.sources import SECOND, Id, fresh_secret, id_text
from perdure.verb_contract import CONSEQUENCE_TIERS, ConsequenceTier
from perdure.verbs.consequence_tier import Consequence
from perdure.verbs.sentences import render
from perdure.work.ports import Answered, Claim

if TYPE_CHECKING:
    from perdure.app.operations.operation import Context
    from perdure.app.perdure import Perdure
    from perdure.app.processes.processes import ProcessStart

CONFIRMED_FROM = CONSEQUENCE_TIERS.index("requires_confirmation")
MAX_SENTENCES = 50
MAX_CONFIRMATION = 120
KEEP_IT = "Keep it as a draft: a person can start that."
NOTHING = PlanView("", [], [], [], CONSEQUENCE_TIERS[0], "nothing in it has consequences", [], [])


async def check_confirmed(
    plan: PlanView, principal: Principal, confirm: str = "", phrase: str = "", *, draft: str = "", else_hint: str = ""
) -> None:
    """Nothing when the plan may start; else ConfirmationRequiredError with all that a person needs to confirm it.

    `draft` is where the plan is kept for a person to open, when somebody asked who is none; `else_hint` says what they
    can do where no draft can be made of it.
    """
    needed = plan.phrase
    if confirm and confirmed_hash(confirm) != plan.plan_hash:
        fact, hint = "another plan was confirmed than this one", "Look at the plan again and confirm its hash."
        raise _required(plan, needed, draft, fact, hint)
    if not has_to_be_confirmed(plan):
        return
    if not principal.is_person:
        fact = f"a person has to confirm it and '{principal.name}' is {_a(principal.kind)}"
        hint = f"A person can start the draft {draft}." if draft else else_hint or KEEP_IT
        raise _required(plan, needed, draft, fact, hint)
    if not confirm:
        fact = f"it has to be confirmed because {plan.tier_reason or f'it is of tier {plan.tier}'}"
        raise _required(plan, needed, draft, fact, f"Look at the plan and send confirm: {plan.plan_hash}.")
    if needed and phrase != needed:
        fact = "its phrase is missing" if not phrase else "its phrase is not the one asked for"
        raise _required(plan, needed, draft, fact, f"Send phrase: {needed}.")


def confirmed_hash(confirm: str) -> str:
    """The hash of the plan that a confirmation is for; behind a `#` stands which confirmation of it this is."""
    return confirm.partition("#")[0]


async def use_confirmation(
    perdure: Perdure, principal: Principal, plan: PlanView, confirm: str, idempotency_key: str = ""
) -> None:
    """Let a confirmation count, once: another start needs another look, unless it is the same request again."""
    if not confirm or not has_to_be_confirmed(plan):
        return
    sources, book = perdure.runtime.sources, perdure.runtime.store.answers
    now, owner = sources.now(), bytes(sources.new_id())
    request = sha256(idempotency_key.encode() or owner).digest()
    name = (principal.tenant, principal.name, f"confirm:{confirm[:MAX_CONFIRMATION]}")
    known = await book.claim(*name, Claim(request, owner, now, now - SECOND))
    if known is None:
        await book.settle(*name, owner, Answered(request, 200, b"", now))
    elif known == "running" or known.request != request:
        again = msgspec.structs.replace(plan, plan_hash=f"{plan.plan_hash}#{fresh_secret(4).hex()}")
        fact = "that confirmation has counted already"
        raise _required(again, plan.phrase, "", fact, f"To do it once more, send confirm: {again.plan_hash}.")


async def weigh(perdure: Perdure, plan: Plan, view: PlanView) -> PlanView:
    """The view of a plan, as grave as everything that its steps can reach as deployed now."""
    catalogue = perdure.catalogue
    named = {
        each: step.name
        for step in reversed(plan.steps)
        for each in ((step.verb, step.version or None), (step.alternative, None))
        if each[0]
    }
    for (name, version), step in reversed(named.items()):
        if (verb := catalogue.find(name, version)) is not None:
            found = await perdure.processes.consequence_of_verb(verb)
            view = raised(view, found.tier, tier_reason(step, verb.name, found))
    return view


def raised(view: PlanView, tier: ConsequenceTier, reason: str) -> PlanView:
    """A plan that is no milder than a tier."""
    if CONSEQUENCE_TIERS.index(tier) <= CONSEQUENCE_TIERS.index(view.tier):
        return view
    phrase = phrase_of(tier, len(view.steps))
    return msgspec.structs.replace(view, tier=tier, tier_reason=reason, phrase=phrase)


async def plan_of_call(
    perdure: Perdure, verb: str, args: Mapping[str, Any] | None = None, version: int | None = None
) -> PlanView:
    """A single call as a plan of one step, so that it is confirmed the same way."""
    plan = call_plan(perdure, verb, args, version)
    return await weigh(perdure, plan, perdure.runbooks.plan(plan))


def plan_of_starts(perdure: Perdure, starts: Sequence[ProcessStart], data: Mapping[str, Any] | None) -> PlanView:
    """Processes that would begin as one plan: calls of the verbs they carry, and of those without one a start."""
    verbs = list(dict.fromkeys(each.verb for each in starts if each.verb))
    names = ["call"] if len(verbs) == 1 else [f"call-{number}" for number in range(1, len(verbs) + 1)]
    steps = [_step(perdure, name, verb, data) for name, verb in zip(names, verbs, strict=True)]
    view = perdure.runbooks.plan(Plan(steps=tuple(steps))) if steps else NOTHING
    bare = [each for each in starts if not each.verb]
    if bare:
        more = [
            PlannedStepView(f"start-{number}", len(view.steps) + number, each.process, f"Start {each.process}")
            for number, each in enumerate(bare, 1)
        ]
        hash = data_hash([view.plan_hash, [[each.process, each.hash] for each in bare], dict(data or {})])
        view = msgspec.structs.replace(view, plan_hash=hash, steps=[*view.steps, *more])
    for each in starts:
        due_to = each.consequence.due_to
        reason = f"{each.process} reaches {due_to}" if due_to else f"{each.process} was deployed as that grave"
        view = raised(view, each.consequence.tier, reason)
    return view


def call_plan(perdure: Perdure, verb: str, args: Mapping[str, Any] | None = None, version: int | None = None) -> Plan:
    """The plan whose only step is the call."""
    return Plan(steps=(_step(perdure, "call", verb, args, version),))


async def plan_of_lifecycle(perdure: Perdure, definition: Lifecycle, asked: Mapping[str, Any]) -> PlanView:
    """A lifecycle as a plan: the calls that it makes by itself, with nobody to ask."""
    name, verbs = definition.name, called_unasked(definition)
    steps = [
        PlannedStepView(f"call-{number}", number, verb, f"Call {verb} whenever {name} needs it")
        for number, verb in enumerate(verbs, 1)
    ]
    hash = data_hash([digest_text(digest(content_of(definition))), dict(asked)])
    view = msgspec.structs.replace(NOTHING, plan_hash=hash, steps=steps)
    for each in verbs:
        if (verb := perdure.catalogue.find(each)) is not None:
            found = await perdure.processes.consequence_of_verb(verb)
            view = raised(view, found.tier, f"{name} calls {verb.name} by itself")
    return view


async def check_deployment(context: Context, proposed: Proposed, confirm: str = "", phrase: str = "") -> None:
    """Refuse to deploy what reaches something grave, unless a person does.

    Where such a process may begin with nobody to ask, the person confirms it now, for all those times.
    """
    principal = context.principal
    new = [each for each in proposed.judged if each.known is None and each.consequence is not None]
    if not new:
        return  # all of it was deployed, and confirmed, before
    view = msgspec.structs.replace(NOTHING, plan_hash=data_hash([digest_text(digest(each.data)) for each in new]))
    for number, each in enumerate(new, 1):
        process, found = each.deployed.process.id, each.consequence or Consequence()
        begins = ", which may begin with nobody to ask" if process in proposed.unasked else ""
        step = PlannedStepView(process, number, process, f"Deploy {process}{begins}")
        view = msgspec.structs.replace(view, steps=[*view.steps, step])
        if begins or not principal.is_person:
            view = raised(view, found.tier, f"{process} reaches {found.due_to}")
    await check_confirmed(view, principal, confirm, phrase, else_hint="A person can deploy it.")
    await use_confirmation(context.perdure, principal, view, confirm, context.idempotency_key)


def vetted(
    context: Context,
    operation: str,
    data: Mapping[str, Any] | None,
    confirm: str = "",
    phrase: str = "",
    message_id: str = "",
) -> Vet | None:
    """Vets the processes that a message or a signal would begin by the same rules as starting them; None for the owner.

    Every verb they can reach must be reached, every verb of the instances that it moves as well, and what is grave
    confirmed, all of it as one plan. A confirmation counts for one message; sent again under its id, that is the same.
    """
    if context.is_owner:
        return None
    perdure, principal = context.perdure, context.principal

    async def vet(starts: Sequence[Id] = (), waits: Sequence[Id] = (), *, is_kept: bool = False) -> None:
        if context.is_narrow:
            context.check_all(operation, UNKNOWN if is_kept else ())
            context.check_all(operation, await perdure.data_verbs.of_processes(starts))
            for each in waits:
                context.check_all(operation, await perdure.data_verbs.of_id(id_text(each)))
        begun = await perdure.processes.started(starts)
        if begun:
            plan = plan_of_starts(perdure, begun, data)
            await check_confirmed(plan, principal, confirm, phrase, else_hint="A person can send it.")
            await use_confirmation(perdure, principal, plan, confirm, message_id or context.idempotency_key)

    return vet


def _step(
    perdure: Perdure, name: str, verb: str, args: Mapping[str, Any] | None, version: int | None = None
) -> StepPlan:
    found, given = perdure.catalogue.get(verb, version), dict(args or {})
    sentence = render(found.definition, given)
    return StepPlan(name=name, verb=found.name, version=found.version, args=given, sentence=sentence)


def has_to_be_confirmed(plan: PlanView) -> bool:
    """Whether a person has to agree to it before it starts."""
    return CONSEQUENCE_TIERS.index(plan.tier) >= CONFIRMED_FROM


def _required(plan: PlanView, phrase: str, draft: str, fact: str, hint: str) -> ConfirmationRequiredError:
    rejection = Rejection("blocked", "start", "plan", plan.plan_hash, fact, hint)
    sentences = [step.sentence or step.verb for step in plan.steps if step.verb][:MAX_SENTENCES]
    return ConfirmationRequiredError(
        rejection,
        plan_hash=plan.plan_hash,
        tier=plan.tier,
        reason=plan.tier_reason,
        phrase=phrase,
        sentences=sentences,
        draft=draft,
    )


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"

"""Operations on verbs: list them, show one, call one."""

from __future__ import annotations

from msgspec import field

from perdure.app.calls.views import CallView
from perdure.app.operations.operation import Context, Request, Route, operation
from perdure.app.operations.request_fields import Data, Name, Query, Version, waited
from perdure.app.operations.verb_scopes import NAMED_VERB, NO_VERB
from perdure.app.runbooks.confirmation import plan_of_call
from perdure.app.runbooks.plan_composition import Composition
from perdure.app.runbooks.plan_start_checks import check_agreed
from perdure.app.runbooks.views import call_of_step
from perdure.app.verb_views import Verbs, VerbView, verb_row, verb_view
from perdure.errors import RejectedError, Rejection
from perdure.verb_contract import is_grave
from perdure.verbs import Verb

TAG = "verbs"


class ListVerbs(Request, frozen=True):
    """Words that names or descriptions must have."""

    q: Query = ""


class ShowVerb(Request, frozen=True):
    """A verb, in its latest version unless one is named."""

    name: Name
    version: Version = None


class CallVerb(Request, frozen=True):
    """A verb's arguments. `wait` returns only when the call has ended or the time is up."""

    name: Name
    args: Data = field(default_factory=dict)
    version: int | None = None
    wait: bool | None = None
    timeout_seconds: float | None = None
    confirm: str = ""
    phrase: str = ""


@operation("verb.list", Route("GET", "/verbs"), tag=TAG, scope=NO_VERB)
async def list_verbs(context: Context, request: ListVerbs) -> Verbs:
    """Every verb, or those whose name or description has the words."""
    words = request.q.lower().split()
    rows = [verb_row(verb) for verb in context.perdure.catalogue]
    found = [row for row in rows if all(word in f"{row.name} {row.description}".lower() for word in words)]
    return Verbs(sorted(found, key=lambda row: row.name))


@operation("verb.read", Route("GET", "/verbs/{name}"), tag=TAG, scope=NO_VERB)
async def show_verb(context: Context, request: ShowVerb) -> VerbView:
    """One verb, in its newest version unless another is named."""
    catalogue = context.perdure.catalogue
    verb = catalogue.get(request.name, request.version)
    return verb_view(verb, catalogue.versions(verb.name))


def _check_draftable(context: Context, verb: Verb, args: Data) -> None:
    """Refuse to whoever is no person a call that no draft can hold for one."""
    if context.principal.is_person:
        return
    if verb.version != context.perdure.catalogue.get(verb.name).version:
        fact, hint = f"version {verb.version} is not the newest", "Leave the version out."
        raise RejectedError(Rejection("invalid", "draft a call of", "verb", verb.name, fact, hint))
    verb.check_input(args)


@operation(
    "verb.call",
    Route("POST", "/verbs/{name}/calls", 201, location="/api/calls/", needs_body=True),
    tag=TAG,
    scope=NAMED_VERB,
    repeat="domain",
)
async def call_verb(context: Context, request: CallVerb) -> CallView:
    """Ask for a verb. Answers when it has completed, failed or parked, and all of it is durable."""
    perdure = context.perdure
    verb = perdure.catalogue.get(request.name, request.version)
    if is_grave((await perdure.processes.consequence_of_verb(verb)).tier):
        plan = await plan_of_call(perdure, verb.name, request.args, request.version)
        _check_draftable(context, verb, request.args)
        what = Composition(calls=[{"verb": verb.name, "args": request.args}])
        started = await check_agreed(context, plan, request.confirm, request.phrase, what=what)
        if started is not None:
            return call_of_step(started, verb.name, verb.version)
    return await perdure.call(
        request.name,
        request.args,
        version=request.version,
        idempotency_key=context.idempotency_key,
        wait=request.wait,
        timeout_seconds=waited(request.timeout_seconds),
    )

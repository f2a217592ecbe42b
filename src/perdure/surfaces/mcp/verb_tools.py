"""Tools about verbs: find one, read what it takes and does, ask for it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from perdure.app import verb_views
from perdure.app.calls.views import CallView
from perdure.app.operations import verbs as operations
from perdure.surfaces.mcp.answer_truncation import ALONE, fitted, reading, short
from perdure.surfaces.mcp.confirmation import Confirmation, confirmed
from perdure.surfaces.mcp.shared_schemas import (
    ASK_A_PERSON,
    REST_SECONDS,
    Agreement,
    Failed,
    IdempotencyKey,
    Limit,
    Phrase,
    Wait,
    WaitSeconds,
    failed,
    waiting,
)
from perdure.surfaces.mcp.tool import Tool, ToolSession
from perdure.verb_contract import is_grave
from perdure.verbs.consequence_tier import consequence_of

VerbName = Annotated[str, Meta(description="The verb's full name, such as 'kyc.open-case'.", max_length=200)]
DURABLE = "durable"
CallOutcome = Literal["completed", "waiting", "failed", "cancelled", "running", "needs_confirmation"]


class ListVerbs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to look for."""

    words: Annotated[
        str,
        Meta(description="What it should do, in a few words; best matches first. All verbs without.", max_length=500),
    ] = ""
    limit: Limit = 20
    after: Annotated[str, Meta(description="'next' of the page before.", max_length=200)] = ""


class VerbRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A verb in a list."""

    name: str
    description: str
    consequence: str
    needs_confirmation: bool
    is_durable: bool
    may_call: bool
    sentence: str = ""


class VerbPage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Some verbs; with `next` there are more."""

    items: list[VerbRow]
    total: int
    next: str = ""


class DescribeVerb(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which verb."""

    verb: VerbName
    version: Annotated[int | None, Meta(description="The newest one without.")] = None


class VerbDescription(msgspec.Struct, frozen=True, omit_defaults=True):
    """A verb: what it takes, what it gives and how grave it is."""

    name: str
    version: int
    versions: list[int]
    description: str
    consequence: str
    needs_confirmation: bool
    is_durable: bool
    """It may wait for people or systems, for days; the answer of a call is then 'waiting'."""
    may_call: bool
    arguments: Any
    """JSON Schema of the arguments."""
    result: Any = None
    """JSON Schema of the result; nothing was promised without one."""
    sentences: list[str] = []
    questions: dict[str, str] = {}
    """What to ask a person about an argument that is not known."""
    is_decision: bool = False
    timeout_seconds: float | None = None
    index: list[str] = []


class CallVerb(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to ask for."""

    verb: VerbName
    args: Annotated[dict[str, Any], Meta(description="By name, as describe_verb's 'arguments' says.")] = {}
    version: Annotated[int | None, Meta(description="The newest one without.")] = None
    idempotency_key: IdempotencyKey = ""
    wait_seconds: WaitSeconds = 0
    confirm: Agreement = ""
    phrase: Phrase = ""


class CallAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a call so far, and what to do next."""

    outcome: CallOutcome
    next: str
    id: str = ""
    verb: str = ""
    result: Any = None
    error: Failed | None = None
    waiting_for: Wait | None = None
    confirmation: Confirmation | None = None


async def list_verbs(desk: ToolSession, asked: ListVerbs) -> VerbPage:
    """Find out what can be done here. Verbs are the typed operations of this platform.

    Start here. Give a few words to search by meaning of names, descriptions and phrases, or none to page through all.
    Each item says how grave the verb is: with 'needs_confirmation' only a person can start it, and with 'may_call'
    false your key does not reach it. Then read describe_verb before you call or plan it.
    """
    every = {row.name: row for row in (await desk.perform(operations.list_verbs, operations.ListVerbs())).items}
    found = desk.perdure.catalogue.search(asked.words, len(every)) if asked.words.strip() else ()
    names = [verb.name for verb in found] if asked.words.strip() else list(every)
    first = names.index(asked.after) + 1 if asked.after in names else 0
    page = names[first : first + asked.limit]
    more = page[-1] if page and first + asked.limit < len(names) else ""
    return VerbPage([_row(desk, every[name]) for name in page], len(names), more)


def _row(desk: ToolSession, row: verb_views.VerbRow) -> VerbRow:
    return VerbRow(
        row.name, short(row.description), row.consequence, _needs_person(desk, row), row.kind == DURABLE,
        desk.may("verb.call", row.name), short(next(iter(row.sentences), "")),
    )  # fmt: skip


def _needs_person(desk: ToolSession, verb: verb_views.VerbRow | verb_views.VerbView) -> bool:
    """Whether a call of a verb reaches something that only a person starts."""
    catalogue = desk.perdure.catalogue
    return is_grave(consequence_of(catalogue, catalogue.get(verb.name, verb.version)).tier)


async def describe_verb(desk: ToolSession, asked: DescribeVerb) -> VerbDescription:
    """Read what one verb takes, gives and means before you use it.

    'arguments' is the JSON Schema that args of call_verb, or of a call in a plan, must fit. 'is_durable' tells that a
    call may wait for the outside world. An unknown name is refused with the nearest known one.
    """
    verb = await desk.perform(operations.show_verb, operations.ShowVerb(asked.verb, asked.version))
    rest = f"Read the resource perdure://verbs/{verb.name}."
    return VerbDescription(
        verb.name, verb.version, verb.versions, verb.description, verb.consequence, _needs_person(desk, verb),
        verb.kind == DURABLE, desk.may("verb.call", verb.name), fitted(verb.input_schema, ALONE, rest),
        fitted(verb.output_schema, ALONE, rest), verb.sentences["step"], verb.sentences["clarify"],
        verb.execution["decision"], verb.execution["timeout_seconds"], verb.index,
    )  # fmt: skip


async def call_verb(desk: ToolSession, asked: CallVerb) -> CallAnswer:
    """Ask for one verb. Whatever it is, what you asked is durable once this answers: it is never lost.

    For several verbs that depend on one another use plan_runbook and run_runbook instead. Give an idempotency_key that
    is yours for this request, and repeat the request with it if you are not sure it arrived: it happens once.
    Outcomes: 'completed' with its result; 'waiting' for somebody or something ('waiting_for' says what; look again with
    workflow_status); 'running'; 'failed' or 'cancelled' with the error; 'needs_confirmation': nothing was started, tell
    the person what 'confirmation' says and ask them to start the draft; you cannot.
    """
    verb = desk.perdure.catalogue.get(asked.verb, asked.version)
    request = operations.CallVerb(
        verb.name, asked.args, asked.version, asked.wait_seconds > 0, asked.wait_seconds or REST_SECONDS,
        asked.confirm, asked.phrase,
    )  # fmt: skip
    act = desk.perform(operations.call_verb, request, key=asked.idempotency_key)
    told = await confirmed(desk, act, asked.confirm)
    if isinstance(told, Confirmation):
        return CallAnswer("needs_confirmation", ASK_A_PERSON, verb=verb.name, confirmation=told)
    return call_answer(told)


_NEXT: dict[CallOutcome, str] = {
    "completed": "Done.",
    "waiting": "It goes on by itself once what it waits for is here. Look again with workflow_status.",
    "running": "Look again with workflow_status.",
    "failed": "Nothing goes on by itself. Correct what the error says and call again under a new key.",
    "cancelled": "Somebody stopped it.",
}
_OUTCOMES: dict[str, CallOutcome] = {"completed": "completed", "failed": "failed", "cancelled": "cancelled"}


def call_answer(view: CallView) -> CallAnswer:
    """What a call looks like to an agent."""
    outcome = _OUTCOMES.get(view.state) or ("waiting" if view.waiting_for is not None else "running")
    result = fitted(view.result, ALONE, reading(view.id, "", "result"))
    return CallAnswer(
        outcome, _NEXT[outcome], view.id, view.verb, result, failed(view.error), waiting(view.waiting_for)
    )  # fmt: skip


TOOLS = (
    Tool(
        title="List verbs", operation="verb.list", takes=ListVerbs, gives=VerbPage, act=list_verbs, is_reading=True,
    ),
    Tool(
        title="Describe a verb", operation="verb.read", takes=DescribeVerb, gives=VerbDescription, act=describe_verb,
        is_reading=True,
    ),
    Tool(title="Call a verb", operation="verb.call", takes=CallVerb, gives=CallAnswer, act=call_verb),
)  # fmt: skip

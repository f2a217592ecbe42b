"""Writes the generated half of the Python API's reference: `python -m tests.house.api`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from perdure.access.principal import Principal
from perdure.app.access.api_keys import KeyOperations, KeyView, NewKey
from perdure.app.calls.views import (
    AmendmentView,
    AttemptView,
    CallView,
    CarrierView,
    ErrorView,
    EventView,
    IncidentView,
    ReceiptView,
    WaitingFor,
)
from perdure.app.entity_lookup import MatchView
from perdure.app.facade.lists import Listing
from perdure.app.feed.feed import Feed, FeedItem
from perdure.app.instances.views import InstanceView, TokenView, WaitView
from perdure.app.lists.cursors import Page
from perdure.app.lists.list_rows import ActionView, DeadLetterItem, InstanceRow, ParkedItem, RunbookRow, StuckView
from perdure.app.outcomes.event_table import OutcomeEvent
from perdure.app.overview.overview import Hour, NeedsMe, Overview, Running, Stuck, Waits
from perdure.app.perdure import Perdure
from perdure.app.processes.processes import InstanceOperations, Processes
from perdure.app.runbooks.runbooks import RunbookOperations
from perdure.app.runbooks.usage_views import UsageView
from perdure.app.runbooks.views import PlanDiff, PlannedStepView, PlanView, RunbookView, StepView
from perdure.app.tasks.tasks import TaskOperations
from perdure.app.tasks.views import FieldError, RungView, TaskView
from perdure.app.wait_permissions import WaitPermissions
from perdure.app.workflows.views import ExecutionView, VariableView, WorkflowView
from perdure.app.workflows.workflows import Workflows
from perdure.client.asynchronous.catalogue import VerbDesk
from perdure.client.asynchronous.client import AsyncClient
from perdure.client.asynchronous.runbooks import DraftDesk
from perdure.engine import Deployment, MigrationPlan, Move, NewVerb, ProcessVersion
from perdure.runbooks.executor.agent_proposal import Proposal
from perdure.testing.sandbox import Sandbox
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "reference" / "python-api.md"
MARK = "<!-- generated: python -m tests.house.api -->\n"
VIEWS = (
    CallView, WaitingFor, ErrorView, AttemptView, AmendmentView, ReceiptView, EventView, OutcomeEvent, CarrierView,
    InstanceView, TokenView, WaitView, IncidentView, TaskView, RungView, FieldError, Deployment, ProcessVersion,
    MigrationPlan, Move, NewVerb, MatchView, UsageView, Proposal, RunbookView, StepView, PlanView,
    PlannedStepView, PlanDiff, KeyView,
    NewKey, Principal, Page, RunbookRow, InstanceRow, ParkedItem, StuckView, ActionView, DeadLetterItem, FeedItem,
    Overview, NeedsMe, Stuck, Running, Hour, Waits, WorkflowView, VariableView, ExecutionView,
)  # fmt: skip
DESKS = {
    "perdure.processes": Processes, "perdure.instances": InstanceOperations, "perdure.tasks": TaskOperations,
    "perdure.workflows": Workflows,
    "perdure.runbooks": RunbookOperations, "perdure.access": KeyOperations,
    "perdure.listing": Listing, "perdure.feed": Feed, "perdure.waits": WaitPermissions,
}  # fmt: skip
CLIENT_DESKS = {"client.drafts": DraftDesk, "client.verbs": VerbDesk}
"""Those that only a client has; the others say the same as those of the platform."""
WIDTH = 110


def public(kind: type, beside: type | None = None) -> dict[str, Any]:
    """The public functions of a class in the order of its text; those of `beside` left out unless they differ."""
    found = {name: inspect.unwrap(getattr(kind, name)) for name in dir(kind) if not name.startswith("_")}
    functions = {name: value for name, value in found.items() if inspect.isroutine(value)}
    if beside is not None:
        functions = {name: value for name, value in functions.items() if name in vars(kind)}
    return dict(sorted(functions.items(), key=lambda each: inspect.getsourcelines(each[1])[1]))


def generated() -> str:
    """The region below the mark."""
    desks = [line for name, kind in DESKS.items() for line in _methods(name, public(kind), kind)]
    sandbox = _methods("Sandbox", public(Sandbox, Perdure), Sandbox)
    client = [*_methods("AsyncClient", public(AsyncClient), AsyncClient)]
    client += [line for name, kind in CLIENT_DESKS.items() for line in _methods(name, public(kind), kind)]
    return "\n".join([*_methods("Perdure", public(Perdure), Perdure), *desks, *client, *sandbox, *_views()])


def _methods(title: str, functions: dict[str, Any], kind: type) -> Iterator[str]:
    yield f"## {title}\n\n{_doc(kind)}\n"
    for name, function in functions.items():
        yield f"### {title}.{name}\n\n```text\n{_signature(name, function)}\n```\n\n{_doc(function)}\n"


def _signature(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    parameters = [_parameter(each) for each in signature.parameters.values() if each.name not in ("self", "cls")]
    kinds = [each.kind for each in signature.parameters.values() if each.name not in ("self", "cls")]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        parameters.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    returned = str(signature.return_annotation).strip("'")
    line = f"{name}({', '.join(parameters)}) -> {returned}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {each}," for each in parameters), f") -> {returned}"])


def _parameter(each: inspect.Parameter) -> str:
    star = "**" if each.kind is inspect.Parameter.VAR_KEYWORD else ""
    default = "" if each.default is inspect.Parameter.empty else f" = {each.default!r}"
    return f"{star}{each.name}: {str(each.annotation).strip(chr(39))}{default}"


def _views() -> Iterator[str]:
    yield "## Values\n"
    for view in VIEWS:
        yield f"### {view.__name__}\n\n{_doc(view)}\n\n| field | type |\n|---|---|"
        for field in msgspec.structs.fields(view):
            kind = str(view.__annotations__[field.encode_name]).replace("|", "\\|")
            yield f"| `{field.name}` | `{kind}` |"
        yield ""


def _doc(thing: Any) -> str:
    return re.sub(r"[ \t]+\n", "\n", inspect.getdoc(thing) or "")


def written() -> str:
    """The page as it should be: the hand-written half as it is, the rest generated."""
    page = PAGE.read_text(encoding="utf-8")
    return page.partition(MARK)[0] + MARK + "\n" + generated().rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")

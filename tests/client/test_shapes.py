"""The client says what the platform says: the same names, the same parameters, and both halves have all of them."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from perdure.app import packs
from perdure.app.access import api_keys
from perdure.app.facade import deployments as facade_deployments
from perdure.app.facade import lifecycles as facade_lifecycles
from perdure.app.feed import feed
from perdure.app.perdure import Perdure
from perdure.app.processes import processes
from perdure.app.runbooks import runbooks
from perdure.app.tasks import tasks
from perdure.client import AsyncClient, Client
from perdure.client.asynchronous import api_keys as client_api_keys
from perdure.client.asynchronous import catalogue as client_catalogue
from perdure.client.asynchronous import journals as client_journals
from perdure.client.asynchronous import lifecycles as client_lifecycles
from perdure.client.asynchronous import processes as client_processes
from perdure.client.asynchronous import runbooks as client_runbooks
from perdure.client.asynchronous import tasks as client_tasks

PAIRS: dict[str, tuple[type, type]] = {
    "": (Perdure, AsyncClient),
    "runbooks": (runbooks.RunbookOperations, client_runbooks.RunbookDesk),
    "processes": (processes.Processes, client_processes.Processes),
    "deployments": (facade_deployments.DeploymentDesk, facade_deployments.DeploymentDesk),
    "instances": (processes.InstanceOperations, client_processes.InstanceDesk),
    "tasks": (tasks.TaskOperations, client_tasks.TaskDesk),
    "access": (api_keys.KeyOperations, client_api_keys.AccessDesk),
    "feed": (feed.Feed, client_journals.Feed),
    "lifecycles": (facade_lifecycles.LifecycleDesk, client_lifecycles.LifecycleDesk),
    "packs": (packs.PackOperations, client_catalogue.PackDesk),
}
LACKING = {
    "open", "from_config", "acting",  # a server has its store, and a key stands for one principal
    "look_up", "metrics",  # what servers ask of the platform
    "runbooks.compile",  # programs are compiled where the verbs are
    "runbooks.open_draft", "runbooks.draft", "runbooks.revise", "runbooks.undo", "runbooks.redo",
    "runbooks.start_draft",  # `client.drafts` speaks programs and calls
    "processes.deploy_all", "processes.propose", "processes.enter",  # models travel as text: `deploy_text`
    "processes.judge_all", "processes.read_model",  # what those two are made of
    "processes.started", "processes.start_of", "processes.start_under", "processes.consequence_of_verb",
    "instances.drawing",  # `diagram` says the same as XML
    "tasks.open_at", "tasks.proposal", "tasks.verbs", "tasks.is_failure", "tasks.act", "tasks.shown",
    "tasks.accepted", "feed.seen_by",
    "processes.verbs", "processes.verbs_of_all",
    "access.events", "access.authenticate_key", "access.principal_of_key", "access.has_keys", "access.end_session",
    "access.is_ended",
}  # fmt: skip
EXTRA = {"seen", "confirm", "phrase"}
"""What only a server asks for: all of it by name, and none of it has to be given."""
MISSING = {"runbooks.extend": {"file"}, "access.create_key": {"by"}}


def operations(kind: type) -> dict[str, Any]:
    return {
        name: inspect.unwrap(value)
        for name, value in inspect.getmembers(kind)
        if not name.startswith("_") and inspect.isroutine(value)
    }


@pytest.mark.req("P6")
def test_what_both_have_is_asked_for_in_the_same_words() -> None:
    compared = 0
    for room, (ours, theirs) in PAIRS.items():
        here, there = operations(ours), operations(theirs)
        for name in here.keys() & there.keys():
            place = f"{room}.{name}".lstrip(".")
            platform, client = _parameters(here[name]), _parameters(there[name])
            for missing in MISSING.get(place, ()):
                del platform[missing]
            more = {each: client.pop(each) for each in list(client) if each not in platform}
            assert client == platform and list(client) == list(platform), place
            assert more.keys() <= EXTRA, place
            assert all(kind == inspect.Parameter.KEYWORD_ONLY for kind, _ in more.values()), place
            assert all(default in (None, "") for _, default in more.values()), place
            compared += 1
    assert compared > 80


def _parameters(function: Any) -> dict[str, tuple[Any, Any]]:
    return {name: (each.kind, each.default) for name, each in inspect.signature(function).parameters.items()}


@pytest.mark.req("P6")
def test_what_a_client_lacks_it_lacks_on_purpose() -> None:
    lacking = {
        f"{room}.{name}".lstrip(".")
        for room, (ours, theirs) in PAIRS.items()
        for name in operations(ours).keys() - operations(theirs).keys()
    }
    assert lacking == LACKING


@pytest.mark.req("P6")
def test_the_blocking_client_has_everything_the_other_one_has_in_the_same_words() -> None:
    rooms = {name: kind for name, (_, kind) in PAIRS.items()} | {
        "drafts": client_runbooks.DraftDesk,
        "verbs": client_catalogue.VerbDesk,
    }
    with Client("http://127.0.0.1:9") as client:
        for room, kind in rooms.items():
            there, here = operations(kind), operations(type(getattr(client, room) if room else client))
            assert here.keys() == there.keys(), room
            for name in there.keys() - {"close"}:
                assert inspect.signature(here[name]) == inspect.signature(there[name]), f"{room}.{name}"

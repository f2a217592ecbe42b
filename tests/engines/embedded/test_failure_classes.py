"""What a handler raises: its failure class, whether it is tried again, and what operators and viewers are told."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from perdure import BusinessError, Call, ContractError, Transient, TransientInfrastructure
from perdure.access.principal import Principal
from perdure.app.operations.incidents import ShowTraceback, show_traceback
from perdure.app.operations.operation import Context
from perdure.app.operations.operation_execution import perform
from perdure.errors import RejectedError
from perdure.testing import Sandbox
from perdure.verbs import load_text
from perdure.work.secrets import Secret, Secrets
from tests.engines.embedded.carried_world import carried, settled

VERBS = """
- {{name: f.call, execution: {{kind: sync, effects: {effects}, retry: {{max_attempts: 3, retry_on: [{retried}]}}}}}}
- {{name: f.open, execution: {{kind: durable, process: opening, sub_verbs: [f.call]}}}}
"""
MODEL = """
== opening
start s
service a f.call
end e
s > a > e
"""


class ConnectTimeout(Exception):
    """As an HTTP client names it."""


class StatusError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"the server said {status}")
        self.response = type("Response", (), {"status_code": status})()


class OperationalError(Exception):
    """As PEP 249 names it."""


RAISED: list[tuple[Exception, str, str]] = [
    (BusinessError("f.refused", "no"), "permanent_business", "f.refused"),
    (Transient("busy"), "transient_external", "handler.transient"),
    (TransientInfrastructure("the queue is full"), "transient_infrastructure", "handler.transient"),
    (ContractError("the feed has another shape"), "permanent_contract", "handler.contract"),
    (ConnectionRefusedError(111, "refused"), "transient_external", "handler.unreachable"),
    (TimeoutError(), "transient_external", "handler.unreachable"),
    (OSError(113, "no route to host"), "transient_external", "handler.unreachable"),
    (ConnectTimeout(), "transient_external", "handler.unreachable"),
    (StatusError(503), "transient_external", "handler.unreachable"),
    (StatusError(404), "transient_infrastructure", "handler.error"),
    (OSError(28, "no space left on device"), "transient_infrastructure", "handler.infrastructure"),
    (sqlite3.OperationalError("database is locked"), "transient_infrastructure", "handler.infrastructure"),
    (OperationalError("server closed the connection"), "transient_infrastructure", "handler.infrastructure"),
    (KeyError("amount"), "permanent_contract", "handler.bug"),
    (TypeError("None"), "permanent_contract", "handler.bug"),
    (AttributeError("x"), "permanent_contract", "handler.bug"),
    (RuntimeError("who knows"), "transient_infrastructure", "handler.error"),
]


class Raising:
    def __init__(self, error: Exception) -> None:
        self.error, self.runs = error, 0

    async def __call__(self, call: Call) -> dict[str, Any]:
        self.runs += 1
        raise self.error


def verbs(retried: str = "transient_external, transient_infrastructure", effects: str = "external") -> str:
    return VERBS.format(retried=retried, effects=effects)


@pytest.mark.req("V16")
@pytest.mark.parametrize(("error", "kind", "code"), RAISED, ids=[type(each[0]).__name__ for each in RAISED])
@pytest.mark.parametrize("retried", ["transient_external", "transient_infrastructure"])
async def test_what_is_raised_has_a_class_and_is_tried_again_by_it(
    error: Exception, kind: str, code: str, retried: str
) -> None:
    handler = Raising(error)
    async with Sandbox.open(definitions=load_text(verbs(retried)), handlers={"f.call": handler}) as sandbox:
        call = await settled(sandbox, "f.call")
        assert handler.runs == (3 if kind == retried else 1)
        failed = [each async for each in sandbox.events(call.id) if each.entry == "AttemptFailed"]
        assert [each.data["failure"]["failure_class"] for each in failed] == [kind] * handler.runs
        assert failed[0].data["failure"]["code"] == code
        assert (call.state == "parked") is (kind == "permanent_contract")


@pytest.mark.both_stores
@pytest.mark.req("V16")
@pytest.mark.parametrize("verb", ["f.call", "f.open"])
async def test_a_bug_is_told_with_its_line_and_its_traceback_is_for_operators_until_it_is_erased(
    store_url: str, verb: str
) -> None:
    async def buggy(call: Call) -> dict[str, Any]:
        return {"amount": call.args["nothing"]}

    async with carried(store_url, verbs(), MODEL, {"f.call": buggy}) as sandbox:
        call = await settled(sandbox, verb)
        told = call.waiting_for.text
        assert "has a bug" in told and "KeyError: 'nothing'" in told
        assert told.count("Mend") == 1, told
        assert "embedded/test_failure_classes.py, line " in told and "in buggy" in told
        view = await sandbox.traceback(call.id)
        assert 'return {"amount": call.args["nothing"]}' in view.traceback
        assert (view.code, view.attempt) == ("handler.bug", 1)
        viewer = Context(sandbox, Principal("default", "vera", "person", frozenset({"viewer"})))
        with pytest.raises(RejectedError, match=r"incident\.traceback"):
            await perform(viewer, show_traceback, ShowTraceback(call.id))
        assert "Traceback" not in str([each async for each in sandbox.events(call.id)])
        await sandbox.cancel(call.id, "given up")
        await sandbox.run_until_idle()
        await (sandbox.erase if view.id == call.id else sandbox.instances.erase)(view.id, "asked for")
        with pytest.raises(RejectedError, match="erased"):
            await sandbox.traceback(call.id)


@pytest.mark.req("V16")
async def test_a_secret_in_a_traceback_is_blotted_out(sqlite_url: str, caplog: pytest.LogCaptureFixture) -> None:
    async def leaky(call: Call) -> dict[str, Any]:
        raise RuntimeError(f"refused {call.secret('token')}")

    async with Sandbox.open(sqlite_url, definitions=load_text(verbs()), handlers={"f.call": leaky}) as sandbox:
        sandbox.runtime.router.secrets = Secrets({"token": Secret(env="TOKEN_OF_A_TEST", verbs=("f.*",))})
        sandbox.runtime.conductor.lend("f.call", leaky)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TOKEN_OF_A_TEST", "s3cr3t-word")
            call = await settled(sandbox, "f.call")
        assert "s3cr3t-word" not in (await sandbox.traceback(call.id)).traceback
        logged = [each.getMessage() for each in caplog.records if each.name == "perdure.handlers"]
        assert len(logged) == 3 and "s3cr3t-word" not in "".join(logged), "each of its attempts is logged"
        assert logged[0].startswith(f"the handler of 'f.call' failed in call {call.id}, attempt 1\nTraceback")

"""Errors of a scaffolded project on a real Temporal server: they take the events that our own engine takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from perdure import BusinessError, Call, Perdure
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.xml import read_model
from tests.contract.contract_world import MODELS
from tests.contract.stories import bare
from tests.scaffold.conftest import FilledProject, Runs
from tests.scaffold.model_changes import Changes
from tests.scaffold.test_real_server import replays

WORK = """<bpmn:serviceTask id="{id}" name="{id}">
      <bpmn:documentation>Do it.</bpmn:documentation>
      <bpmn:extensionElements>
        <ameide:taskDefinition type="claim.{id}" policyRef="patient" />
        <ameide:ioMapping>
          <ameide:input source="state.claim.id" target="request.claim" />
          <ameide:output source="result.{field}" target="state.{field}" />
        </ameide:ioMapping>
      </bpmn:extensionElements>
    </bpmn:serviceTask>
    """
CAUGHT = """<bpmn:boundaryEvent id="closed" name="Account closed" attachedToRef="{on}">
      <bpmn:errorEventDefinition id="closed_definition" errorRef="account_closed" />
    </bpmn:boundaryEvent>
    {refund}<bpmn:endEvent id="refunded" name="Refunded" />
    <bpmn:sequenceFlow id="closed_to_refund" sourceRef="closed" targetRef="refund" />
    <bpmn:sequenceFlow id="refund_to_refunded" sourceRef="refund" targetRef="refunded" />
    <bpmn:endEvent id="declined" """
CODE = '<bpmn:error id="account_closed" name="Account closed" errorCode="AccountClosed" />\n</bpmn:definitions>'
RAISES = """from temporalio.exceptions import ApplicationError

    raise ApplicationError("the account is closed", type="{type}", non_retryable=True)"""


def claims() -> Changes:
    """The claim whose payment may meet a closed account."""
    refund = WORK.format(id="refund", field="refund")
    return (
        Changes("gate")
        .replace('<bpmn:endEvent id="declined" ', CAUGHT.format(on="pay", refund=refund))
        .replace("</bpmn:definitions>", CODE)
    )


def within() -> Changes:
    """The same, where an error end event inside a subprocess says so."""
    inside = """<bpmn:subProcess id="pay_out" name="Pay it out">
      <bpmn:startEvent id="pay_begin" />
      {pay}<bpmn:exclusiveGateway id="paid_out" default="not_paid" />
      <bpmn:endEvent id="pay_end" />
      <bpmn:endEvent id="pay_failed" name="Not paid">
        <bpmn:errorEventDefinition id="pay_failed_definition" errorRef="account_closed" />
      </bpmn:endEvent>
      <bpmn:sequenceFlow id="p1" sourceRef="pay_begin" targetRef="pay" />
      <bpmn:sequenceFlow id="p2" sourceRef="pay" targetRef="paid_out" />
      <bpmn:sequenceFlow id="p3" sourceRef="paid_out" targetRef="pay_end">
        <bpmn:conditionExpression>=state.payment = "done"</bpmn:conditionExpression>
      </bpmn:sequenceFlow>
      <bpmn:sequenceFlow id="not_paid" sourceRef="paid_out" targetRef="pay_failed" />
    </bpmn:subProcess>
    """
    made = claims()
    begin = made.text.index('<bpmn:serviceTask id="pay"')
    end = made.text.index("</bpmn:serviceTask>", begin) + len("</bpmn:serviceTask>")
    made.replace(made.text[begin:end], inside.format(pay=WORK.format(id="pay", field="payment")))
    return (
        made.replace('attachedToRef="pay"', 'attachedToRef="pay_out"')
        .replace('sourceRef="decided" targetRef="pay"', 'sourceRef="decided" targetRef="pay_out"')
        .replace('sourceRef="pay" targetRef="paid"', 'sourceRef="pay_out" targetRef="paid"')
    )


async def ours(url: str, folder: Path, text: str, pay: Callable[[Call], Any]) -> tuple[str, Any]:
    """How the same instance ends on our own engine."""
    (folder / "claims.bpmn").write_text(text, "utf-8")
    (folder / "policies.yaml").write_text((MODELS / "policies.yaml").read_text("utf-8"), "utf-8")
    handlers = {
        "claim.assess": lambda call: {"amount": 120}, "claim.pay": pay, "claim.decline": lambda call: {},
        "claim.refund": lambda call: {"refund": "sent"},
    }  # fmt: skip
    verbs = "".join(f"- {{name: {name}, description: Do it, execution: {{kind: sync}}}}\n" for name in handlers)
    (folder / "verbs.yaml").write_text(verbs, "utf-8")
    async with Perdure.open(url, definitions=folder / "verbs.yaml", handlers=handlers) as perdure:
        await perdure.processes.deploy(folder / "claims.bpmn", profile="contract")
        id = (await perdure.instances.start("approve_claim", {"claim": {"id": "c"}}, until="rest")).id
        task = (await perdure.tasks.list())[0]
        await perdure.complete(task.key, {"decision": "approved", "reason": "fine"})
        done = await perdure.instances.wait(id, "end", 60)
        return done.state, bare(done.data)


def theirs(runs: Runs, folder: Path, text: str, pay: str) -> tuple[Any, FilledProject, Any, str]:
    """How it ends in a scaffolded project; `pay` is the body of the payment."""
    project = FilledProject("gate", folder, text)
    project.write_body("claim_refund", 'return ClaimRefundResult(refund="sent")')
    file = project.folder / "src" / project.package / "activities" / "claim_pay.py"
    written = file.read_text("utf-8")
    file.write_text(written.replace('return ClaimPayResult(payment=f"paid {request.amount}")', pay), "utf-8")
    running = runs(project)
    id = running.ask("start", state={"claim": {"id": "c"}})
    while running.ask("answer", id=id, update="DecideClaim", decision="approved", reason="fine"):
        pass  # its gate is not open yet
    return running.ask("result", id=id), project, running, id


@pytest.mark.deep
@pytest.mark.req("B8")
@pytest.mark.req("B10")
async def test_an_error_takes_the_event_that_catches_it(runs: Runs, tmp_path: Path) -> None:
    def pay(call: Call) -> None:
        raise BusinessError("AccountClosed", "the account is closed")

    text = claims().text
    found, project, running, id = theirs(runs, tmp_path / "p", text, RAISES.format(type="AccountClosed"))
    assert ("completed", bare(found)) == await ours(f"sqlite:///{tmp_path / 'p.db'}", tmp_path, text, pay)
    assert (found["refund"], found["payment"]) == ("sent", None)
    replays(project, running, id, tmp_path)


@pytest.mark.deep
@pytest.mark.req("B10")
def test_an_error_that_no_event_catches_fails_the_workflow_by_its_type(runs: Runs, tmp_path: Path) -> None:
    found, *_ = theirs(runs, tmp_path / "p", claims().text, RAISES.format(type="AnotherError"))
    assert "failed" in found, found


@pytest.mark.deep
@pytest.mark.req("B8")
@pytest.mark.req("B10")
async def test_an_error_end_event_takes_the_event_of_its_subprocess(runs: Runs, tmp_path: Path) -> None:
    text = within().text
    body = 'return ClaimPayResult(payment="refused")'
    found, project, running, id = theirs(runs, tmp_path / "p", text, body)
    at_ours = await ours(f"sqlite:///{tmp_path / 'p.db'}", tmp_path, text, lambda call: {"payment": "refused"})
    assert ("completed", bare(found)) == at_ours
    assert (found["refund"], found["payment"]) == ("sent", "refused")
    replays(project, running, id, tmp_path)


def test_the_strict_reading_has_no_errors() -> None:
    model = read_model(claims().text.encode(), "claims.bpmn")
    assert [each.code for each in lint(model, profile="contract") if each.severity == "error"] == []
    strict = lint(model, profile="contract", is_strict=True)
    assert ("AME040", "closed") in {(each.code, each.element) for each in strict}

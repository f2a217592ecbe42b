"""`kyc.open-case` told as outcome events: word for word the source's table, the same on every surface and store."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from perdure import BusinessError, Call, Result, Transient
from perdure.app.compliance_export import check_document, export_document
from perdure.app.configuration.server import ServerConfig
from perdure.payload import digest_text
from perdure.surfaces.http.application import make_app
from perdure.testing import Sandbox
from tests.acceptance.commands import Shell
from tests.examples.casebook import ENTITY, EXTRACT, Case, sandbox_of

pytestmark = pytest.mark.both_stores

TABLE = """
| Process instance created | `DurableTaskStarted` |
| Service task completed (sub-verb) | `StepCompleted` (sub-verb level) |
| Human task assigned | `Parked(HumanGate, reason)` |
| Timer fired | Informational event |
| Message wait entered | `Parked(ExternalSignal, reason)` |
| Message correlation failed (dead-letter) | `CorrelationFailed(message_name, reason)` |
| Process completed | `ExecutionResult(ok)` with final domain payload |
| Process failed / incident | `ExecutionResult(err)` with incident metadata |
"""
"""The event bridge as its source writes it."""


def lines(text: str) -> list[str]:
    """One event a line; a line that begins with a blank goes on with the one before."""
    return text.replace("\n ", " ").strip().splitlines()


APPROVED = lines("""
DurableTaskStarted
StepCompleted(kyc.create-case-record)
StepCompleted(kyc.request-documents)
Parked(ExternalSignal, Awaiting the documents)
CorrelationFailed(docs_received, no_subscription: nothing waits for 'docs_received' under 'ID', and no process
 starts by it)
ExternalSignalReceived(docs_received)
Resumed(ExternalSignal, the documents)
StepCompleted(kyc.receive-documents)
StepCompleted(kyc.assign-reviewer)
Parked(HumanGate, Awaiting rita: review the case)
TimerFired(every day)
StepCompleted(kyc.send-reminder)
TimerFired(every day)
StepCompleted(kyc.send-reminder)
TimerFired(3 days)
Resumed(HumanGate, interrupted)
StepCompleted(kyc.escalate-if-required)
Parked(HumanGate, Awaiting senior-compliance: decide as senior)
Resumed(HumanGate, decide as senior)
StepCompleted(kyc.record-review-decision)
ExecutionResult(ok)
""")

STUCK = lines("""
DurableTaskStarted
StepCompleted(kyc.create-case-record)
StepFailed(kyc.request-documents)
RetriesExhausted(kyc.request-documents)
IncidentCreated(job.retries_exhausted, 'kyc.request-documents' failed in N attempts: The desk is closed. Mend the cause
 and retry, or resolve it by hand.)
IncidentResolved(retried)
StepCompleted(kyc.request-documents)
Parked(ExternalSignal, Awaiting the documents)
CancelRequested(not needed)
Cancelled
""")


EXPORTED = ("of", "number", "at", "event", "text", "verb", "sub_verb", "principal", "refs")


async def run_case(sandbox: Sandbox) -> str:
    """A case whose first message names the step, whose reviewer lets it lie, and which a senior approves."""
    program = f'(kyc.open-case :entity "{ENTITY}" :case-type "periodic-review" :as @case)'
    run = await sandbox.runbooks.start(program)
    await sandbox.run_until_idle()
    case = Case(sandbox, await sandbox.status(run.id))
    outcome = await sandbox.correlate("docs_received", run.id, EXTRACT, message_id="m-0")
    assert outcome == "no_subscription"
    assert [each["message_id"] for each in await sandbox.dead_letters()] == ["m-0"]
    await sandbox.publish("docs_received", await case.number(), EXTRACT, message_id="m-1")
    await sandbox.run_until_idle()
    await case.wait("P4D")
    await case.decide("approved", by="sam")
    assert (await sandbox.runbooks.show(run.id)).state == "completed"
    return run.id


def told(events: list[Any], id: str) -> list[str]:
    return [(each["text"] if isinstance(each, dict) else each.text).replace(id, "ID") for each in events]


@pytest.mark.req("V18", "V26", "V34", "V1")
def test_the_stream_of_a_case_is_the_table_word_for_word_on_every_surface(
    kyc: Path, store_url: str, tmp_path: Path
) -> None:
    async def played() -> tuple[str, list[Any], list[Any]]:
        async with sandbox_of(store_url, kyc) as sandbox:
            id = await run_case(sandbox)
            return id, [each async for each in sandbox.outcome_events(id)], await over_http(sandbox, id)

    id, in_python, over_server = asyncio.run(played())
    assert told(in_python, id) == APPROVED
    assert told(over_server, id) == APPROVED
    shell = Shell(kyc, store_url)
    assert told(shell.json("events", id), id) == APPROVED
    said = shell.run("repl", "--resume", id, "--as", "local", text="events\nquit\n").out
    shown = re.sub(r"\s+", "", said.partition("Events")[2])
    at = 0
    for line in told(in_python, "none"):
        at = shown.find(re.sub(r"\s+", "", line), at)
        assert at >= 0, (line, said)


async def over_http(sandbox: Sandbox, id: str) -> list[Any]:
    """The stream a page at a time, each from the cursor before."""
    key = await sandbox.access.create_key("reader", principal="vera", kind="person", roles=frozenset({"viewer"}))
    app: Any = make_app(sandbox, ServerConfig(authentication=("keys",)), b"a secret of at least thirty-two bytes")
    found: list[Any] = []
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as client:
        after: str | None = ""
        while after is not None:
            query = {"limit": 4, **({"after": after} if after else {})}
            answer = await client.get(
                f"/api/runbooks/{id}/outcome-events", params=query, headers={"Authorization": f"Bearer {key.text}"}
            )
            assert answer.status_code == 200, answer.text
            found += answer.json()["items"]
            after = answer.json()["next"]
    return found


@pytest.mark.req("V18")
async def test_every_row_of_the_source_s_table_is_in_the_streams_of_a_case(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        events = [each async for each in sandbox.outcome_events(await run_case(sandbox))]
    events += await failed_case(kyc)
    texts = [each.text for each in events]
    for row in TABLE.strip().splitlines():
        word = row.split("|")[2].strip()
        wanted = re.match(r"`(\w+)(?:\((\w+)(, reason)?\))?`", word)
        pattern = r"TimerFired\(.+\)"
        if wanted is not None:
            kind = r"[\w.]+" if wanted[2] == "message_name" else wanted[2]
            pattern = wanted[1] + (rf"\({kind}, .+\)" if wanted[3] else rf"\({kind}\)" if kind else r"(\([\w.-]+\))?")
        assert [text for text in texts if re.fullmatch(pattern, text)], row


@pytest.mark.req("V5", "V18")
async def test_the_result_comes_with_its_payload_and_the_payload_leads_to_the_stream(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        id = await run_case(sandbox)
        case = Case(sandbox, await sandbox.status(id))
        head = (await sandbox.runtime.instances.read((await case.instance()).id, sandbox._origin)).state.head
        result = [each async for each in sandbox.outcome_events(id)][-1]
        assert (result.verb, result.result["review_decision"]) == ("kyc.open-case", "approved")
        assert result.refs == {"instance": (await case.instance()).id, "payload": digest_text(head)}
        envelope = await case.envelope()
        assert envelope.trail_ref == f"calls/{id}/outcome-events?step=1"
        stream = [each async for each in sandbox.outcome_events(id, step=1)]
        completed = [each.sub_verb for each in stream if each.event == "StepCompleted"]
        assert completed[-len(envelope.sub_verb_trail) :] == [each.verb for each in envelope.sub_verb_trail]


async def failed_case(kyc: Path) -> list[Any]:
    """A case that its own desk refuses: what it did is taken back, and it fails."""

    def refused(call: Call) -> None:
        raise BusinessError("desk.closed", "The desk is closed.")

    async with sandbox_of("sqlite://", kyc, {"kyc.request-documents": refused}) as sandbox:
        call = await sandbox.call("kyc.open-case", {"entity": ENTITY, "case_type": "new-client"})
        await sandbox.run_until_idle()
        return [each async for each in sandbox.outcome_events(call.id)]


@pytest.mark.req("V18", "V34")
async def test_a_case_that_fails_tells_what_was_taken_back_and_its_error(kyc: Path) -> None:
    events = await failed_case(kyc)
    assert [each.event for each in events] == [
        "DurableTaskStarted", "StepCompleted", "StepFailed", "CompensationStarted", "CompensationCompleted",
        "ExecutionResult",
    ]  # fmt: skip
    assert (events[-1].kind, events[-1].error.code) == ("err", "desk.closed")


@pytest.mark.req("V18", "V23", "V34")
async def test_a_stuck_case_tells_its_incident_its_retry_and_its_cancellation(kyc: Path, store_url: str) -> None:
    opened: list[bool] = []

    def request(call: Call) -> Result:
        if not opened:
            raise Transient("The desk is closed.")
        return Result({"requested_documents": ["register-extract"]}, flags={"orch_docs_requested": True})

    async with sandbox_of(store_url, kyc, {"kyc.request-documents": request}) as sandbox:
        call = await sandbox.call("kyc.open-case", {"entity": ENTITY, "case_type": "new-client"})
        await sandbox.advance("PT5M")
        opened.append(True)
        await sandbox.retry(call.id)
        await sandbox.run_until_idle()
        await sandbox.cancel(call.id, "not needed")
        await sandbox.run_until_idle()
        events = [each async for each in sandbox.outcome_events(call.id, follow=True)]
        events = [each for each in events if (each.event, each.kind) != ("StepFailed", "retried")]
        assert [re.sub(r"in \d+ attempts?", "in N attempts", each.text) for each in events] == STUCK
        assert {each.refs["element"] for each in events[2:6]} == {"request_documents"}
        assert len({each.cursor for each in events}) == len(events)
        rest = [each.text async for each in sandbox.outcome_events(call.id, after=events[5].cursor)]
        assert rest == STUCK[6:], "who goes on from a cursor misses nothing and meets nothing twice"


@pytest.mark.req("V18", "V30")
@pytest.mark.parametrize("end", ["approved", "cancelled"])
def test_the_exported_document_tells_the_same_events_and_anybody_can_check_them(
    kyc: Path, store_url: str, end: str
) -> None:
    async def played() -> tuple[str, list[Any], bytes, list[Any]]:
        async with Case.opened(store_url, kyc) as case:
            await case.send_documents()
            if end == "approved":
                await case.decide("approved")
            else:
                await case.sandbox.cancel(case.id, "not needed")
            await case.sandbox.run_until_idle()
            stream = [each async for each in case.sandbox.outcome_events(case.id)]
            document = await export_document(case.sandbox, case.id, {})
            return case.id, stream, document, await over_http(case.sandbox, case.id)

    id, stream, document, over_server = asyncio.run(played())
    exported = json.loads(document)["outcome_events"]
    assert len({each["at"] for each in exported}) == 1, "one moment: only the order of commits tells them apart"
    live = [(e.call, e.step, e.at, e.event, e.text, e.verb, e.sub_verb, e.principal, e.refs) for e in stream]
    assert [tuple(each[name] for name in EXPORTED) for each in exported] == live
    for others in (over_server, Shell(kyc, store_url).json("events", id)):
        names = ["call" if name == "of" else "step" if name == "number" else name for name in EXPORTED]
        assert [tuple(each[name] for name in names) for each in others] == live
    assert [each["event"] for each in exported].count("CancelRequested") == (1 if end == "cancelled" else 0)
    assert check_document(document).findings == []
    order = json.dumps(json.loads(document)["order"], separators=(",", ":")).encode()
    for other in (order.replace(b"[0,", b"[1,"), b"[]"):
        assert check_document(document.replace(b'"order":' + order, b'"order":' + other)).findings
    changed = document.replace(b"Awaiting rita: review the case", b"Awaiting bob: review the case")
    assert check_document(changed).findings

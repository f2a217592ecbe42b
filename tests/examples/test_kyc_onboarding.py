"""Corporate onboarding as shipped: research, a client who takes days, a decision, and what follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.app.runbooks.views import RunbookView
from perdure.testing import Sandbox
from tests.examples.casebook import sandbox_of

CAPITAL, TRUST = "DEMO00NORDLYSCAP0045", "DEMO00FJORDTRUST0013"
CASES = [f"7f3f0f6e-6c8e-4b51-9d6a-0b5a8f0f4e1{digit}" for digit in range(3)]
WANTED = ("certificate_of_incorporation", "shareholder_register")
UPLOAD = {"documents": [{"document": each, "reference": f"document://{each}"} for each in WANTED]}


class Onboarding:
    """One runbook of the example."""

    def __init__(self, sandbox: Sandbox, id: str, case: str) -> None:
        self.sandbox, self.id, self.case = sandbox, id, case

    @classmethod
    async def started(
        cls, sandbox: Sandbox, kyc: Path, lei: str, case: str = CASES[0], name: str = "corporate-onboarding"
    ) -> Onboarding:
        known = {"entity_lei": lei, "entity_id": lei, "case_id": case, "client_contact": "ana@example.org"}
        program = (kyc / "runbooks" / f"{name}.runbook").read_text(encoding="utf-8")
        view = await sandbox.runbooks.start(program, variables=known, case=case)
        await sandbox.run_until_idle()
        return cls(sandbox, view.id, case)

    async def view(self) -> RunbookView:
        return await self.sandbox.runbooks.show(self.id)

    async def states(self) -> dict[str, str]:
        return {step.name: step.state for step in (await self.view()).steps}

    async def result(self, name: str) -> Any:
        return next(step.result for step in (await self.view()).steps if step.name == name)

    async def upload(self) -> None:
        assert await self.sandbox.publish("documents_uploaded", self.case, UPLOAD) == "correlated"
        await self.sandbox.run_until_idle()

    async def decide(self, by: str, groups: tuple[str, ...], element: str, **answer: Any) -> None:
        task = next(task for task in await self.sandbox.tasks.list() if element in (task.element, task.name))
        await self.sandbox.acting(principal=by, groups=groups).tasks.complete(task.key, answer)
        await self.sandbox.run_until_idle()


RESEARCHED = dict.fromkeys(("gleif_result", "bloomberg_result", "shares", "officers"), "completed")


@pytest.mark.req("X24")
async def test_a_company_is_taken_on_from_research_to_review(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc, principal="ana") as sandbox:
        run = await Onboarding.started(sandbox, kyc, CAPITAL)
        assert await run.states() == {
            **RESEARCHED, "docs": "parked", "decision": "pending", "choice": "pending", "compile_ubo_report": "pending",
            "await_compliance_review": "pending", "request_additional_information": "pending",
        }  # fmt: skip
        await run.upload()
        assert await run.states() == {
            **RESEARCHED, "docs": "completed", "decision": "completed", "choice": "completed",
            "compile_ubo_report": "completed", "await_compliance_review": "parked",
            "request_additional_information": "skipped", "enhanced_due_diligence": "parked",
        }  # fmt: skip
        assert (await run.result("compile_ubo_report"))["owners"] == ["Ingrid Solberg", "Mikael Strand"]
        await run.decide("chen", (), "decide", decision="approved", reason="in order")
        await run.decide("rita", ("compliance",), "Look closely at Mikael Strand", is_acceptable=True)
        assert (await run.view()).state == "completed"
        assert (await run.result("await_compliance_review"))["decision"] == "approved"
        record = await sandbox.result("kyc.read-ubo-report", {"case_id": run.case})
        assert (record["status"], record["entity"]) == ("current", CAPITAL)


@pytest.mark.req("X24")
async def test_what_is_not_known_is_asked_of_the_client(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        run = await Onboarding.started(sandbox, kyc, TRUST)
        await run.upload()
        states = await run.states()
        assert (states["compile_ubo_report"], states["await_compliance_review"]) == ("skipped", "skipped")
        assert states["request_additional_information"] == "parked"
        await sandbox.complete(f"{run.case}/information", {"documents_status": "received"})
        await sandbox.run_until_idle()
        assert (await run.view()).state == "completed"


@pytest.mark.req("X24")
async def test_a_silent_client_is_escalated_and_the_gap_is_named(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        run = await Onboarding.started(sandbox, kyc, CAPITAL)
        await sandbox.advance("P8D")
        assert await run.result("docs") == {"documents_status": "escalated"}
        gaps = (await run.result("decision"))["gaps"]
        assert [gap["type"] for gap in gaps] == ["documents_missing"]
        assert (await run.states())["request_additional_information"] == "parked"


@pytest.mark.req("X24")
async def test_documents_that_come_before_they_are_asked_for_are_taken_up(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        early = await sandbox.publish("documents_uploaded", CASES[0], UPLOAD, ttl_seconds=86_400)
        assert early == "buffered"
        run = await Onboarding.started(sandbox, kyc, CAPITAL)
        assert (await run.states())["docs"] == "completed"


async def test_one_after_the_other_runs_in_one_process(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        for lei, case in zip((CAPITAL, TRUST, CAPITAL), CASES, strict=True):
            run = await Onboarding.started(sandbox, kyc, lei, case)
            await run.upload()
            assert (await run.view()).state == "parked" and (await run.states())["decision"] == "completed"


@pytest.mark.req("X24")
async def test_the_discovery_graph_runs_to_its_review(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        run = await Onboarding.started(sandbox, kyc, CAPITAL, name="corporate-discovery")
        assert (await run.states())["documents"] == "parked"
        await run.upload()
        states = await run.states()
        assert (states["report"], states["await_compliance_review"]) == ("completed", "parked")

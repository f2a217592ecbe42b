"""The verbs that find things out: GLEIF over a socket, registers from files, and what they add up to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perdure.app.calls.views import CallView
from perdure.testing import Sandbox
from tests.examples.casebook import sandbox_of
from tests.examples.gleif.service import serving

HOLDING, CAPITAL = "DEMO00NORDLYSHOLD050", "DEMO00NORDLYSCAP0045"
ADVISORS, TRUST, SKERRY = "DEMO00NORDLYSADV0072", "DEMO00FJORDTRUST0013", "DEMO00SKERRY00000078"
CASE = "7f3f0f6e-6c8e-4b51-9d6a-0b5a8f0f4e11"
RECEIVED = {"documents_status": "received", "received_documents": ["shareholder_register"]}


async def asked(kyc: Path, verb: str, **args: Any) -> CallView:
    async with sandbox_of("sqlite://", kyc) as sandbox:
        return await sandbox.call(verb, args)


async def evaluated(sandbox: Sandbox, lei: str, documents: dict[str, Any] = RECEIVED) -> dict[str, Any]:
    """What the onboarding runbook does up to its decision."""
    group = await sandbox.result("kyc.research_gleif_hierarchy", {"lei": lei})
    entities = {"entities": group["subsidiaries"]}
    shares = await sandbox.result("kyc.research_voting_share_registry", entities)
    officers = await sandbox.result("kyc.research_company_officers", entities)
    known = {"hierarchy": group, "shares": shares, "officers": officers, "client_docs": documents}
    decided: dict[str, Any] = await sandbox.result("kyc.evaluate_ubo_completeness", known)
    return decided


@pytest.mark.req("X24")
async def test_the_address_of_gleif_comes_from_the_environment(kyc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as service:
        monkeypatch.setenv("KYC_GLEIF", service.address)
        found = await asked(kyc, "kyc.research_gleif_hierarchy", lei=CAPITAL)
    assert found.result["ultimate_parent"] == {"lei": HOLDING, "name": "Nordlys Holding AS"}
    assert f"lei-records/{CAPITAL}" in service.asked


@pytest.mark.req("X24")
async def test_an_unknown_lei_fails_the_call_with_a_code(kyc: Path) -> None:
    refused = await asked(kyc, "kyc.research_gleif_hierarchy", lei="DEMO00LOU00000000062")
    assert refused.error is not None and (refused.state, refused.error.code) == ("failed", "LEI_NOT_FOUND")


@pytest.mark.req("X24")
@pytest.mark.parametrize("identifier", [CAPITAL, "NORDLYS NO"])
async def test_bloomberg_knows_a_company_by_any_of_its_identifiers(kyc: Path, identifier: str) -> None:
    found = await asked(kyc, "kyc.research_bloomberg_subsidiaries", entity_identifier=identifier)
    assert [each["voting_share"] for each in found.result["subsidiaries"]] == ["100", "75"]
    bare = await asked(
        kyc, "kyc.research_bloomberg_subsidiaries", entity_identifier=identifier, include_voting_shares=False
    )
    assert all("voting_share" not in each for each in bare.result["subsidiaries"])


async def test_bloomberg_does_not_know_everybody(kyc: Path) -> None:
    found = await asked(kyc, "kyc.research_bloomberg_subsidiaries", entity_identifier="NOBODY")
    assert (found.result["is_known"], found.result["subsidiaries"]) == (False, [])


@pytest.mark.req("X24")
async def test_holders_are_followed_up_to_people(kyc: Path) -> None:
    entities = [{"lei": ADVISORS}]
    found = await asked(kyc, "kyc.research_voting_share_registry", entities=entities)
    assert {"Ingrid Solberg", "Aurora Shipping ASA"} <= {each["holder"]["name"] for each in found.result["holdings"]}
    assert [each["reason"] for each in found.result["termini"]] == ["listed"]
    near = await asked(kyc, "kyc.research_voting_share_registry", entities=entities, follow_owners=False)
    assert {each["entity"] for each in near.result["holdings"]} == {ADVISORS}


@pytest.mark.req("X24")
async def test_owners_are_found_with_their_circle_and_the_one_who_is_exposed(kyc: Path) -> None:
    found = (await asked(kyc, "ubo.discover", entity="Nordlys Capital AS")).result
    assert [(owner["name"], owner["percent"]) for owner in found["report"]["owners"]] == [
        ("Ingrid Solberg", "60"),
        ("Mikael Strand", "40"),
    ]
    assert found["complete"] and found["peps"] == ["Mikael Strand"]
    assert found["warnings"] == ["holdings in a circle: Nordlys Capital AS > Nordlys Holding AS > Nordlys Capital AS"]


@pytest.mark.parametrize(
    ("name", "code"), [("Nordlys Capital", "ENTITY_AMBIGUOUS"), ("Nemo", "ENTITY_NOT_FOUND")], ids=["two", "none"]
)
async def test_a_name_that_is_not_one_entity_s_is_refused(kyc: Path, name: str, code: str) -> None:
    refused = await asked(kyc, "ubo.discover", entity=name)
    assert refused.error is not None and refused.error.code == code


async def test_an_entity_that_is_no_more_leads_to_what_it_became(kyc: Path) -> None:
    assert (await asked(kyc, "ubo.discover", entity="DEMO00POLARLYS000017")).result["lei"] == CAPITAL


async def test_sources_that_differ_are_told(kyc: Path) -> None:
    found = (await asked(kyc, "ubo.discover", entity=ADVISORS)).result
    assert [each["name"] for each in found["report"]["termini"]] == ["Aurora Shipping ASA"]
    assert sum("sources differ" in warning for warning in found["warnings"]) == 2


@pytest.mark.req("X24")
async def test_what_is_known_is_enough_for_the_group_and_not_for_the_trust(kyc: Path) -> None:
    async with sandbox_of("sqlite://", kyc) as sandbox:
        group, trust = await evaluated(sandbox, CAPITAL), await evaluated(sandbox, TRUST)
    assert (group["complete"], group["gaps"], group["peps"]) == (True, [], ["Mikael Strand"])
    assert "Ingrid Solberg 60 %" in group["review_package"]["summary"]
    assert (trust["complete"], [gap["id"] for gap in trust["gaps"]]) == (False, [f"*>{TRUST}:owners_unknown"])


async def test_documents_that_did_not_come_are_a_gap(kyc: Path) -> None:
    async with sandbox_of("sqlite://", kyc) as sandbox:
        decided = await evaluated(sandbox, CAPITAL, {"documents_status": "escalated"})
    assert [gap["id"] for gap in decided["gaps"]] == [f"*>{CAPITAL}:documents_missing"] and not decided["complete"]


@pytest.mark.req("X24")
async def test_the_report_is_recorded_replaced_and_withdrawn(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        first, second = await evaluated(sandbox, CAPITAL), await evaluated(sandbox, SKERRY)
        told = await sandbox.result("kyc.compile_ubo_report", {"case_id": CASE, "data": first["compiled_data"]})
        assert told["owners"] == ["Ingrid Solberg", "Mikael Strand"] and "in a circle" in told["text"]
        told = await sandbox.result("kyc.compile_ubo_report", {"case_id": CASE, "data": second["compiled_data"]})
        assert told["owners"] == ["Gro Tveit"]
        await sandbox.result("kyc.withdraw-ubo-report", {"case_id": CASE})
        record = await sandbox.result("kyc.read-ubo-report", {"case_id": CASE})
    assert (record["entity"], record["status"], record["version"]) == (SKERRY, "withdrawn", 3)


@pytest.mark.req("X24")
async def test_information_is_asked_for_once_and_awaited(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        gaps = (await evaluated(sandbox, TRUST))["gaps"]
        call = await sandbox.call("kyc.request_additional_information", {"case_id": CASE, "gaps": gaps})
        assert call.waiting_for is not None and call.waiting_for.key == f"{CASE}/information"
        asked_for = (await sandbox.result("kyc.list-documents", {"case_id": CASE}))["records"]
        assert [each["document"] for each in asked_for] == [gap["id"] for gap in gaps]
        answer = {"documents_status": "received", "answers": [{"gap": gaps[0]["id"], "answer": "the settlor"}]}
        await sandbox.complete(f"{CASE}/information", answer)
        assert (await sandbox.status(call.id)).result == answer


@pytest.mark.req("X24")
async def test_an_import_is_recorded_superseded_and_rolled_back(kyc: Path, store_url: str) -> None:
    async with sandbox_of(store_url, kyc) as sandbox:
        runs = []
        for _ in range(2):
            tree = await sandbox.result("gleif.import-tree", {"lei": CAPITAL})
            runs.append(await sandbox.result("graph.record-import", {"tree": tree}))
        assert [(run["entities"], run["edges"]) for run in runs] == [(8, 3), (8, 3)]
        assert (await sandbox.result("graph.read-import", {"run": runs[0]["run"]}))["status"] == "superseded"
        assert len((await sandbox.result("entity.list", {}))["records"]) == 8
        assert (await sandbox.result("graph.roll-back-import", {"run": runs[1]["run"]}))["ended"] == 3
        edges = (await sandbox.result("graph.list-edges", {}))["records"]
        assert {edge["status"] for edge in edges} == {"ended"} and len(edges) == 6


async def test_an_entity_is_enriched_with_its_parents_or_why_it_has_none(kyc: Path) -> None:
    capital = (await asked(kyc, "gleif.enrich", lei=CAPITAL)).result
    assert (capital["direct_parent"]["lei"], capital["direct_exception"], capital["children"]) == (HOLDING, "", 2)
    trust = (await asked(kyc, "gleif.enrich", lei=TRUST)).result
    assert (trust["direct_parent"], trust["direct_exception"]) == (None, "NON_CONSOLIDATING")


async def test_the_other_verbs_of_gleif_answer(kyc: Path) -> None:
    assert (await asked(kyc, "gleif.lookup", lei=CAPITAL)).result["name"] == "Nordlys Capital AS"
    assert (await asked(kyc, "gleif.search", name="nordlys", limit=3)).result["total"] == 9
    funds = (await asked(kyc, "gleif.import-managed-funds", lei=CAPITAL)).result["funds"]
    assert [fund["category"] for fund in funds] == ["FUND"]
    assert (await asked(kyc, "gleif.resolve-successor", lei="DEMO00NORDLYSKAP0076")).result["lei"] == CAPITAL
    assert (await asked(kyc, "gleif.trace-ownership", lei="DEMO00OUROBINVEST032")).result["ends"] == "cycle"
    assert [hit["kind"] for hit in (await asked(kyc, "screening.run", names=["mikael strand"])).result["hits"]] == [
        "pep"
    ]

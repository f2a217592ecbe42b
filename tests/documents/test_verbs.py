"""The verbs of documents look like any other, and take the arguments that the source writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.papers import opened

ANNA = "0189e7b0-1111-7000-8000-000000000001"


@pytest.mark.both_stores
@pytest.mark.req("T7")
async def test_documents_are_created_received_decided_on_and_found_by_verbs(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path, principal="ann") as perdure:
        args = {"document-type": "form", "content-type": "application/json", "subject-entity-id": ANNA}
        made = await perdure.call("document.create", {**args, "structured-data": {"title": "one"}}, idempotency_key="k")
        again = await perdure.call(
            "document.create", {**args, "structured-data": {"title": "one"}}, idempotency_key="k"
        )
        assert again.result == made.result
        id = made.result["document_id"]
        assert made.result["document"] == f"document://default/{id}"
        verified = await perdure.call("document.verify", {"document-id": id, "verified-by": "ann"})
        assert (verified.state, verified.result["status"]) == ("completed", "verified")
        await perdure.result("document.receive", {"document-id": id, "structured-data": {"title": "two"}})
        rejected = await perdure.result("document.reject", {"document-id": id, "reason": "MISSING_DATA"})
        assert rejected == {
            "document_id": id,
            "document": f"document://default/{id}",
            "status": "verified",
            "version": 2,
        }
        other = await perdure.result("document.create", {**args, "structured-data": {"title": "three"}})
        await perdure.result("document.supersede", {"document-id": id, "by": other["document_id"]})
        found = await perdure.result("document.find", {"subject-entity-id": ANNA, "document-type": "form"})
        assert [each["status"] for each in found["documents"]] == ["pending", "superseded"]
        assert len(await perdure.documents.find(type="form")) == 2


@pytest.mark.req("T7")
async def test_a_verb_decides_only_where_nobody_in_particular_must(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path, principal="ann") as perdure:
        made = await perdure.result("document.create", {"document-type": "passport", "structured-data": {"name": "A"}})
        refused = await perdure.call("document.verify", {"document-id": made["document_id"]})
        assert refused.error is not None
        assert (refused.error.code, "by people alone" in refused.error.message) == ("forbidden", True)
        form = await perdure.result("document.create", {"document-type": "form", "structured-data": {"title": "t"}})
        posing = await perdure.call("document.verify", {"document-id": form["document_id"], "verified-by": "otto"})
        assert posing.error is not None and posing.error.code == "invalid"
        wrong = await perdure.call("document.create", {"document-type": "form", "structured-data": {"title": 7}})
        assert wrong.error is not None and wrong.error.code == "invalid"

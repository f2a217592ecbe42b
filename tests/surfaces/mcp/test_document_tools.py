"""Documents as agents see them: found by words, looked at, read; what is read is an event."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure import Perdure
from perdure.verbs import load_text
from tests.surfaces.mcp.protocol_agent import Refused
from tests.surfaces.mcp.tool_office import Office, principal

DEFINITIONS = """
documents:
  passport:
    data_schema: {properties: {name: {type: string, required: true}}}
    verify: {groups: [compliance]}
"""
NOBODY = "0" * 26


@pytest.mark.req("P5", "T6")
async def test_an_agent_finds_looks_at_and_reads_documents_and_every_read_is_kept(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with Perdure.open(url, definitions=load_text(DEFINITIONS), blobs=tmp_path / "blobs") as perdure:
        place = Office(perdure, [], [])
        made = await perdure.documents.create("passport", "anna", data={"name": "Anna Müller"})
        await perdure.documents.create("passport", "bert", data={"name": "Bert"})
        officer = perdure.acting(principal="olga", groups=["compliance"])
        await officer.documents.reject(made.id, 1, "BLURRED")
        async with place.agent(principal(verbs=("document.find",))) as agent:
            found = await agent("find_documents", text="muller")
            assert [each["id"] for each in found["items"]] == [made.id]
            shown = await agent("document_status", id=made.id)
            assert shown["versions"][0]["reason"]["next_action"] == "ask_again"
            assert (await agent("read_document", id=made.id, version=1))["data"] == {"name": "Anna Müller"}
            with pytest.raises(Refused) as refused:
                await agent("document_status", id=NOBODY)
            assert refused.value.code == "command.not_found"
        reads = [each.principal for each in await perdure.documents.events(made.id) if each.entry == "ContentRead"]
        assert reads == ["robot"]
        async with place.agent(principal(verbs=("desk.*",))) as narrow:
            for tool, more in (("find_documents", {}), ("document_status", {"id": made.id})):
                with pytest.raises(Refused) as refused:
                    await narrow(tool, **more)
                assert refused.value.code in ("command.forbidden", "command.not_found")

"""Documents are facts for guards: each change is told in its own commit, and read without content."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.documents.facts import DocumentFacts
from perdure.journal.facts import FACT_CHANGED, fact_key
from perdure.journal.notice_routes import FactRoute, read_route
from perdure.testing import Sandbox
from tests.documents.papers import opened

KEY = fact_key("document", "anna/1", "form")


async def told(perdure: Sandbox) -> list[str]:
    """The keys of the notices of changed facts that nobody has acted on."""
    found = []
    for _, tenant, message_id, kind, _ in await perdure.runtime.store.pending_messages(0, 100):
        message = await perdure.runtime.store.message(tenant, message_id)
        assert message is not None and kind == FACT_CHANGED
        route = read_route(kind, message_id, message.body)
        assert isinstance(route, FactRoute)
        found.extend(route.keys)
    return found


@pytest.mark.both_stores
@pytest.mark.req("T9")
async def test_every_change_of_a_document_is_told_in_its_commit_and_no_read_is(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        facts = DocumentFacts(perdure.runtime.store.documents)
        made = await perdure.documents.create("form", "anna/1", data={"title": "Secret"}, valid_to="2026-02-01")
        assert await told(perdure) == [KEY]
        await perdure.documents.verify(made.id, 1)
        assert await told(perdure) == [KEY, KEY]
        await perdure.run_until_idle()
        assert await told(perdure) == []
        await perdure.documents.content(made.id, 1)
        assert await told(perdure) == []
        (fact,) = (await facts.read("default", KEY))["documents"]
        assert (fact["id"], fact["version"], fact["status"], fact["valid_to"]) == (made.id, 1, "verified", "2026-02-01")
        assert fact["verified_at"] and "Secret" not in str(fact)
        await perdure.advance("P40D")
        (fact,) = (await facts.read("default", KEY))["documents"]
        assert (fact["status"], fact["verified_at"]) == ("expired", None)
        await perdure.documents.create("form", data={"title": "about nobody"})
        assert await told(perdure) == []
        assert await facts.read("default", fact_key("document", "nobody", "form")) == {"documents": []}


LIFECYCLE = """
workflow: papers
version: 1
states:
  COLLECTING:
    requirements:
      - {type: document_exists, document_type: form, status: verified}
  COLLECTED: {}
  CLOSED: {terminal: true}
transitions:
  - {from: COLLECTING, to: COLLECTED}
  - {from: COLLECTED, to: CLOSED, manual: true}
"""


@pytest.mark.both_stores
@pytest.mark.req("T5", "T9")
async def test_a_verified_document_moves_exactly_the_lifecycle_that_waited_for_it(
    store_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "lifecycles"
    folder.mkdir()
    (folder / "papers.yaml").write_text(LIFECYCLE)
    async with opened(store_url, tmp_path, lifecycles=[folder]) as perdure:
        begun = {name: (await perdure.lifecycles.start("papers", name)).instance.id for name in ("anna", "bert")}
        made = await perdure.documents.create("form", "anna", data={"title": "t"})
        await perdure.run_until_idle()
        assert (await perdure.lifecycles.get(begun["anna"])).state == "COLLECTING"
        await perdure.documents.verify(made.id, 1)
        await perdure.run_until_idle()
        states = {name: (await perdure.lifecycles.get(id)).state for name, id in begun.items()}
        assert states == {"anna": "COLLECTED", "bert": "COLLECTING"}

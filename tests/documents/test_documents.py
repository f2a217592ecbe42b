"""A document from its first version to its end, through the facade, on both stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.errors import RejectedError, SchemaViolationError
from perdure.testing import Sandbox
from tests.documents.papers import PDF, PNG, opened

ANNA = "01890000-anna"


def officer(perdure: Sandbox, name: str = "olga") -> Sandbox:
    return perdure.acting(principal=name, groups=["compliance"])


async def refused(awaitable: object) -> str:
    with pytest.raises(RejectedError) as caught:
        await awaitable  # type: ignore[misc]
    return f"{caught.value.rejection.code}: {caught.value}"


@pytest.mark.both_stores
@pytest.mark.req("T6")
async def test_a_document_is_handed_in_verified_replaced_and_rejected(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        made = await perdure.documents.create("passport", ANNA, data={"name": "Anna Müller", "number": "C01X"})
        assert (made.status, made.version, made.valid_to) == ("pending", 1, "2036-01-01")
        held = await officer(perdure).documents.verify(made.id, 1, "seen in person")
        assert (held.status, held.versions[0].decided_by) == ("verified", "olga")

        blob = await perdure.documents.upload(PDF)
        held = await perdure.documents.receive(
            made.id, blob=blob.blob, name="../../etc/pass.pdf", valid_to="2031-05-01"
        )
        assert (held.status, held.version) == ("verified", 1), "the verified version counts until another is"
        assert held.versions[1].blob is not None and held.versions[1].blob.media_type == "application/pdf"
        held = await officer(perdure).documents.verify(made.id, 2)
        assert [each.status for each in held.versions] == ["superseded", "verified"]
        assert (held.version, held.valid_to) == (2, "2031-05-01")

        held = await officer(perdure).documents.reject(made.id, 2, "suspected-forgery", "photograph was changed")
        assert (held.status, held.versions[1].reason.code) == ("rejected", "SUSPECTED_FORGERY")  # type: ignore[union-attr]
        content = await perdure.documents.content(made.id, 2)
        assert (content.name, content.note) == ("pass.pdf", "photograph was changed")
        assert b"".join([part async for part in perdure.documents.download(made.id, 2)]) == PDF


@pytest.mark.both_stores
@pytest.mark.req("T6")
async def test_the_right_to_decide_is_that_of_the_type(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        made = await perdure.acting(principal="olga").documents.create("passport", ANNA, data={"name": "Anna"})
        assert "none of the groups compliance" in await refused(perdure.documents.verify(made.id, 1))
        assert "four eyes" in await refused(officer(perdure).documents.verify(made.id, 1))
        behind = perdure.acting(principal="bot", groups=["compliance"], behind=["olga"])
        assert "four eyes" in await refused(behind.documents.verify(made.id, 1))
        assert "four eyes" in await refused(officer(perdure).documents.reject(made.id, 1, "BLURRED"))
        assert (await officer(perdure, "otto").documents.verify(made.id, 1)).status == "verified"
        other = perdure.acting(tenant="other", principal="otto", groups=["compliance"])
        for asked in (
            other.documents.get(made.id),
            other.documents.verify(made.id, 1),
            other.documents.content(made.id, 1),
        ):
            assert (await refused(asked)).startswith("not_found")
        assert await other.documents.find() == []


@pytest.mark.both_stores
@pytest.mark.req("T11")
async def test_validity_ends_by_a_timer_that_was_committed_with_the_version(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        made = await perdure.documents.create("passport", ANNA, data={"name": "Anna"}, valid_to="2026-03-01")
        await officer(perdure).documents.verify(made.id, 1)
        await perdure.advance("P58D")
        assert (await perdure.documents.get(made.id)).status == "verified"
        await perdure.advance("P1D")
        assert (await perdure.documents.get(made.id)).status == "expired"
        assert "is expired" in await refused(officer(perdure, "otto").documents.verify(made.id, 1))
        late = await perdure.documents.receive(made.id, data={"name": "Anna"}, valid_to="2020-01-01")
        assert "validity of version 2 has ended" in await refused(officer(perdure).documents.verify(made.id, 2))
        await perdure.run_until_idle()
        assert (await perdure.documents.get(late.id)).versions[1].status == "expired"


@pytest.mark.both_stores
async def test_a_document_that_changes_while_somebody_looks_at_it_is_not_decided_on(
    store_url: str, tmp_path: Path
) -> None:
    async with opened(store_url, tmp_path) as perdure:
        made = await perdure.documents.create("passport", ANNA, data={"name": "Anna"})
        await perdure.documents.receive(made.id, data={"name": "Anne"})
        told = await refused(officer(perdure).documents.verify(made.id, 1))
        assert "version 2 arrived after version 1" in told
        assert "no version 7" in await refused(officer(perdure).documents.verify(made.id, 7))
        await officer(perdure).documents.verify(made.id, 2)
        assert (await officer(perdure).documents.verify(made.id, 2)).sequence == 3, "the same decision again is one"
        assert "is verified" in await refused(officer(perdure, "otto").documents.verify(made.id, 2))


@pytest.mark.both_stores
async def test_what_is_handed_in_twice_under_one_key_is_there_once(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        first = await perdure.documents.create("form", ANNA, data={"title": "A"}, idempotency_key="k1")
        again = await perdure.documents.create("form", ANNA, data={"title": "A"}, idempotency_key="k1")
        assert again == first
        other = perdure.documents.create("form", ANNA, data={"title": "B"}, idempotency_key="k1")
        assert (await refused(other)).startswith("already_exists")
        for _ in range(2):
            held = await perdure.documents.receive(first.id, data={"title": "C"}, idempotency_key="k2")
        assert len(held.versions) == 2


@pytest.mark.both_stores
@pytest.mark.req("T6")
async def test_reading_content_is_an_event_and_looking_is_not(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        made = await perdure.documents.create("form", ANNA, data={"title": "Secret"})
        await perdure.documents.get(made.id)
        await perdure.documents.find(subject=ANNA)
        await perdure.acting(principal="nosy").documents.content(made.id, 1)
        events = await perdure.documents.events(made.id)
        assert [(each.entry, each.principal) for each in events] == [
            ("DocumentCreated", "local"),
            ("VersionReceived", "local"),
            ("ContentRead", "nosy"),
        ]
        assert "Secret" not in str(events)


@pytest.mark.both_stores
async def test_a_document_takes_the_place_of_another(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        old = await perdure.documents.create("form", ANNA, data={"title": "old"})
        new = await perdure.documents.create("form", ANNA, data={"title": "new"}, parent=old.id)
        other = await perdure.documents.create("form", "somebody", data={"title": "new"})
        assert "another subject" in await refused(perdure.documents.supersede(old.id, other.id))
        assert "its own place" in await refused(perdure.documents.supersede(old.id, old.id))
        held = await perdure.documents.supersede(old.id, new.id)
        assert (held.status, held.superseded_by, held.versions[0].status) == ("superseded", new.id, "superseded")
        assert "has taken its place" in await refused(perdure.documents.receive(old.id, data={"title": "x"}))


async def test_bad_input_is_refused_with_a_sentence_and_nothing_is_left(tmp_path: Path) -> None:
    async with opened("sqlite://", tmp_path) as perdure:
        documents = perdure.documents
        assert "Did you mean 'passport'?" in await refused(documents.create("pasport", ANNA))
        assert "neither data nor a file" in await refused(documents.receive((await documents.create("form")).id))
        with pytest.raises(SchemaViolationError, match="name"):
            await documents.create("passport", ANNA, data={"number": "1"})
        assert "is empty" in await refused(documents.upload(b""))
        pdf, cut = await documents.upload(PDF), await documents.upload(PDF[:50])
        page = await documents.upload(b"<!DOCTYPE html><script>alert(1)</script>")
        cases = [
            ({"blob": pdf.blob, "media_type": "image/png"}, "said to be image/png and its content is application/pdf"),
            ({"blob": cut.blob}, "the end of the application/pdf is missing"),
            ({"blob": page.blob}, "its content is text/html"),
            ({"blob": page.blob, "media_type": "application/pdf"}, "its content is text/html"),
            ({"blob": "sha256:" + "0" * 64}, "no content is stored as"),
            ({"data": {"name": "A"}, "valid_to": "tomorrow"}, "'valid_to' is not a date"),
            ({"data": {"name": "A"}, "valid_from": "2026-02-01", "valid_to": "2026-01-01"}, "its validity ends"),
        ]
        for content, fact in cases:
            assert fact in await refused(documents.create("passport", ANNA, **content))
        assert "hold no file" in await refused(documents.create("form", ANNA, blob=pdf.blob))
        other = perdure.acting(tenant="other").documents
        assert "no content is stored" in await refused(other.create("passport", ANNA, blob=pdf.blob))
        assert await documents.find(type="passport") == []
        assert "there is none" in await refused(perdure._documents.find(status="lost"))
        assert (await documents.create("letter", ANNA, blob=(await documents.upload(PDF)).blob)).status == "pending"
        assert "its content is image/png" in await refused(
            documents.create("letter", ANNA, blob=(await documents.upload(PNG)).blob)
        )

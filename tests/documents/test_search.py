"""Documents are found by words, and both stores give the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.documents.search_query import parse_search
from perdure.errors import RejectedError
from tests.documents.papers import PDF, opened

TITLES = {
    "a": "Allianz SE, München",
    "b": "ALLIANZ Lebensversicherungs-AG",
    "c": "Straße der Nationen 17; ref AB-1234/x",
    "d": "日本 株式会社 ООО Ромашка",
    "e": "draft allianz",
    "f": "İstanbul ﬁnance x² ½",
}
QUERIES = {
    "allianz": "eba",
    "Munchen": "a",
    "allianz -draft": "ba",
    "lebens*": "b",
    "strasse": "c",
    "ab-1234": "c",
    "1234": "c",
    "ромашка": "d",
    "日本": "d",
    "日*": "d",
    "munchen|strasse": "ca",
    "istanbul finance": "f",
    "form nobody": "",
    "form person*": "fedcba",
    "'; DROP TABLE document --": "",
    '"allianz" AND se': "",
    "se": "a",
}


@pytest.mark.both_stores
@pytest.mark.req("T6")
async def test_the_same_words_find_the_same_documents_on_both_stores(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        names = {}
        for name, title in TITLES.items():
            made = await perdure.documents.create("form", f"person-{name}", data={"title": title})
            names[made.id] = name
        await perdure.acting(tenant="other").documents.create("form", "x", data={"title": "allianz"})
        found = {query: [each.id for each in await perdure.documents.find(text=query)] for query in QUERIES}
        assert {query: "".join(names[id] for id in ids) for query, ids in found.items()} == QUERIES
        pages = [await perdure._documents.find(text="allianz", limit=2)]
        pages.append(await perdure._documents.find(text="allianz", limit=2, after=pages[0].next))
        assert ["".join(names[each.id] for each in page.items) for page in pages] == ["eb", "a"]
        assert [each.subject for each in await perdure.documents.find(text="allianz", subject="person-a")] == [
            "person-a"
        ]


@pytest.mark.both_stores
async def test_lists_keep_to_their_filters_and_page_on(store_url: str, tmp_path: Path) -> None:
    async with opened(store_url, tmp_path) as perdure:
        for number in range(5):
            await perdure.documents.create(
                "form", f"s{number % 2}", data={"amount": number}, correlation_id=f"c{number}"
            )
        letter = await perdure.documents.upload(PDF)
        await perdure.documents.create("letter", "s0", blob=letter.blob, name="Kündigung.pdf")
        find = perdure._documents.find
        page = await find(type="form", limit=3)
        rest = await find(type="form", limit=3, after=page.next)
        assert [len(page.items), len(rest.items), rest.next] == [3, 2, None]
        assert len((await find(subject="s0")).items) == 4
        assert len((await find(subject="s0", type="form", status="pending")).items) == 3
        assert (await find(status="verified")).items == []
        assert [each.correlation_id for each in (await find(correlation_id="c2")).items] == ["c2"]
        assert [each.type for each in (await find(text="kundigung")).items] == ["letter"]
        with pytest.raises(RejectedError, match="cursor"):
            await find(type="letter", after=page.next)


@pytest.mark.parametrize("text", ["-draft", "*** !!", " ".join(f"w{n}" for n in range(30))])
def test_a_query_that_looks_for_nothing_or_too_much_is_refused(text: str) -> None:
    with pytest.raises(RejectedError, match=r"looks for no word|more than 20 words"):
        parse_search(text)

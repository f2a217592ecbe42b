"""The page of a document is for people: whole in itself, without scripts, safe whatever the data holds."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from perdure.app.compliance_export import check_document
from tests.app.compliance_export.exported_store import exporting

VOID = {"meta", "br", "img"}


class Reader(HTMLParser):
    """Every element that opens, with its attributes, and the text a person sees."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.around: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append((tag, dict(attrs)))
        if tag not in VOID:
            self.around.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.around.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.around and self.around[-1] not in ("script", "style"):
            self.text.append(data)


async def page(url: str = "sqlite://") -> tuple[str, Reader]:
    async with exporting(url) as world:
        call = await world.carried()
        await world.seal()
        data = await world.export(call.id, is_page=True)
        assert check_document(data, world.key.public_keys).findings == []
        reader = Reader()
        reader.feed(data.decode())
        reader.close()
        return data.decode(), reader


@pytest.mark.req("V30")
async def test_a_page_needs_nothing_from_elsewhere_and_runs_nothing() -> None:
    text, reader = await page()
    assert reader.around == []
    scripts = [attributes for tag, attributes in reader.opened if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "perdure-document"}]
    links = [value for _, each in reader.opened for name, value in each.items() if name in ("src", "href", "action")]
    assert links and all(value is not None and value.startswith("data:image/svg+xml;base64,") for value in links)
    assert not any(name.startswith("on") for _, each in reader.opened for name in each)
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import", text)


@pytest.mark.req("V30")
async def test_what_people_wrote_stays_text() -> None:
    text, reader = await page()
    assert "<img src=x" not in text
    assert any("</script><img src=x onerror=alert(1)>" in part for part in reader.text)


@pytest.mark.req("V30")
async def test_a_reader_sees_the_summary_first_and_then_everything_else() -> None:
    text, reader = await page()
    seen = " ".join(reader.text)
    for words in ("ada asked for this", "bob, eve", "Open the case", "letter-1", "job.contract", "under a signed seal"):
        assert words in seen
    titles = re.findall("<h2>(.*?)</h2>", text)
    assert titles[:3] == ["Steps", "The way through the process", "What happened to the data"]
    assert "prefers-color-scheme:dark" in text and "@media print" in text

"""Model files as a server takes them: the text, whatever encoding it is kept in."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.processes.project_models import read_model_text
from perdure.bpmn.xml import read_model, write_model
from perdure.errors import DefinitionError
from tests.engines.embedded.process_models import line, service

TEXT = write_model(line("p", service("a", "t.one", name="NAME")))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "ISO-8859-1", "us-ascii", "windows-1252", "latin1"]
)
def test_a_model_is_sent_as_it_is_read_from_its_file(tmp_path: Path, encoding: str) -> None:
    name = "cafe" if encoding == "us-ascii" else "café"
    declared = encoding.removesuffix("-sig")
    text = TEXT.replace('encoding="UTF-8"', f'encoding="{declared}"').replace("NAME", name)
    assert declared in text and name in text
    file = tmp_path / "p.bpmn"
    file.write_bytes(text.encode(encoding))
    sent = read_model_text(file)
    assert sent == text
    assert read_model(sent).definitions == read_model(file.read_bytes()).definitions


@pytest.mark.parametrize(
    ("declared", "data"),
    [
        ("utf8", b"\xef\xbb\xbf"),
        ("windows-1252", b"\xef\xbb\xbf"),
        ("utf-16", b""),
    ],
)
def test_how_a_file_begins_tells_its_encoding_before_any_name(tmp_path: Path, declared: str, data: bytes) -> None:
    text = TEXT.replace('encoding="UTF-8"', f'encoding="{declared}"').replace("NAME", "caf\u00e9 \u20ac")
    file = tmp_path / "p.bpmn"
    file.write_bytes(data + text.encode("utf-8" if data else "utf-16-le"))
    assert read_model_text(file) == text
    assert read_model(file.read_bytes()).definitions == read_model(text).definitions


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "p.bpmn"
    file.write_bytes(b'<?xml version="1.0" encoding="UTF-8"?><a name="\xff"/>')
    with pytest.raises(DefinitionError, match=r"p\.bpmn:1:1: model\.unreadable: it is not in UTF-8"):
        read_model_text(file)

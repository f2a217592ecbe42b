"""Untrusted bytes read into tags: no document types, entities or outside references, everything within limits."""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pyexpat import ExpatError, ParserCreate, XMLParserType, errors

from perdure.bpmn.xml import read_limits
from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import SEPARATOR, usual
from perdure.errors import ModelError, Problem

_CHUNK_BYTES = 64 * 1024
_ENCODINGS = frozenset((
    "utf-8", "utf-16", "utf-16le", "utf-16be", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252",
))  # fmt: skip
_ALIASES = {
    "utf8": "utf-8", "ascii": "us-ascii", "latin1": "iso-8859-1", "latin-1": "iso-8859-1", "cp1252": "windows-1252",
}  # fmt: skip
"""Names that XML does not have and people write."""
_BEGINNINGS = {
    BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16",
    b"<\0?\0": "utf-16-le", b"\0<\0?": "utf-16-be",
}  # fmt: skip
"""How a file tells its encoding before it names any."""
_DECLARED = re.compile(rb"<\?xml[^>]{0,100}?\sencoding\s*=\s*[\"']([\w.-]{1,40})[\"']", re.ASCII)
_HINTS = {
    "BPM001": "Save it again from the modeller, as UTF-8.",
    "BPM003": "Split the model, or remove what is so large.",
    "BPM004": "Flatten it: call a process instead of nesting one more.",
}
_INVALID_TOKEN = errors.codes[errors.XML_ERROR_INVALID_TOKEN]
_INCLUSION = "http://www.w3.org/2001/XInclude"
_PROSE = frozenset(("bpmn:documentation", "bpmn:text"))
"""Elements that may hold text with marks in it, as XHTML has them: the text is read, the marks are not."""
_LINES = ("}p", "}br", "}div", "}li", "}tr", "}h1", "}h2", "}h3")
"""How the names of marks end after which a new line begins."""
_DOCTYPE_HINT = "Remove the document type: a model needs none, and none is read."


def parse_tags(data: bytes | str, file: str) -> Tag:
    """The root element. Raises ModelError with the one problem that ended the reading."""
    return _Parsing(data, file).root()


def text_of(data: bytes) -> str:
    """The text of a file as it is read; UnicodeDecodeError where it is none in the encoding it names."""
    for beginning, encoding in _BEGINNINGS.items():
        if data.startswith(beginning):
            return data.decode(encoding)
    declared = _declared(data)
    name = _ALIASES.get(declared, declared)
    return data.decode(name if name in _ENCODINGS and not name.startswith("utf") else "utf-8")


def _meant(data: bytes) -> str | None:
    """The encoding of a file that gives it a name XML does not have; else the parser knows by itself."""
    return _ALIASES.get(_declared(data))


def _declared(data: bytes) -> str:
    found = _DECLARED.match(data)
    return found[1].decode().lower() if found else ""


class _Parsing:
    def __init__(self, data: bytes | str, file: str) -> None:
        self._file = file
        self._encoding = ""
        self._data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data.removeprefix(BOM_UTF8)
        # The encoding named in a text was that of the file it came from; the mark of UTF-8 tells it before any name.
        is_utf8 = isinstance(data, str) or data.startswith(BOM_UTF8)
        self._parser = ParserCreate("utf-8" if is_utf8 else _meant(self._data), SEPARATOR)
        self._open: list[Tag] = []
        self._texts: list[list[str]] = []
        self._root: Tag | None = None
        self._count = 0
        self._prose = 0
        self._names: dict[str, str] = {}
        self._listen(self._parser)

    def _listen(self, parser: XMLParserType) -> None:
        parser.buffer_text = True
        parser.buffer_size = _CHUNK_BYTES
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._doctype
        parser.ProcessingInstructionHandler = self._instruction

    def root(self) -> Tag:
        if len(self._data) > read_limits.MAX_BYTES:
            raise self._refusal("BPM003", f"it has more than {read_limits.MAX_BYTES:,} bytes", at=(1, 1))
        try:
            self._feed()
        except ExpatError as error:
            raise self._malformed(error) from None
        except (ValueError, LookupError):
            fact = "its encoding cannot be read"
            raise self._refusal("BPM001", fact, "Save it as UTF-8.", at=(1, 1)) from None
        assert self._root is not None
        return self._root

    def _feed(self) -> None:
        # In pieces, so that a refusal ends the work instead of the end of the file.
        for start in range(0, len(self._data), _CHUNK_BYTES):
            self._parser.Parse(self._data[start : start + _CHUNK_BYTES], False)
            if start + _CHUNK_BYTES - self._parser.CurrentByteIndex > read_limits.MAX_TAG_BYTES:
                raise self._refusal("BPM003", f"a tag or comment has more than {read_limits.MAX_TAG_BYTES:,} bytes")
        self._parser.Parse(b"", True)

    def _start(self, raw: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if self._count > read_limits.MAX_ELEMENTS:
            raise self._refusal("BPM003", f"it has more than {read_limits.MAX_ELEMENTS:,} elements")
        if len(self._open) >= read_limits.MAX_DEPTH:
            raise self._refusal("BPM004", f"its elements nest deeper than {read_limits.MAX_DEPTH}")
        if raw.startswith(_INCLUSION):
            raise self._refusal("BPM002", "it includes another file", "Put what it includes into this file.")
        tag = Tag(self._name(raw), self._attributes(attributes))
        tag.line, tag.column = self._here()
        if not self._open:
            self._root = tag
        elif not self._prose:
            self._open[-1].children.append(tag)
        self._open.append(tag)
        self._texts.append([])
        self._prose += tag.name in _PROSE

    def _end(self, raw: str) -> None:
        tag, text = self._open.pop(), "".join(self._texts.pop())
        self._prose -= tag.name in _PROSE
        if self._prose:
            self._texts[-1].append(f"{text}\n" if tag.name.endswith(_LINES) else text)
        # White space between elements is nobody's text.
        tag.text = "" if tag.children and text.isspace() else text

    def _text(self, text: str) -> None:
        self._texts[-1].append(text)

    def _attributes(self, attributes: dict[str, str]) -> dict[str, str]:
        if len(attributes) > read_limits.MAX_ATTRIBUTES:
            fact = f"an element has {len(attributes):,} attributes and may have {read_limits.MAX_ATTRIBUTES}"
            raise self._refusal("BPM003", fact)
        for name, text in attributes.items():
            if len(text) > read_limits.MAX_ATTRIBUTE_LENGTH or len(name) > read_limits.MAX_ATTRIBUTE_LENGTH:
                fact = f"an attribute has more than {read_limits.MAX_ATTRIBUTE_LENGTH:,} characters"
                raise self._refusal("BPM003", fact)
        return {self._name(name): text for name, text in attributes.items()}

    def _name(self, raw: str) -> str:
        name = self._names.get(raw)
        if name is None:
            name = self._names[raw] = usual(raw)
        return name

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        self._encoding = _ALIASES.get((encoding or "").lower(), (encoding or "").lower())
        if encoding is not None and self._encoding not in _ENCODINGS:
            raise self._refusal("BPM001", f"its encoding '{encoding[:40]}' is not read", "Save it as UTF-8.")

    def _doctype(self, *declared: object) -> None:
        fact = "it declares a document type or an entity"
        raise self._refusal("BPM002", fact, _DOCTYPE_HINT, at=self._doctype_start())

    def _doctype_start(self) -> tuple[int, int] | None:
        """Where the declaration begins: the parser tells of it when it has read on."""
        start = self._data.rfind(b"<!DOCTYPE", 0, self._parser.CurrentByteIndex + len(b"<!DOCTYPE"))
        if start < 0:
            return None
        before = self._data[:start].decode("utf-8", "replace").split("\n")
        return len(before), len(before[-1]) + 1

    def _instruction(self, target: str, data: str) -> None:
        raise self._refusal("BPM002", f"it holds the processing instruction '{target[:40]}'", "Remove it.")

    def _malformed(self, error: ExpatError) -> ModelError:
        fact = f"it is not well-formed XML: {error.args[0].partition(':')[0]}"
        if not self._data.strip():
            fact = "the file is empty"
        elif error.code == _INVALID_TOKEN and self._is_not_utf8():
            fact = "it is not in UTF-8, and names no other encoding"
        return self._refusal("BPM001", fact, at=(error.lineno, error.offset + 1))

    def _is_not_utf8(self) -> bool:
        if self._encoding not in ("", "utf-8"):
            return False
        try:
            self._data.decode()
        except UnicodeDecodeError:
            return True
        return False

    def _here(self) -> tuple[int, int]:
        return self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1

    def _refusal(self, code: str, fact: str, hint: str = "", at: tuple[int, int] | None = None) -> ModelError:
        line, column = at or self._here()
        return ModelError([Problem(code, self._file, line, column, "", fact, hint or _HINTS.get(code, ""))])

"""Tags into text: escaped, indented, always the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.bpmn.xml.element import Tag
from perdure.bpmn.xml.namespaces import NAMESPACES
from perdure.errors import ModelError, Problem

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAME = re.compile(r"(?:([a-z]+):|\{([^{}]+)\})?([A-Za-z_][A-Za-z0-9_.-]*)")
_ALWAYS = ("bpmn", "bpmndi", "dc", "zeebe", "di", "xsi", "modeler")
_TEXT = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
_ATTRIBUTE = {**_TEXT, '"': "&#34;", "\n": "&#10;", "\t": "&#9;"}
_TEXT_TABLE = str.maketrans(_TEXT)
_ATTRIBUTE_TABLE = str.maketrans(_ATTRIBUTE)


def render(root: Tag, file: str) -> str:
    """The document. Raises ModelError for a character or a name that XML cannot carry."""
    return _Rendering(file).document(root)


class _Rendering:
    def __init__(self, file: str) -> None:
        self._file = file
        self._element = ""
        self._used: set[str] = set()
        self._unusual: dict[str, str] = {}

    def document(self, root: Tag) -> str:
        names = {name for tag in _everything(root) for name in (tag.name, *tag.attributes)}
        for name in sorted(names):
            self._declare(name)
        prefixes = [*_ALWAYS, *sorted(self._used - {*_ALWAYS, "xml"})]
        declared = {f"xmlns:{prefix}": NAMESPACES[prefix] for prefix in prefixes}
        declared |= {f"xmlns:{prefix}": uri for uri, prefix in self._unusual.items()}
        lines = ['<?xml version="1.0" encoding="UTF-8"?>', *self._lines(root, "", declared)]
        return "\n".join(lines) + "\n"

    def _declare(self, name: str) -> None:
        match = _NAME.fullmatch(name)
        prefix, uri = (match[1], match[2]) if match else ("", "")
        is_strange = match is None or (prefix and prefix not in NAMESPACES) or name.startswith("xmlns")
        if is_strange or (uri and "www.w3.org/2000/xmlns" in uri):
            raise self._refusal(f"'{name[:80]}' is no name of an element or attribute")
        if prefix:
            self._used.add(prefix)
        if uri:
            self._unusual.setdefault(uri, f"ns{len(self._unusual)}")

    def _lines(self, tag: Tag, indent: str, declared: dict[str, str]) -> Iterator[str]:
        self._element = tag.attributes.get("id", self._element)
        name = self._written(tag.name)
        head = indent + "<" + " ".join((name, *self._attributes({**declared, **tag.attributes})))
        text = self._escaped(tag.text, _TEXT_TABLE)
        if not tag.children:
            yield f"{head}>{text}</{name}>" if text else f"{head} />"
            return
        yield f"{head}>{text}"
        for child in tag.children:
            yield from self._lines(child, indent + "  ", {})
        yield f"{indent}</{name}>"

    def _attributes(self, attributes: dict[str, str]) -> Iterator[str]:
        for name, text in attributes.items():
            yield f'{self._written(name)}="{self._escaped(text, _ATTRIBUTE_TABLE)}"'

    def _written(self, name: str) -> str:
        if not name.startswith("{"):
            return name
        uri, _, local = name[1:].rpartition("}")
        return f"{self._unusual[uri]}:{local}"

    def _escaped(self, text: str, table: dict[int, str]) -> str:
        if (found := _FORBIDDEN.search(text)) is not None:
            raise self._refusal(f"it holds U+{ord(found.group()):04X}, a character XML cannot carry")
        return text.translate(table)

    def _refusal(self, fact: str) -> ModelError:
        return ModelError([Problem("BPM017", self._file, 1, 1, self._element, fact)], "write")


def _everything(root: Tag) -> Iterator[Tag]:
    open_tags = [root]
    while open_tags:
        tag = open_tags.pop()
        yield tag
        open_tags += tag.children

"""The YAML reader: text becomes nodes; nothing in the text can run, recurse or explode."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from perdure.verbs.yaml_nodes import Node, Report

MAX_FILE_BYTES = 2_000_000
MAX_DEPTH = 64
MAX_KEY = 200
MAX_NODES = 100_000
"""Counted with every alias written out, so that a few lines cannot stand for millions of values."""

_SAFE_INTEGER = 2**53 - 1
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TEXT_TAGS = frozenset({"!", "tag:yaml.org,2002:str"})
_PLAIN_TAGS = frozenset({"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"})
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Refused(Exception):
    """Stops reading one file; the problem is already in the report."""


def parse_text(text: str, file: str, report: Report) -> list[Node]:
    """One node per document; an unreadable text adds a problem and gives what came before it."""
    documents: list[Node] = []
    if len(text) > MAX_FILE_BYTES:
        report.add((file, 1, 1), "yaml.too_large", "", f"it is larger than {MAX_FILE_BYTES} bytes", "Split it.")
        return documents
    try:
        documents.extend(_Composer(file, report).documents(text))
    except _Refused:
        pass
    except UnicodeError:
        report.add((file, 1, 1), "yaml.encoding", "", "it is not UTF-8 text", "Save the file as UTF-8.")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        said = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is not YAML"
        report.add((file, *place), "yaml.syntax", "", f"the YAML does not parse: {said}")
    return documents


class _Composer:
    def __init__(self, file: str, report: Report) -> None:
        self._file = file
        self._report = report
        self._anchors: dict[str, Node] = {}
        self._open: list[_Frame] = []
        self._count = 0

    def documents(self, text: str) -> Iterator[Node]:
        for event in yaml.parse(text, Loader=_LOADER):
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
                continue
            done = self._take(event)
            if done is not None and not self._open:
                yield done

    def _take(self, event: Any) -> Node | None:
        """The node that this event completes at the current level, if any."""
        if isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            node = self._alias(event) if isinstance(event, yaml.AliasEvent) else self._scalar(event)
            return self._put(node)
        if isinstance(event, yaml.CollectionStartEvent):
            self._push(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            frame = self._open.pop()
            if frame.anchor:
                self._anchors[frame.anchor] = frame.node
            return self._put(frame.node)
        return None

    def _push(self, event: Any) -> None:
        if len(self._open) >= MAX_DEPTH:
            self._refuse(event, "yaml.too_deep", f"it is nested more than {MAX_DEPTH} levels deep")
        if event.tag is not None and event.tag not in _PLAIN_TAGS:
            self._refuse(event, "yaml.tag", f"the tag {event.tag} is not allowed", "Definitions are plain data.")
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        node = Node(value, event.start_mark.line + 1, event.start_mark.column + 1, self._child_path(event))
        self._spend(event, 1)
        self._open.append(_Frame(node, event.anchor))

    def _put(self, node: Node) -> Node:
        if not self._open:
            return node
        frame = self._open[-1]
        frame.node.size += node.size
        if isinstance(frame.node.value, list):
            frame.node.value.append(node)
        elif frame.key is None:
            frame.key = self._key(frame, node)
        else:
            if frame.key in frame.node.value:
                self._duplicate(frame, frame.key)
            else:
                frame.node.value[frame.key] = node
                frame.node.key_places[frame.key] = frame.key_place
            frame.key = None
        return node

    def _key(self, frame: _Frame, node: Node) -> str:
        if isinstance(node.value, list | dict):
            place = (node.line, node.column)
            self._report.add((self._file, *place), "yaml.key", frame.node.path, "a key must be a single word or text")
            raise _Refused
        frame.key_place = (node.line, node.column)
        if len(frame.key_text) > MAX_KEY:
            reason = f"a key has more than {MAX_KEY} characters"
            self._report.add((self._file, *frame.key_place), "yaml.key", frame.node.path, reason)
            raise _Refused
        return frame.key_text

    def _duplicate(self, frame: _Frame, key: str) -> None:
        line = frame.node.key_places[key][0]
        path = f"{frame.node.path}.{key}".lstrip(".")
        reason = f"the key '{key}' was already given on line {line}"
        self._report.add((self._file, *frame.key_place), "yaml.duplicate_key", path, reason, "Remove one of the two.")

    def _scalar(self, event: Any) -> Node:
        self._spend(event, 1)
        node = Node(None, event.start_mark.line + 1, event.start_mark.column + 1, self._child_path(event))
        if self._open and isinstance(self._open[-1].node.value, dict) and self._open[-1].key is None:
            # A key is its own text: `on`, `404` and `null` are names here, not values.
            self._open[-1].key_text = event.value
            node.value = event.value
        else:
            node.value = self._resolve(event)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _resolve(self, event: Any) -> Any:
        if event.tag in _TEXT_TAGS or (event.tag is None and event.style):
            return event.value
        if event.tag is not None:
            self._refuse(event, "yaml.tag", f"the tag {event.tag} is not allowed", "Definitions are plain data.")
        value = plain_scalar(event.value)
        if isinstance(value, float) and not math.isfinite(value):
            self._refuse(event, "yaml.number", f"the number {event.value[:40]} is too large", "Quote it to keep text.")
        if isinstance(value, int) and abs(value) > _SAFE_INTEGER:
            self._refuse(event, "yaml.number", f"the number {event.value[:40]} is beyond 2^53-1", "Quote it.")
        return value

    def _alias(self, event: Any) -> Node:
        node = self._anchors.get(event.anchor)
        if node is None:
            self._refuse(event, "yaml.alias", f"the alias *{event.anchor} refers to nothing finished before it")
            raise _Refused
        self._spend(event, node.size)
        if self._open and isinstance(self._open[-1].node.value, dict) and self._open[-1].key is None:
            self._refuse(event, "yaml.key", "an alias cannot be a key")
        return node

    def _spend(self, event: Any, nodes: int) -> None:
        self._count += nodes
        if self._count > MAX_NODES:
            hint = "Split the file or repeat fewer aliases."
            self._refuse(event, "yaml.too_large", f"it holds more than {MAX_NODES} values", hint)

    def _child_path(self, event: Any) -> str:
        if not self._open:
            return ""
        frame = self._open[-1]
        if isinstance(frame.node.value, list):
            return f"{frame.node.path}[{len(frame.node.value)}]"
        return f"{frame.node.path}.{frame.key}".lstrip(".") if frame.key is not None else frame.node.path

    def _refuse(self, event: Any, code: str, reason: str, hint: str = "") -> None:
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        self._report.add((self._file, *place), code, self._child_path(event), reason, hint)
        raise _Refused


class _Frame:
    """A list or mapping whose end has not been read yet."""

    __slots__ = ("anchor", "key", "key_place", "key_text", "node")

    def __init__(self, node: Node, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.key: str | None = None
        self.key_text = ""
        self.key_place = (node.line, node.column)


def plain_scalar(text: str) -> Any:
    """What an unquoted scalar means: null, true, false or a number; all else is text, dates and yes/no included."""
    if text in _NULLS:
        return None
    if text in ("true", "false"):
        return text == "true"
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= 20 else _SAFE_INTEGER + 1
    if _FLOAT.fullmatch(text):
        return float(text)
    return text

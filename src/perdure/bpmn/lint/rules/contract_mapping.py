"""A mapping or header of the contract profile does not follow its paths.

Inputs lead from `state.` to `request.`, outputs from `result.` to `state.`; keys of headers are lower case and at most
64 characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import all_extensions

CODE = "CON006"
NAME = "contract-mapping"
SEVERITIES = Severities("error", hollow="off", open="off")


_PATHS = {"ameide:input": ("state.", "request."), "ameide:output": ("result.", "state.")}
_KEY = re.compile(r"[a-z][a-z0-9_.-]{0,63}")


def check(index: Index) -> Iterator[Note]:
    for element, extension in all_extensions(index):
        if extension.name in _PATHS:
            source, target = _PATHS[extension.name]
            if not extension.attributes.get("source", "").startswith(source):
                yield Note(element, f"a mapping does not begin at '{source}'", f"Map {source}… to {target}….")
            if not extension.attributes.get("target", "").startswith(target):
                yield Note(element, f"a mapping does not lead to '{target}'", f"Map {source}… to {target}….")
        elif extension.name == "ameide:header" and not _KEY.fullmatch(extension.attributes.get("key", "")):
            key = extension.attributes.get("key", "")
            yield Note(element, f"the key '{key[:80]}' of a header is not in lower case", "Write it in lower case.")

"""Loads lifecycle files and reports all problems of all files at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from perdure.errors import DefinitionError
from perdure.lifecycles.guards import GuardTable
from perdure.lifecycles.lifecycle_reader import ROOTS, LifecycleFile, LifecycleReader
from perdure.verbs.yaml_nodes import Report
from perdure.verbs.yaml_reader import MAX_FILE_BYTES, parse_text

MAX_FILES = 1000
FOLDER = "lifecycles"
"""The folder beside the verbs of a project."""


def load_lifecycles(places: Iterable[str | Path], table: GuardTable | None = None) -> list[LifecycleFile]:
    """Read folders (all *.yaml and *.yml below) and files; raises DefinitionError with every problem found."""
    report, guards = Report(), table or GuardTable()
    found: list[LifecycleFile] = []
    for file in _files(places, report):
        found.extend(_read(_text(file, report), str(file), report, guards))
    return _unique(found, report)


def read_lifecycle(text: str, file: str = "<text>", table: GuardTable | None = None) -> LifecycleFile:
    """The lifecycle of one text, as if it were a file of that name."""
    report = Report()
    found = _unique(_read(text, file, report, table or GuardTable()), report)
    if len(found) != 1:
        report.add((file, 1, 1), "lifecycle.layout", "", f"expected one lifecycle, found {len(found) or 'none'}")
        raise DefinitionError(report.problems)
    return found[0]


def default_places(definitions: Iterable[str | Path]) -> list[Path]:
    """The folders `lifecycles` beside the verbs, where there are any."""
    folders = [definition.parent / FOLDER for definition in map(Path, definitions)]
    return [each for each in dict.fromkeys(folders) if each.is_dir()]


def _files(places: Iterable[str | Path], report: Report) -> list[Path]:
    found: dict[Path, None] = {}
    for place in map(Path, places):
        if place.is_dir():
            inside = [each for each in place.rglob("*") if each.suffix in (".yaml", ".yml") and each.is_file()]
            found.update(dict.fromkeys(sorted(inside)))
        elif place.is_file():
            found[place] = None
        else:
            report.add((str(place), 1, 1), "file.missing", "", "there is no such file or folder")
    if len(found) > MAX_FILES:
        reason = f"there are more than {MAX_FILES} lifecycle files"
        report.add((str(next(iter(found))), 1, 1), "file.too_many", "", reason)
    return list(found)[:MAX_FILES]


def _text(file: Path, report: Report) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_FILE_BYTES + 1).decode("utf-8-sig")
    except OSError as error:
        report.add((str(file), 1, 1), "file.unreadable", "", f"it cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        report.add((str(file), 1, 1), "yaml.encoding", "", "it is not UTF-8 text", "Save the file as UTF-8.")
    return ""


def _read(text: str, file: str, report: Report, table: GuardTable) -> list[LifecycleFile]:
    found: list[LifecycleFile] = []
    for node in parse_text(text, file, report):
        if node.value is None:
            continue
        if not isinstance(node.value, dict) or not any(key in node.value for key in (*ROOTS, "states")):
            hint = "Begin with `lifecycle: <name>`."
            report.add((file, node.line, node.column), "lifecycle.layout", "", "it is not a lifecycle", hint)
            continue
        found.append(LifecycleReader(file, report, table).read(node))
    return found


def _unique(found: Sequence[LifecycleFile], report: Report) -> list[LifecycleFile]:
    first: dict[str, LifecycleFile] = {}
    for each in found:
        other = first.setdefault(each.definition.name, each)
        if other is not each:
            reason = f"the lifecycle '{each.definition.name}' was already declared in {other.file}"
            report.add((each.file, 1, 1), "lifecycle.duplicate", "", reason, "Rename one of the two.")
    if report.problems:
        raise DefinitionError(report.problems)
    return list(first.values())

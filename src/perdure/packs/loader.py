"""Loads pack files into one shelf, reporting all problems of all files at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from perdure.errors import DefinitionError, RejectedError, Rejection
from perdure.packs.definition import Pack
from perdure.packs.pack_reader import PackReader
from perdure.payload.digests import digest, digest_text
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.yaml_nodes import Report
from perdure.verbs.yaml_reader import MAX_FILE_BYTES, parse_text

MAX_FILES = 1000


class Shelf:
    """All packs of one load, by id. Read-only."""

    __slots__ = ("_packs",)

    def __init__(self, packs: Iterable[Pack] = ()) -> None:
        self._packs = {pack.id: pack for pack in packs}

    def __iter__(self) -> Iterator[Pack]:
        return iter(self._packs.values())

    def __len__(self) -> int:
        return len(self._packs)

    def ids(self) -> list[str]:
        return list(self._packs)

    def find(self, id: str) -> Pack | None:
        return self._packs.get(id)

    def get(self, id: str) -> Pack:
        """Like `find`, but an unknown pack is a rejection that names the nearest one."""
        if id in self._packs:
            return self._packs[id]
        hint = did_you_mean(id, self._packs) or "See 'perdure packs list'."
        raise RejectedError(Rejection("not_found", "find", "pack", id, "no such pack is declared", hint))


def load_packs(places: Sequence[Path]) -> Shelf:
    """Reads folders (all *.yaml and *.yml below) and files; raises DefinitionError with every problem found."""
    report = Report()
    files = pack_files(places, report)
    packs = [pack for file in files for pack in _read(_bytes(file, report), str(file), report)]
    return _shelf(packs, report)


def load_pack_text(text: str, file: str = "<text>") -> Pack:
    """The pack of one text, as if it were a file of that name."""
    report = Report()
    return next(iter(_shelf(_read(text.encode(), file, report), report)))


def pack_files(places: Sequence[Path], report: Report) -> list[Path]:
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
        report.add((str(places[0]), 1, 1), "file.too_many", "", f"there are more than {MAX_FILES} pack files")
    return list(found)[:MAX_FILES]


def _bytes(file: Path, report: Report) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        report.add((str(file), 1, 1), "file.unreadable", "", f"it cannot be read: {error.strerror}")
        return b""


def _read(data: bytes, file: str, report: Report) -> list[Pack]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        report.add((file, line, 1), "yaml.encoding", "", "it is not UTF-8 text", "Save the file as UTF-8.")
        return []
    before = len(report.problems)
    documents = [node for node in parse_text(text, file, report) if node.value is not None]
    if len(documents) != 1:
        if len(report.problems) == before:
            reason = f"expected one pack, found {len(documents) or 'none'}"
            report.add((file, 1, 1), "pack.layout", "", reason, "One file holds one pack.")
        return []
    return [PackReader(file, report).read(documents[0], digest_text(digest(data)))]


def _shelf(packs: Sequence[Pack], report: Report) -> Shelf:
    first: dict[str, Pack] = {}
    for pack in packs:
        other = first.setdefault(pack.id, pack)
        if other is not pack:
            place = (pack.file, pack.lines.get("id", 1), 1)
            report.add(place, "pack.duplicate", "id", f"the pack '{pack.id}' was already declared in {other.file}")
    if report.problems:
        raise DefinitionError(report.problems)
    return Shelf(packs)

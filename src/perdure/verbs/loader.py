"""Loads definition files of every layout into one catalogue, reporting all problems of all files at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perdure.errors import DefinitionError
from perdure.verbs.canonical_layout_reader import Draft, VerbReader
from perdure.verbs.catalogue import Catalogue
from perdure.verbs.compiled_schema import CompiledSchema, SchemaFault
from perdure.verbs.definition import EntityDefinition, same_verb_name
from perdure.verbs.definition_checks import check_all
from perdure.verbs.document_section_reader import DocumentReader, read_reason
from perdure.verbs.document_types import DocumentType, RejectionReason
from perdure.verbs.domain_layout_reader import DomainReader
from perdure.verbs.entity_section_reader import read_entities
from perdure.verbs.handler_overrides import MAPPING_NAME, Override, apply_overrides, node_of, read_overrides
from perdure.verbs.mapping_reader import Fields
from perdure.verbs.near_names import did_you_mean
from perdure.verbs.schema_shorthand import SchemaReader, with_definitions
from perdure.verbs.yaml_keys import ACCEPTED_KEYS
from perdure.verbs.yaml_nodes import Node, Report
from perdure.verbs.yaml_reader import MAX_FILE_BYTES, parse_text

MAX_FILES = 10_000
DOCUMENTS = "documents"
"""The folder of document types and rejection reasons beside the verbs of a project."""
Overrides = Mapping[str, Any] | Path


def load_catalogue(sources: Sequence[Path], overrides: Overrides | None = None) -> Catalogue:
    """Reads folders (all *.yaml and *.yml below) and files; raises DefinitionError with every problem found."""
    loading = _Loading()
    for file in _files(sources, loading.report):
        loading.add_text(_read_text(file, loading.report), str(file))
    return loading.finish(_given_overrides(overrides, loading.report))


def definition_places(definitions: Sequence[str | Path], documents: Sequence[str | Path] | None = None) -> list[Path]:
    """Where definitions are, with those of documents: as named, else the folders `documents` beside the others."""
    places = [Path(each) for each in definitions]
    if documents is not None:
        return [*places, *(Path(each) for each in documents)]
    beside = dict.fromkeys(place.parent / DOCUMENTS for place in places)
    return [*places, *(each for each in beside if each.is_dir())]


def load_text(text: str, file: str = "<text>", overrides: Overrides | None = None) -> Catalogue:
    """The catalogue of one text, as if it were a file of that name."""
    loading = _Loading()
    loading.add_text(text, file)
    return loading.finish(_given_overrides(overrides, loading.report))


class _Loading:
    """One load: definitions are gathered first because any verb may refer to them."""

    def __init__(self) -> None:
        self.report = Report()
        self._verbs: list[tuple[str, Node]] = []
        self._definitions: dict[str, tuple[str, Node]] = {}
        self._entities: dict[str, EntityDefinition] = {}
        self._documents: dict[str, tuple[str, Node]] = {}
        self._reasons: dict[str, RejectionReason] = {}

    def add_text(self, text: str, file: str) -> None:
        for root in parse_text(text, file, self.report):
            self._add_document(root, file)

    def finish(self, overrides: list[Override]) -> Catalogue:
        definitions = self._converted_definitions()
        drafts = [VerbReader(file, self.report, definitions).read(node) for file, node in self._verbs]
        check_all(drafts, self._entities)
        effective = apply_overrides(drafts, overrides)
        documents = self._read_documents(definitions, drafts)
        if self.report.problems:
            raise DefinitionError(self.report.problems)
        return Catalogue(effective, self._entities, definitions, documents, self._reasons)

    def _read_documents(self, definitions: Mapping[str, Any], verbs: Sequence[Draft]) -> dict[str, DocumentType]:
        known = {same_verb_name(each.definition.name) for each in verbs}
        found: dict[str, DocumentType] = {}
        for name, (file, node) in self._documents.items():
            found[name] = type = DocumentReader(file, self.report, definitions).read(name, node)
            for verb in (type.scan, type.extraction.verb if type.extraction is not None else ""):
                if verb and same_verb_name(verb) not in known:
                    reason = f"the document type '{name}' names the verb '{verb}', which is not declared"
                    hint = did_you_mean(verb, [each.definition.name for each in verbs])
                    self.report.add((file, node.line, node.column), "document.unknown_verb", node.path, reason, hint)
        return found

    def _add_document(self, root: Node, file: str) -> None:
        if root.value is None:
            return
        if isinstance(root.value, list):
            self._verbs.extend((file, node) for node in root.value)
        elif not isinstance(root.value, dict):
            self.report.add((file, root.line, root.column), "file.layout", "", f"expected verbs, found {root.kind()}")
        elif "name" in root.value and not isinstance(root.value["name"].value, dict):
            self._verbs.append((file, root))
        elif ACCEPTED_KEYS["file"] & root.value.keys() or not _is_domain_map(root):
            self._add_sections(root, file)
        else:
            self._verbs.extend((file, node) for node in DomainReader(file, self.report).flat(root))

    def _add_sections(self, root: Node, file: str) -> None:
        fields = Fields(root, "file", file, self.report)
        self._verbs.extend((file, node) for node in fields.items("verbs"))
        for name, node in fields.mapping("definitions").items():
            self._add_definition(name, node, fields)
        if (entities := fields.get("entities")) is not None:
            self._add_entities(entities, fields)
        for name, node in fields.mapping("documents").items():
            self._add_document_type(name, node, fields)
        for code, node in fields.mapping("rejection_reasons").items():
            self._add_reason(code, node, fields)
        if (domains := fields.get("domains")) is not None:
            self._verbs.extend((file, node) for node in DomainReader(file, self.report).nested(domains))

    def _add_document_type(self, name: str, node: Node, fields: Fields) -> None:
        if name in self._documents:
            first = self._documents[name]
            hint = f"The other is in {first[0]} on line {first[1].line}."
            fields.wrong(node, "duplicate", f"the document type '{name}' was already declared", hint)
        self._documents[name] = (fields.file, node)

    def _add_reason(self, code: str, node: Node, fields: Fields) -> None:
        if code in self._reasons:
            first = self._reasons[code]
            hint = f"The other is in {first.file} on line {first.line}."
            fields.wrong(node, "duplicate", f"the rejection reason '{code}' was already declared", hint)
        self._reasons[code] = read_reason(code, node, fields.file, self.report)

    def _add_definition(self, name: str, node: Node, fields: Fields) -> None:
        if name in self._definitions:
            first = self._definitions[name]
            hint = f"The other is in {first[0]} on line {first[1].line}."
            fields.wrong(node, "duplicate", f"the definition '{name}' was already declared", hint)
        self._definitions[name] = (fields.file, node)

    def _add_entities(self, node: Node, fields: Fields) -> None:
        for entity in read_entities(node, fields.file, self.report):
            if entity.name in self._entities:
                first = self._entities[entity.name]
                hint = f"The other is in {first.file} on line {first.line}."
                fields.wrong(node, "duplicate", f"the entity '{entity.name}' was already declared", hint)
            self._entities[entity.name] = entity

    def _converted_definitions(self) -> dict[str, Any]:
        names = dict.fromkeys(self._definitions)
        converted: dict[str, Any] = {}
        for name, (file, node) in self._definitions.items():
            converted[name] = SchemaReader(file, self.report, names).value(node)
        for name, (file, node) in self._definitions.items():
            try:
                CompiledSchema(with_definitions(converted[name], converted))
            except SchemaFault as fault:
                reason = f"the definition '{name}' is not valid: {fault.reason}"[:300]
                self.report.add((file, node.line, node.column), "schema.invalid", node.path, reason)
        return converted


def _is_domain_map(root: Node) -> bool:
    """Every value is a mapping of mappings: domains, their verbs, and what these say."""
    return bool(root.value) and all(
        isinstance(domain.value, dict)
        and domain.value
        and all(isinstance(verb.value, dict) for verb in domain.value.values())
        for domain in root.value.values()
    )


def _files(sources: Sequence[Path], report: Report) -> list[Path]:
    found: list[Path] = []
    for source in sources:
        path = Path(source)
        if path.is_dir():
            inside = (each for each in path.rglob("*") if each.suffix in (".yaml", ".yml") and each.is_file())
            found.extend(sorted(inside))
        elif path.is_file():
            found.append(path)
        else:
            siblings = [str(each) for each in path.parent.iterdir()] if path.parent.is_dir() else []
            hint = did_you_mean(str(path), siblings)
            report.add((str(path), 1, 1), "file.missing", "", "there is no such file or folder", hint)
    if len(found) > MAX_FILES:
        report.add((str(sources[0]), 1, 1), "file.too_many", "", f"there are more than {MAX_FILES} definition files")
    return list(dict.fromkeys(found))[:MAX_FILES]


def _read_text(file: Path, report: Report) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        report.add((str(file), 1, 1), "file.unreadable", "", f"it cannot be read: {error.strerror}")
        return ""
    if len(data) > MAX_FILE_BYTES:
        report.add((str(file), 1, 1), "yaml.too_large", "", f"it is larger than {MAX_FILE_BYTES} bytes", "Split it.")
        return ""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        report.add((str(file), line, 1), "yaml.encoding", "", "it is not UTF-8 text", "Save the file as UTF-8.")
        return ""


def _given_overrides(overrides: Overrides | None, report: Report) -> list[Override]:
    if overrides is None:
        return []
    if isinstance(overrides, Path):
        files = _files([overrides], report)
        nodes = [
            (str(file), node) for file in files for node in parse_text(_read_text(file, report), str(file), report)
        ]
    else:
        nodes = [(MAPPING_NAME, node_of(overrides))]
    return [each for file, node in nodes if node.value is not None for each in read_overrides(node, file, report)]

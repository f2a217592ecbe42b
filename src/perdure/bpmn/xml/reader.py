"""XML in: a file of BPMN 2.0, plain or with the extension elements of the Modeler, read into the process model."""

from __future__ import annotations

from itertools import islice

from perdure.bpmn.model import Model, Place
from perdure.bpmn.xml.parser import parse_tags
from perdure.bpmn.xml.read_limits import MAX_PROBLEMS
from perdure.bpmn.xml.readers.contract_places import extension_places
from perdure.bpmn.xml.readers.diagrams import read_diagram
from perdure.bpmn.xml.readers.file_context import Reading
from perdure.bpmn.xml.readers.global_elements import global_tasks, look_at_operations, referred
from perdure.bpmn.xml.readers.ids import read_ids
from perdure.bpmn.xml.readers.misplaced_elements import look_at_children
from perdure.bpmn.xml.readers.misplaced_extensions import look_at_places
from perdure.bpmn.xml.readers.root_elements import read_definitions
from perdure.bpmn.xml.readers.unknown_attributes import look_at_spelling
from perdure.bpmn.xml.readers.unused_references import look_for_strays
from perdure.bpmn.xml.readers.whitespace import drop_blanks
from perdure.bpmn.xml.reference_checks import reference_faults
from perdure.errors import ModelError

UNNAMED = "model.bpmn"
_REFUSED = ("BPM012", "BPM013")
"""Codes of elements that are there and cannot be read: what refers to them is not told as well."""


def read_model(data: bytes | str, file: str = "") -> Model:
    """The model of a file. Raises ModelError with every problem found, each with its line and column.

    Nothing outside the bytes is ever looked at, and time and memory are bounded by their number.
    """
    root = parse_tags(data, file or UNNAMED)
    reading = Reading(file or UNNAMED)
    if root.name != "bpmn:definitions":
        fact = f"its root is '{root.name[:80]}', not the definitions of BPMN 2.0"
        reading.report("BPM005", root, fact, "Save it as BPMN 2.0.")
        raise ModelError(reading.problems)
    drop_blanks(root)
    reading.tags = read_ids(reading, root)
    look_at_places(reading, root)
    definitions = read_definitions(reading, root)
    diagram = read_diagram(reading, root, definitions)
    look_at_children(reading, root)
    look_for_strays(reading, root)
    look_at_operations(reading, root)
    look_at_spelling(reading, root)
    places_of_extensions = extension_places(reading, root)
    refused = {problem.field for problem in reading.problems if problem.code in _REFUSED}
    faults = (fault for fault in reference_faults(definitions) if not fault.wanted or fault.wanted not in refused)
    for fault in islice(faults, MAX_PROBLEMS):
        place = reading.places.get(fault.element, Place(root.line, root.column))
        reading.report_at(fault.code, fault.element, place, fault.fact, fault.hint)
    if reading.problems:
        raise ModelError(sorted(reading.problems, key=lambda problem: (problem.line, problem.column)))
    return Model(
        definitions=definitions,
        diagram=diagram,
        file=file,
        places=reading.places,
        extension_places=places_of_extensions,
        remarks=tuple(reading.remarks),
        referred=referred(reading, root),
        global_tasks=global_tasks(root),
    )

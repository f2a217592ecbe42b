"""An extension of another engine would be ignored.

Extension elements and attributes that change what another engine does (scripts, decisions, delegates, assignments)
have no meaning here, and ignoring them would change the process silently, also where they stand inside an event, a
loop or a condition. Remove them, or call a verb. So it is with an extension whose name, or one of whose attributes, is
misspelt, and with one that stands where it says nothing. What stands inside such an extension is not told again.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint import zeebe_extensions
from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.model_index import Index
from perdure.bpmn.lint.model_queries import all_attributes, misspelt, nested_extensions
from perdure.bpmn.model import Extension
from perdure.bpmn.xml.extension_schema import PLACES, WITHOUT_EFFECT

CODE = "HOL010"
NAME = "foreign-extension"
SEVERITIES = Severities("error", open="warning")


_ENGINES = (
    "camunda:",
    "{http://flowable.org",
    "{http://activiti.org",
    "{http://www.jboss.org/drools",
    "{http://jbpm.org",
)
_MEANING = {
    "zeebe:script": "a script",
    "zeebe:calledDecision": "a decision table",
    "zeebe:adHoc": "an expression that chooses activities",
    "zeebe:conditionalFilter": "a filter of variables",
    "zeebe:linkedResources": "linked resources",
    "bpmn:potentialOwner": "an owner by expression",
    "bpmn:humanPerformer": "a performer by expression",
    "bpmn:performer": "a performer by expression",
}
_ELSEWHERE = ("listener", "listeners", "connector", "class", "delegateExpression")
_HARMLESS = frozenset(("versionTag", "historyTimeToLive", "isStartableInTasklist", "modelerTemplate", "exclusive"))
_RESULTS = ("outputCollection", "outputElement")


def check(index: Index) -> Iterator[Note]:
    told: set[int] = set()
    for element, around, extension in nested_extensions(index):
        whole = None if id(extension) in told else _whole(index, element, around, extension)
        if whole is not None:
            yield whole
        if whole is not None or id(extension) in told or extension.name.startswith(_ENGINES):
            told.update(map(id, extension.children))
        else:
            yield from _partly(element, extension)
    for element, name, _ in all_attributes(index):
        if name.startswith(_ENGINES) and _local(name) not in _HARMLESS:
            yield _foreign(element, name)
        yield from zeebe_extensions.unknown_attribute(element, name)
    yield from zeebe_extensions.nameless(index)
    for remark in index.model.remarks:
        if remark.code == CODE:
            yield Note(remark.element, remark.fact, remark.hint, remark.place)


def _whole(index: Index, element: str, around: str, extension: Extension) -> Note | None:
    """What is wrong with an extension as it is, with all that is in it."""
    name = extension.name
    if name in _MEANING:
        fact = f"it has {_MEANING[name]} ({name}), which is not evaluated here"
        return Note(element, fact, "Remove it, or call a verb that does this.")
    if name in WITHOUT_EFFECT:
        what, hint = WITHOUT_EFFECT[name]
        return Note(element, f"it says {what} ({name}), which is not read here", hint)
    if name.startswith(_ENGINES) and not name.endswith(_ELSEWHERE):
        return _foreign(element, name)
    if meant := misspelt(name):
        return Note(element, f"its {name[:80]} is not known and would be ignored", f"Write {meant}.")
    if zeebe_extensions.is_misplaced(index, element, around, name):
        return Note(element, f"its {name} has no effect where it stands", PLACES[name])
    return None


def _partly(element: str, extension: Extension) -> Iterator[Note]:
    """What is wrong with attributes of an extension."""
    if binding := _binding(extension):
        fact = f"bindingType='{binding[:40]}' asks for one version of the process, and the latest is called"
        yield Note(element, fact, "Remove it, or call a process with an id of its own.")
    if _gathers(extension):
        fact = "it gathers results of iterations by expression, which is not done here"
        yield Note(element, fact, "Remove it: what iterations write is kept under their number.")
    yield from zeebe_extensions.unknown(element, extension)


def _binding(extension: Extension) -> str:
    """Which version of a process a call wants, where it is not the latest."""
    said = extension.attributes.get("bindingType", "") if extension.name == "zeebe:calledElement" else ""
    return "" if said == "latest" else said


def _gathers(extension: Extension) -> bool:
    if extension.name == "zeebe:loopCharacteristics":
        return any(each in extension.attributes for each in _RESULTS)
    return extension.name == "bpmn:loopDataOutputRef"


def _local(name: str) -> str:
    return name.rpartition("}")[2].rpartition(":")[2]


def _foreign(element: str, name: str) -> Note:
    fact = f"it has an extension of another engine ({name[:80]})"
    return Note(element, fact, "Remove it, or call a verb that does this.")

"""An extension of another engine would be ignored.

Extension elements and attributes that change what another engine does (scripts, decisions, delegates, assignments)
have no meaning here, and ignoring them would change the process silently, also where they stand inside an event, a
loop or a condition. Remove them, or call a verb. So it is with an extension whose name is misspelt, or
that stands where it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from perdure.bpmn.lint.findings import Note, Severities
from perdure.bpmn.lint.index import Index
from perdure.bpmn.lint.texts import all_attributes, all_extensions, misspelt
from perdure.bpmn.model import (
    Activity,
    CallActivity,
    Extension,
    MultiInstance,
    Node,
)

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
_PLACES = {
    "zeebe:subscription": "Put it into the message that is waited for.",
    "zeebe:calledElement": "Make the element a call activity.",
    "zeebe:loopCharacteristics": "Put it into multiInstanceLoopCharacteristics of the activity.",
}
_ELSEWHERE = ("listener", "listeners", "connector", "class", "delegateExpression")
_HARMLESS = frozenset(("versionTag", "historyTimeToLive", "isStartableInTasklist", "modelerTemplate", "exclusive"))
_RESULTS = ("outputCollection", "outputElement")


def check(index: Index) -> Iterator[Note]:
    for element, extension in all_extensions(index):
        if extension.name in _MEANING:
            fact = f"it has {_MEANING[extension.name]} ({extension.name}), which is not evaluated here"
            yield Note(element, fact, "Remove it, or call a verb that does this.")
        elif extension.name.startswith(_ENGINES) and not extension.name.endswith(_ELSEWHERE):
            yield _foreign(element, extension.name)
        elif meant := misspelt(extension.name):
            yield Note(element, f"its {extension.name[:80]} is not known and would be ignored", f"Write {meant}.")
        elif _is_misplaced(index.nodes.get(element), extension.name):
            yield Note(element, f"its {extension.name} has no effect where it stands", _PLACES[extension.name])
        elif binding := _binding(extension):
            fact = f"bindingType='{binding[:40]}' asks for one version of the process, and the latest is called"
            yield Note(element, fact, "Remove it, or call a process with an id of its own.")
        elif _gathers(extension):
            fact = "it gathers results of iterations by expression, which is not done here"
            yield Note(element, fact, "Remove it: what iterations write is kept under their number.")
    for element, name, _ in all_attributes(index):
        if name.startswith(_ENGINES) and _local(name) not in _HARMLESS:
            yield _foreign(element, name)


def _is_misplaced(node: Node | None, name: str) -> bool:
    match name:
        case "zeebe:subscription":
            return node is not None
        case "zeebe:calledElement":
            return not isinstance(node, CallActivity)
        case "zeebe:loopCharacteristics":
            return not isinstance(node, Activity) or not isinstance(node.repeat, MultiInstance)
        case _:
            return False


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

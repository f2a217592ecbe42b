"""Mutants: the example models, each broken at one place in one way, with the code that has to tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

MODELS = Path(__file__).resolve().parents[3] / "examples" / "contract"

Change = str | Callable[[re.Match[str]], str]

_TASK = r"<ameide:taskDefinition [^>]*/>"
_SUBSCRIPTION = r"<ameide:subscription [^>]*/>"
_WORKFLOW = r"<ameide:workflowDefinition [^>]*/>"
_TWICE = r"\g<0>\g<0>"

BREAKS: tuple[tuple[str, str, Change], ...] = (
    ("AME001", _WORKFLOW, ""),
    ("AME001", _WORKFLOW, _TWICE),
    ("AME002", r' definitionId="[^"]*"', ""),
    ("AME002", r'(?<=workflowIdTemplate=")[^"]*', "always-this"),
    ("AME003", r"(?<=<bpmn:subProcess )([^>]*>)", r"\1<bpmn:extensionElements><ameide:ioMapping/></bpmn:extensionElements>"),  # noqa: E501
    ("AME003", r"<ameide:updateDefinition [^>]*/>", r'\g<0><ameide:taskHeaders/>'),
    ("AME004", r"(?<=<ameide:taskDefinition )", r'retries="3" '),
    ("AME004", r"<ameide:ioMapping>", r"<ameide:mapping/>\g<0>"),
    ("AME010", _TASK, ""),
    ("AME011", _TASK, _TWICE),
    ("AME012", r'(?<=ameide:taskDefinition) type="[^"]*"', ""),
    ("AME012", r' policyRef="[^"]*"', ""),
    ("AME013", r'(?<=policyRef=")[^"]*', "unheard-of"),
    ("AME014", r"(?<=<ameide:taskDefinition )", r'implementation="ACTIVITY" '),
    ("AME015", r'(?<=updateDefinition name=")[^"]*', "no name at all"),
    ("AME020", r'(?<=_definition") messageRef="[^"]*"', ""),
    ("AME021", _SUBSCRIPTION, ""),
    ("AME021", _SUBSCRIPTION, _TWICE),
    ("AME022", r"<ameide:taskDefinition [^>]*/>", r'\g<0><ameide:subscription messageIdPath="message_id"/>'),
    ("AME023", r'(?<=messageIdPath=")[^"]*', "id"),
    ("AME024", r'(?<=correlationKeyTemplate=")[^"]*', "the-same-for-all"),
    ("AME030", r'(?<=correlationKeyTemplate=")[^"]*', "${state.a}${process_run_id}"),
    ("AME030", r'(?<=workflowIdTemplate=")[^"]*', "${state.a}${uuid()}"),
    ("AME031", r'(?<=source="state\.)[^"]*', "list[0]"),
    ("AME031", r'(?<=target="state\.)[^"]*', "a..b"),
    ("AME032", r'(?<=target=")request\.', "state."),
    ("AME032", r'(?<=source=")result\.', "request."),
    ("AME034", r"=state\.[^<]*", "=orch_decided = true"),
    ("AME040", r"bpmn:parallelGateway", "bpmn:inclusiveGateway"),
    ("AME050", r'(<ameide:header key="[^"]*" value=")[^"]*', r"\1https://example.com"),
    ("AME050", r'(?<=<ameide:header key=")[^"]*', "UPPER"),
    ("AME051", r"<ameide:header [^>]*/>", _TWICE),
)  # fmt: skip


class Mutant(NamedTuple):
    code: str
    file: str
    number: int
    text: str


def mutants() -> Iterator[Mutant]:
    """Every mutant: each way of breaking at each place where it applies."""
    for path in sorted(MODELS.glob("*.bpmn")):
        text = path.read_text()
        for code, pattern, change in BREAKS:
            for number, match in enumerate(re.finditer(pattern, text)):
                broken = match.expand(change) if isinstance(change, str) else change(match)
                whole = text[: match.start()] + broken + text[match.end() :]
                if pattern == "bpmn:parallelGateway":
                    whole = text.replace("bpmn:parallelGateway", "bpmn:inclusiveGateway")
                yield Mutant(code, path.name, number, whole)

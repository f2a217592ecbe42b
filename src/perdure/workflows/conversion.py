"""Conversion between the three forms of a workflow: Python, YAML and BPMN."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple, assert_never

from perdure.bpmn.xml import read_model, write_model
from perdure.errors import DefinitionError, Problem
from perdure.workflows.bpmn_reader import workflow_of
from perdure.workflows.files import workflows_in
from perdure.workflows.names import kept
from perdure.workflows.python_writer import write_python
from perdure.workflows.workflow import Workflow
from perdure.workflows.yaml_reader import read_workflow
from perdure.workflows.yaml_writer import write_yaml

Form = Literal["python", "yaml", "bpmn"]
FORMS: tuple[Form, ...] = ("python", "yaml", "bpmn")
SUFFIXES: dict[str, Form] = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".bpmn": "bpmn"}


class Converted(NamedTuple):
    """A workflow in another form; `losses` is what that form cannot say, `hash` that of the process."""

    workflow: str
    version: str
    text: str
    hash: str
    losses: list[str]


def form_of(file: Path) -> Form:
    form = SUFFIXES.get(file.suffix.lower())
    if form is None:
        reason, hint = "it is neither Python, YAML nor BPMN", f"Its name ends in one of {', '.join(SUFFIXES)}."
        raise DefinitionError([Problem("workflow.form", str(file), 1, 1, "", reason, hint)])
    return form


def read_any(file: Path, workflow: str = "") -> Workflow:
    """The workflow of a file in any form; code in YAML and BPMN stays a name. Python is imported."""
    form = form_of(file)
    try:
        match form:
            case "python":
                found = workflows_in(file)
            case "yaml":
                found = [read_workflow(file.read_text("utf-8"), str(file), kept)]
            case "bpmn":
                found = [workflow_of(read_model(file.read_bytes(), str(file)))]
            case _:
                assert_never(form)
    except OSError as error:
        raise DefinitionError([Problem("workflow.unreadable", str(file), 1, 1, "", str(error))]) from error
    wanted = [each for each in found if workflow in ("", each.id)]
    if len(wanted) != 1:
        known = ", ".join(f"{each.id} {each.version}" for each in found) or "none"
        reason = f"it does not hold exactly one workflow{f' {workflow!r}' if workflow else ''}"
        raise DefinitionError([Problem("workflow.form", str(file), 1, 1, "", reason, f"It has: {known}.")])
    return wanted[0]


def convert(workflow: Workflow, form: Form) -> Converted:
    """The workflow in a form, with everything that form cannot say."""
    match form:
        case "python":
            text, losses = write_python(workflow)
        case "yaml":
            text, losses = write_yaml(workflow)
        case "bpmn":
            text, losses = write_model(workflow.to_model()), []
        case _:
            assert_never(form)
    return Converted(workflow.id, workflow.version, text, workflow.content_hash(), losses)

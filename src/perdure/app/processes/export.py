"""Export of models: a file in another engine's dialect, refused where lint says that engine cannot carry the model."""

from __future__ import annotations

from pathlib import Path

import msgspec

from perdure.app.processes.contracts import contract_of
from perdure.app.processes.lint import lint_paths, problem_of, verbs_beside
from perdure.bpmn.camunda import zeebe_xml
from perdure.bpmn.lint.findings import OLDEST_RELEASE, Finding, Profile, Release
from perdure.bpmn.xml import read_model_file
from perdure.errors import ModelError
from perdure.verb_contract import FlagContract
from perdure.verbs import Catalogue


class ExportedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model for Camunda 8. `variables` are the flags of each process with the values to start an instance with.

    `contracts` names the verb of each process; without one its flags are not known, and `variables` lacks them.
    """

    xml: str
    release: Release
    variables: dict[str, dict[str, str | bool | int]]
    contracts: dict[str, str | None]
    warnings: tuple[Finding, ...]


def export_camunda(
    file: Path, catalogue: Catalogue | None, profile: Profile | None = "hollow", release: Release = OLDEST_RELEASE
) -> ExportedModel:
    """The model in Zeebe's dialect; verbs are looked up as lint does.

    Raises ModelError with every finding when that release of Camunda 8 cannot carry it.
    """
    report = lint_paths([file], catalogue, profile, "camunda", release)
    if errors := [problem_of(each) for each in report.findings if each.severity == "error"]:
        raise ModelError(errors, "export")
    verbs = verbs_beside(file) if catalogue is None else catalogue
    model = read_model_file(file)
    flags: dict[str, tuple[FlagContract, ...]] = {}
    for process in model.definitions.executable():
        contract = contract_of(verbs, process.id)
        flags[process.id] = () if contract is None else contract.flags
    variables = {process: {flag.name: flag.starting_value() for flag in each} for process, each in flags.items()}
    warnings = tuple(each for each in report.findings if each.severity == "warning")
    return ExportedModel(
        xml=zeebe_xml(model, flags, release), release=release, variables=variables, contracts=report.contracts,
        warnings=warnings,
    )  # fmt: skip

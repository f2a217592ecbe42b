"""Contract binding: the profile that a process of a file is of, and a contract process bound with its policies."""

from __future__ import annotations

from pathlib import Path

from perdure.app.processes.project_models import load_model, policies_beside
from perdure.bpmn.contract.contract import is_contract
from perdure.bpmn.contract.policies import PolicyCatalogue
from perdure.bpmn.machine.deployed_process import Deployed, Profile
from perdure.bpmn.model import Model
from perdure.errors import DefinitionError, ModelError
from perdure.processes.verb_bindings import bind, carried_by, carrier_of, choose_process
from perdure.verbs import Catalogue


def profile_of(model: Model, process: str = "") -> Profile:
    """The profile of a process that nobody names one for: contract when it has a `workflowDefinition`, else hollow."""
    found = [each for each in model.definitions.executable() if process in ("", each.id)]
    return "contract" if any(map(is_contract, found)) else "hollow"


def profile_of_file(path: Path, process: str = "") -> Profile:
    """The same of a file; one that cannot be read is hollow, and whoever takes it says what is wrong with it."""
    try:
        return profile_of(load_model(path), process)
    except (DefinitionError, ModelError):
        return "hollow"


def own_policies(model: Model) -> PolicyCatalogue | None:
    """The policies beside the file that a model was read from; None when there are none."""
    return policies_beside(Path(model.file)) if model.file else None


def bound_contract(
    model: Model, process: str, profile: Profile, policies: PolicyCatalogue | None, catalogue: Catalogue
) -> Deployed | None:
    """A process of the contract profile bound with its policies; None where nothing has to be resolved."""
    if profile != "contract" or policies is None:
        return None
    _check_policies(model, policies)
    chosen = choose_process(model.definitions, process)
    verb = carrier_of(chosen.id, catalogue)
    carried = carried_by(verb) if verb is not None else None
    return bind(model.definitions, chosen, profile, carried, catalogue, policies)


def _check_policies(model: Model, policies: PolicyCatalogue) -> None:
    """Refuses a model that names a policy which the catalogue lacks."""
    from perdure.app.processes.lint import problem_of  # noqa: PLC0415  brings lint along
    from perdure.bpmn.lint.lint import lint  # noqa: PLC0415

    found = [each for each in lint(model, profile="contract", policies=policies) if each.code == "AME013"]
    if found:
        raise DefinitionError([problem_of(each) for each in found])

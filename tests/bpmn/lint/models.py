"""The models of each lint rule: wrong ones, right ones, and under which settings they are linted."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from perdure.bpmn.contract.policies import Policy, PolicyCatalogue, Retry
from perdure.bpmn.lint.contract import Contract
from perdure.bpmn.lint.findings import Finding, Profile, Target
from perdure.bpmn.lint.lint import lint
from perdure.bpmn.model import Model
from perdure.bpmn.xml import read_model

MODELS = Path(__file__).parent / "models"
Side = Literal["wrong", "right"]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`lint.yaml` of a rule's folder; `wrong_also` and `right_also` list the other codes its models give.

    `others` are processes that are deployed: those alone, when they are given. `is_strict` and the names of `policies`
    are for the contract profile.
    """

    profile: Profile = "hollow"
    target: Target = "embedded"
    contract: Contract | None = None
    right_contract: Contract | None = None
    others: tuple[str, ...] | None = None
    is_strict: bool = False
    policies: tuple[str, ...] | None = None
    wrong_also: tuple[str, ...] = ()
    right_also: tuple[str, ...] = ()


def settings_of(code: str) -> Settings:
    file = MODELS / code / "lint.yaml"
    return msgspec.yaml.decode(file.read_bytes(), type=Settings) if file.exists() else Settings()


def files_of(code: str, side: Side) -> list[Path]:
    return sorted((MODELS / code).glob(f"{side}*.bpmn"), key=lambda file: (len(file.name), file.name))


def model_of(file: Path) -> Model:
    return read_model(file.read_bytes(), str(file))


def findings_in(file: Path) -> list[Finding]:
    """What lint finds in a model of a rule's folder."""
    settings = settings_of(file.parent.name)
    is_right = file.name.startswith("right")
    contract = settings.right_contract if is_right and settings.right_contract else settings.contract
    return lint(
        model_of(file), profile=settings.profile, target=settings.target, contract=contract,
        others=settings.others or (), knows_all=settings.others is not None, is_strict=settings.is_strict,
        policies=_policies(settings.policies),
    )  # fmt: skip


def _policies(names: tuple[str, ...] | None) -> PolicyCatalogue | None:
    once = Retry(maximum_attempts=1, initial_interval_seconds=1, maximum_interval_seconds=1, backoff_coefficient=1)
    return PolicyCatalogue(
        tuple(Policy(name=each, schedule_to_close_seconds=1, start_to_close_seconds=1, retry=once) for each in names)
    ) if names is not None else None  # fmt: skip


def all_files() -> list[Path]:
    return sorted(MODELS.rglob("*.bpmn"))

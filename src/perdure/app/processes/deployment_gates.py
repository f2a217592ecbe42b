"""The gates before deployment, lint and then proof: loaded when something new is to be deployed, which is seldom."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from perdure.bpmn.machine.deployed_process import Deployed
from perdure.bpmn.model import Model
from perdure.engine import Check
from perdure.errors import Problem
from perdure.verbs import Catalogue


def gates(catalogue: Catalogue) -> tuple[Check, Check]:
    """What lints clean and is proved to end well deploys; what does not is refused."""

    def lints(model: Model, deployed: Deployed, contract: Any, others: Collection[str]) -> Sequence[Problem]:
        from perdure.app.processes.lint import lint_check  # noqa: PLC0415  many rules, seldom asked

        return lint_check(catalogue)(model, deployed, contract, others)

    def proves(model: Model, deployed: Deployed, contract: Any, others: Collection[str]) -> Sequence[Problem]:
        from perdure.app.processes.proof import proof_check  # noqa: PLC0415  large, seldom asked

        return proof_check(catalogue)(model, deployed, contract, others)

    return lints, proves

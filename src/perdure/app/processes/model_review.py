"""Reviews of models: lint findings and proof verdicts, before and after deployment."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Any, Literal

import msgspec

from perdure.bpmn.machine.deployed_process import Profile
from perdure.bpmn.model import Model
from perdure.engine import Deployment, Judged
from perdure.errors import DefinitionError, ModelError, Problem, Rejection
from perdure.verb_contract import ConsequenceTier
from perdure.verbs import Catalogue
from perdure.work.computations import Computations, check_effort
from perdure.work.keyed_lock import KeyedLock

MAX_REVIEWS = 256
FILE = "model"
"""What a model that came without a file is called in findings."""


class FindingView(msgspec.Struct, frozen=True):
    """One finding of lint or of a proof. `steps` tell how something bad comes about."""

    code: str
    severity: Literal["error", "warning", "info"]
    fact: str
    hint: str = ""
    element: str = ""
    line: int = 0
    column: int = 0
    steps: list[str] = []


class ProofView(msgspec.Struct, frozen=True):
    """What a proof says of a process: proved, refuted by its findings, or undecided because of a bound."""

    process: str
    verdict: Literal["proved", "refuted", "undecided"]
    bound: str = ""
    states: int = 0
    findings: list[FindingView] = []


class Review(msgspec.Struct, frozen=True):
    """Lint findings of a model, and a proof of each of its processes that lints without errors."""

    findings: list[FindingView] = []
    proofs: list[ProofView] = []

    @property
    def has_errors(self) -> bool:
        return any(each.severity == "error" for each in self.findings)


class DeploymentView(msgspec.Struct, frozen=True):
    """A process as deployed; `findings` are the warnings it was let through with."""

    process: str
    version: int
    hash: str
    is_new: bool
    findings: list[FindingView] = []
    consequence: ConsequenceTier | Literal[""] = ""
    """The gravest tier that it can reach."""


class DeployedView(msgspec.Struct, frozen=True):
    """What was deployed, and what there is to say about it."""

    deployments: list[DeploymentView]
    findings: list[FindingView] = []
    proofs: list[ProofView] = []


class Proposed(msgspec.Struct, frozen=True):
    """Processes that were judged and are not deployed yet; with problems they never will be."""

    judged: tuple[Judged, ...]
    review: Review
    problems: tuple[Problem, ...] = ()
    unasked: tuple[str, ...] = ()
    """Those that may begin with nobody to ask: by their start events, or from processes that begin so."""

    @property
    def verbs(self) -> list[str]:
        """Every verb that the processes carry, call or can reach."""
        found: dict[str, None] = {}
        for each in self.judged:
            bound = [binding.verb for binding in each.deployed.bindings.values()]
            reached = each.consequence.verbs if each.consequence is not None else ()
            found.update(dict.fromkeys(name for name in (each.deployed.verb, *bound, *reached) if name))
        return list(found)


class RefusedModelError(DefinitionError):
    """A model that is not deployed because of its problems; `review` holds every finding and proof."""

    def __init__(self, proposed: Proposed) -> None:
        super().__init__(list(proposed.problems))
        self.review = proposed.review


def review_text(xml: bytes, process: str, profile: Profile | None, catalogue: Catalogue) -> tuple[Model | None, Review]:
    """The model of a text and its review, in the profile named or in its own; no model where the text is none."""
    from perdure.app.processes.contract_binding import profile_of  # noqa: PLC0415  only who brings models needs it
    from perdure.bpmn.xml import read_model  # noqa: PLC0415  only who brings models needs it

    try:
        model = read_model(xml, FILE)
    except ModelError as error:
        return None, Review([_problem(each) for each in error.problems])
    return model, review_model(model, process, profile or profile_of(model, process), catalogue)


def review_model(model: Model, process: str, profile: Profile, catalogue: Catalogue) -> Review:
    """Lint all of it; then prove the process named, or each of them. Takes a while: not for the event loop."""
    from perdure.app.processes.contracts import contract_of  # noqa: PLC0415  brings lint along
    from perdure.app.processes.proof import profiled, prove_model  # noqa: PLC0415  large, seldom asked
    from perdure.bpmn.lint.lint import lint  # noqa: PLC0415  many rules, seldom asked

    ids = [process] if process else [each.id for each in model.definitions.executable()]
    contracts = [each for id in ids if (each := contract_of(catalogue, id)) is not None]
    check_effort()
    found: list[Any] = [] if contracts else lint(model, profile=profile)
    for contract in contracts:
        check_effort()
        found.extend(lint(model, profile=profile, contract=contract))
    review = Review([_linted(each) for each in dict.fromkeys(found)])
    if review.has_errors or not ids:
        return review
    model = profiled(model, profile)
    verdicts = [prove_model(model, id, contract_of(catalogue, id)) for id in ids]
    return Review(review.findings, [_proof(model, each) for each in verdicts])


class Reviews:
    """Of one process of the platform: each deployed definition is looked through once."""

    def __init__(self, catalogue: Catalogue, computations: Computations) -> None:
        self._catalogue = catalogue
        self._computations = computations
        self._known: OrderedDict[str, Review] = OrderedDict()
        self._turns = KeyedLock()

    async def of(self, tenant: str, hash: str, xml: str, process: str, profile: Profile) -> Review:
        if (known := self._known.get(hash)) is None:
            async with self._turns.at(hash):
                if (known := self._known.get(hash)) is None:
                    known = (await self.fresh(tenant, xml, process, profile))[1]
                    self._known[hash] = known
                    if len(self._known) > MAX_REVIEWS:
                        self._known.popitem(last=False)
        return known

    async def fresh(self, tenant: str, xml: str, process: str, profile: Profile | None) -> tuple[Model | None, Review]:
        """The review of a text that may be deployed."""
        work = partial(review_text, xml.encode(), process, profile, self._catalogue)
        return await self._computations.run(tenant, work)


def deployment_view(deployment: Deployment) -> DeploymentView:
    return DeploymentView(
        deployment.process, deployment.version, deployment.hash, deployment.is_new,
        [_problem(each) for each in deployment.findings], deployment.consequence,
    )  # fmt: skip


def refused(process: str, rejection: Rejection) -> Problem:
    """What keeps a process from being bound to verbs, as those who refuse say it."""
    return Problem("process.unbound", FILE, 0, 0, process, rejection.fact, rejection.hint)


def unreadable(finding: FindingView) -> Problem:
    """What keeps a text from being a model, as those who refuse say it."""
    return Problem(
        finding.code, FILE, finding.line, finding.column, finding.element, finding.fact, finding.hint
    )  # fmt: skip


def _linted(finding: Any) -> FindingView:
    return FindingView(
        finding.code, finding.severity, finding.fact, finding.hint, finding.element, finding.line, finding.column
    )


def _problem(problem: Problem) -> FindingView:
    return FindingView(
        problem.code, problem.severity, problem.reason, problem.hint, problem.field, problem.line, problem.column
    )


def _proof(model: Model, verdict: Any) -> ProofView:
    findings = []
    for each in verdict.findings:
        place = model.places.get(each.element)
        line, column = (place.line, place.column) if place is not None else (0, 0)
        steps = [step.sentence() for step in each.steps]
        findings.append(
            FindingView(each.code, each.severity, each.fact, each.hint, each.element, line, column, steps)
        )  # fmt: skip
    return ProofView(verdict.process, verdict.word, verdict.bound, verdict.statistics.states, findings)

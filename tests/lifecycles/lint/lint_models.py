"""The models of lint rules: folders of files, each read against the verbs that tests share."""

from __future__ import annotations

from pathlib import Path

from perdure.errors import Problem
from perdure.lifecycles.lint import LifecycleChecks
from perdure.lifecycles.loader import load_lifecycles
from perdure.work.facts import Facts
from tests.lifecycles.onboarding import catalogue

MODELS = Path(__file__).parent / "models"
READ = ("document", "record", "lifecycle", "verb")


class _Read:
    def __init__(self, kind: str) -> None:
        self.kind = kind

    async def read(self, tenant: str, key: str) -> None:
        return None


def files(side: str) -> list[Path]:
    return sorted(each for each in MODELS.rglob("*.yaml") if each.name.startswith(side))


def findings_in(file: Path) -> list[Problem]:
    """What lint says on a platform that reads no runbooks."""
    facts = Facts()
    for kind in (*READ, "runbook") if file.parent.name != "LIF150" else READ:
        facts.add(_Read(kind))
    (lifecycle,) = load_lifecycles([file])
    return LifecycleChecks(catalogue(), facts=facts).findings(lifecycle)

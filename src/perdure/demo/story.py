"""The story: a client's owners are found, a case is opened, and whatever happens to it, nothing is lost or changed."""

from __future__ import annotations

from perdure.demo import case, finale, opening, twists
from perdure.demo.stage import Stage

TITLE = "Perdure: a client is taken on"
SUMMARY = (
    "Ana wants to do business with Nordlys Capital. Who owns it, and will compliance agree? That takes nine days, one "
    "killed process, two messages that go astray, a holiday and a second pair of eyes. Real commands, real processes, "
    "one SQLite file; only the clock is ahead. Whatever is promised (✓) is checked."
)


def tell(stage: Stage) -> None:
    """The whole story; raises BrokenPromise where it is not so."""
    stage.open(TITLE, SUMMARY)
    opening.project(stage)
    worker = case.begin_worker(stage)
    opened = opening.converse(stage)
    worker = case.kill(stage, opened, worker)
    stage.end_picture()
    case.early_and_lost(stage, opened)
    worker = case.days_pass(stage, opened, worker)
    case.four_eyes(stage, opened)
    case.approved(stage, opened)
    twists.end_of_the_plan(stage, opened)
    other = twists.new_version(stage)
    twists.rejected(stage, other)
    twists.onboarding(stage)
    finale.verify(stage)
    finale.tamper(stage)
    stage.end("Nothing was lost, nothing happened twice, and nothing can be changed unnoticed.")

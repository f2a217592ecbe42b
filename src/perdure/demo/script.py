"""The story: a client's owners are found, a case is opened, and whatever happens to it, nothing is lost or changed."""

from __future__ import annotations

from perdure.demo import case_review, client_research, process_changes, tamper_check
from perdure.demo.command_runner import Stage

TITLE = "Perdure: a client is taken on"
SUMMARY = (
    "Ana wants to do business with Nordlys Capital. Who owns it, and will compliance agree? That takes nine days, one "
    "killed process, two messages that go astray, a holiday and a second pair of eyes. Real commands, real processes, "
    "one SQLite file; only the clock is ahead. Whatever is promised (✓) is checked."
)


def tell(stage: Stage) -> None:
    """The whole story; raises BrokenPromise where it is not so."""
    stage.open(TITLE, SUMMARY)
    client_research.project(stage)
    worker = case_review.begin_worker(stage)
    opened = client_research.converse(stage)
    worker = case_review.kill(stage, opened, worker)
    stage.end_picture()
    case_review.early_and_lost(stage, opened)
    worker = case_review.days_pass(stage, opened, worker)
    case_review.four_eyes(stage, opened)
    case_review.approved(stage, opened)
    process_changes.end_of_the_plan(stage, opened)
    other = process_changes.new_version(stage)
    process_changes.rejected(stage, other)
    process_changes.onboarding(stage)
    tamper_check.verify(stage)
    tamper_check.tamper(stage)
    stage.end("Nothing was lost, nothing happened twice, and nothing can be changed unnoticed.")

"""The story: a client's owners are found, a case is opened, and whatever happens to it, nothing is lost or changed."""

from __future__ import annotations

from perdure.demo import case_scene, papers_scene, process_change_scene, research_scene, tamper_scene
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
    research_scene.project(stage)
    worker = case_scene.begin_worker(stage)
    opened = research_scene.converse(stage)
    worker = case_scene.kill(stage, opened, worker)
    stage.end_picture()
    case_scene.early_and_lost(stage, opened)
    worker = case_scene.days_pass(stage, opened, worker)
    case_scene.four_eyes(stage, opened)
    case_scene.approved(stage, opened)
    process_change_scene.end_of_the_plan(stage, opened)
    other = process_change_scene.new_version(stage)
    process_change_scene.rejected(stage, other)
    process_change_scene.onboarding(stage)
    papers_scene.collect(stage)
    papers_scene.year_later(stage, worker)
    tamper_scene.verify(stage)
    tamper_scene.tamper(stage)
    stage.end("Nothing was lost, nothing happened twice, and nothing can be changed unnoticed.")

"""The story: a client's owners are found, a case is opened, and whatever happens to it, nothing is lost or changed."""

from __future__ import annotations

from perdure.demo import case, finale, opening, twists
from perdure.demo.stage import Stage


def tell(stage: Stage) -> None:
    """The whole story; raises BrokenPromise where it is not so."""
    opening.project(stage)
    worker = case.begin_worker(stage)
    opened = opening.discover(stage)
    stage.begin_picture()
    worker = case.kill(stage, opened, worker)
    case.early_and_lost(stage, opened)
    stage.end_picture()
    worker = case.days_pass(stage, opened, worker)
    case.four_eyes(stage, opened)
    case.approved(stage, opened)
    other = twists.new_version(stage)
    twists.rejected(stage, other)
    finale.verify(stage)
    finale.tamper(stage)
    stage.say("\nNothing was lost, nothing happened twice, and nothing can be changed unnoticed.", "bold green")

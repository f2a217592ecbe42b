"""The eight models as scaffolded projects on a real Temporal server: the same end as on our own engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.stories import STORIES, Decide, Ended, Story, Tell, bare, model_text, play
from tests.scaffold.conftest import FilledProject, Running, Runs

pytestmark = [pytest.mark.deep, pytest.mark.timeout(300)]


@pytest.mark.req("B7")
@pytest.mark.req("B8")
@pytest.mark.parametrize("name", STORIES)
async def test_a_scaffolded_project_ends_as_our_own_engine_does(name: str, runs: Runs, tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    ours = await play(f"sqlite:///{tmp_path / 'p.db'}", "embedded", tmp_path / "ours", name)
    project = FilledProject(name, tmp_path / "project", model_text(name))
    assert told(project, runs(project), STORIES[name]) == ours[name]


def told(project: FilledProject, running: Running, story: Story) -> Ended:
    """The story of one instance, told to a worker of the project."""
    id = running.ask("start", state=story.state)
    for number, act in enumerate(story.acts):
        match act:
            case Tell(name, key, payload):
                envelope = {"message_name": name, "correlation_key": key, "message_id": f"m-{number}"}
                running.ask("signal", id=id, **envelope, payload=payload)
            case Decide(_, update, decision, reason):
                while running.ask("answer", id=id, update=update, decision=decision, reason=reason):
                    pass  # its gate is not open yet
    data = running.ask("result", id=id)
    return Ended(bare(data), tuple(sorted(each.replace(id, "INSTANCE") for each in project.calls())))

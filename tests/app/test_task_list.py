"""A task list elsewhere: each human task, and the step that waits for it, links to the task there on every surface."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.app.configuration.project import load_config
from perdure.errors import DefinitionError, StoreSettingError
from perdure.testing import Sandbox
from tests.acceptance.commands import Shell
from tests.scenarios.sketch import sketches
from tests.surfaces.http.sandbox_server import served

LIST = "https://tasks.example.org/{tenant}/{process}/{element}?task={key}&of={instance}"
VERBS = """
- name: w.agree
  sentences: {step: "Agree to it"}
  execution: {kind: durable, task: {groups: [seniors]}}
- {name: w.note, execution: {kind: sync, effects: none}}
- {name: w.review, execution: {kind: durable, process: review}}
"""
MODEL = """
== review
start s
user check name="Check the papers"
end e
s > check > e
"""


def link(process: str, element: str, id: str, number: int) -> str:
    return f"https://tasks.example.org/default/{process}/{element}?task={id}%3A{number}&of={id}"


@pytest.mark.req("V38")
async def test_a_task_and_the_step_that_waits_for_it_link_to_the_task_list() -> None:
    async with served(verbs=VERBS, handlers={"w.note": lambda call: {}}, task_list=LIST) as server:
        sandbox, ada = server.sandbox, server.of("ada")
        await sandbox.processes.deploy_all(list(sketches(MODEL).values()))
        program = "(w.agree :as @own)\n(w.note :as @note)\n(w.review :as @carried)"
        run = await sandbox.runbooks.start(program)
        await server.idle()
        shown = await ada.get(f"/api/runbooks/{run.id}")
        first = link("w.agree", "own", run.id, 1)
        tasks = {each["process"]: each for each in (await ada.get("/api/tasks"))["items"]}
        other = tasks["review"]["link"]
        assert (tasks["w.agree"]["link"], other) == (first, link("review", "check", *_parts(tasks["review"]["key"])))
        assert [each.get("task_link", "") for each in shown["steps"]] == [first, "", other]
        assert shown["steps"][2]["carrier"]["task_link"] == other
        assert (await ada.get(f"/api/tasks/{run.id}:1"))["link"] == first
        await sandbox.acting(principal="sam", groups=("seniors",)).tasks.complete(f"{run.id}:1", {})
        await server.idle()
        assert "task_link" not in (await ada.get(f"/api/runbooks/{run.id}"))["steps"][0], "it is done"
        call = await sandbox.call("w.agree")
        assert (await sandbox.status(call.id)).task_link == link("w.agree", "", call.id, 1)


def _parts(key: str) -> tuple[str, int]:
    id, _, number = key.partition(":")
    return id, int(number)


@pytest.mark.req("V38")
def test_the_link_is_told_at_the_terminal_and_in_the_conversation(tmp_path: Path) -> None:
    (tmp_path / "verbs.yaml").write_text(VERBS, encoding="utf-8")
    config = f"definitions: [verbs.yaml]\nenvironment: {{w.note: mock::instant_complete}}\ntask_list: '{LIST}'\n"
    (tmp_path / "perdure.yaml").write_text(config, encoding="utf-8")
    (tmp_path / "one.runbook").write_text("(w.agree :as @own)", encoding="utf-8")
    shell = Shell(tmp_path)
    shell.environment["COLUMNS"] = "240"
    id = shell.json("run", "one.runbook")["id"]
    there = link("w.agree", "own", id, 1)
    assert there in shell.run("tasks", "show", f"{id}:1").out
    assert there in shell.run("runbook", "show", id, "--detailed").out
    call = shell.json("call", "(w.agree)")["id"]
    told = shell.run("status", call).out
    assert link("w.agree", "", call, 1) in told and "human gate" in told
    assert there in shell.run("repl", "--resume", id, "--as", "local", text="tasks\nquit\n").out


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("javascript:alert(1)", "no address of http or https"),
        ("tasks/{key}", "no address of http or https"),
        ("https://tasks.example.org/{id}", "a task has no 'id'"),
    ],
)
async def test_what_is_no_address_of_a_task_is_refused(tmp_path: Path, written: str, fault: str) -> None:
    file = tmp_path / "perdure.yaml"
    file.write_text(f"task_list: '{written}'\n", encoding="utf-8")
    with pytest.raises(DefinitionError, match=fault):
        load_config(file)
    with pytest.raises(StoreSettingError, match=fault):
        async with Sandbox.open(task_list=written):
            pass

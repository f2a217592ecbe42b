"""Work pinned to a definition is served by its text, whatever text is loaded under the same version since."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perdure import Call, Transient
from perdure.app.compliance_export import check_document, export_document
from perdure.errors import SchemaViolationError
from perdure.testing import Sandbox
from perdure.testing.virtual_clock import VirtualSources
from perdure.verbs import load_text
from tests.scenarios.sketch import sketches

VERBS = """
- name: k.step
  input_schema: {{required: [{given}], properties: {{{given}: {{type: integer}}}}}}
  output_schema: {{required: [{made}], properties: {{{made}: {{type: integer}}}}}}
  execution: {{kind: sync, retry: {{max_attempts: {attempts}, base_delay: PT1M, backoff: fixed}}}}
- name: k.named
  description: {made}
  execution: {{kind: sync, handler: "{made}::run"}}
- name: k.wait
  output_schema: {{required: [{made}], properties: {{{made}: {{type: integer}}}}}}
  execution: {{kind: durable}}
- name: k.open
  input_schema: {{properties: {{old_in: {{type: integer}}, new_in: {{type: integer}}}}}}
  output_schema: {{properties: {{{made}: {{type: integer}}}}}}
  execution: {{kind: durable, process: opening, sub_verbs: [k.step, k.named]}}
"""
OLD = VERBS.format(given="old_in", made="old", attempts=3)
NEW = VERBS.format(given="new_in", made="new", attempts=1)
MODEL = """
== opening
start s
catch sleep timer duration P1D
service a {type}
end e
s > sleep > a > e
"""


class House:
    """One store and one clock; each opening loads other texts."""

    def __init__(self, url: str) -> None:
        self.url, self.clock = url, VirtualSources()
        self.made: list[dict[str, Any]] = []
        self.is_down = False

    async def step(self, call: Call) -> dict[str, int]:
        self.made.append(dict(call.args))
        if self.is_down:
            raise Transient("not now")
        return {"old": 1} if "old_in" in call.args else {"new": 1}

    async def named(self, call: Call) -> dict[str, int]:
        return {"old": 7}

    def opened(self, text: str, *names: str) -> Any:
        handlers = {"k.step": self.step, **{f"{name}::run": self.named for name in names or ("old", "new")}}
        return Sandbox.open(self.url, definitions=load_text(text), handlers=handlers, clock=self.clock)


def hashes(text: str) -> dict[str, str]:
    return {verb.name: verb.content_hash for verb in load_text(text)}


async def deploy(sandbox: Sandbox, type: str) -> None:
    await sandbox.processes.deploy(next(iter(sketches(MODEL.format(type=type)).values())))


@pytest.mark.both_stores
@pytest.mark.req("V25", "V30")
async def test_a_job_of_a_running_process_runs_under_the_text_it_is_pinned_to(store_url: str) -> None:
    house = House(store_url)
    async with house.opened(OLD) as sandbox:
        await deploy(sandbox, "k.step")
        call = await sandbox.call("k.open", {"old_in": 1, "new_in": 2})
        await sandbox.run_until_idle()
    async with house.opened(NEW) as sandbox:
        await sandbox.advance("P2D")
        ended = await sandbox.status(call.id)
        assert (ended.state, ended.result) == ("completed", {"old": 1}), ended
        assert house.made == [{"old_in": 1}], "the arguments that the old text declares"
        (row,) = await sandbox.instances.list()
        begun = [each async for each in sandbox.instances.events(row.id) if each.entry == "JobStarted"]
        assert [each.data["definition"] for each in begun] == [hashes(OLD)["k.step"]]
        written = await export_document(sandbox, call.id, {})
        document = json.loads(written)
        (frame,) = [each for each in document["frames"] if each["verb"] == "k.step"]
        assert frame["definition"] == hashes(OLD)["k.step"], "the export tells the text that ran"
        assert hashes(OLD)["k.step"] in {each["hash"] for each in document["verbs"]}
        assert check_document(written).findings == []
        await deploy(sandbox, "k.step")
        later = await sandbox.call("k.open", {"old_in": 1, "new_in": 2})
        await sandbox.advance("P2D")
        assert (await sandbox.status(later.id)).result == {"new": 1}, "what begins now takes the text that is loaded"


@pytest.mark.both_stores
@pytest.mark.req("V15")
async def test_the_commit_that_leases_a_job_records_the_payload_that_comes_in(store_url: str) -> None:
    house = House(store_url)
    house.is_down = True
    async with house.opened(OLD) as sandbox:
        await deploy(sandbox, "k.step")
        call = await sandbox.call("k.open", {"old_in": 1})
        await sandbox.advance("P2D")
        (row,) = await sandbox.instances.list()
        told = [each async for each in sandbox.instances.events(row.id)]
        (first,) = [each.data["head"] for each in told if each.entry == "InstanceStarted"]
        begun = [each for each in told if each.entry == "JobStarted"]
        assert len(begun) == 3 and {each.data["head"] for each in begun} == {first} and first.startswith("sha256:")
        frames = json.loads(await export_document(sandbox, call.id, {}))["frames"]
        jobs = [each for each in frames if each["verb"] == "k.step"]
        assert [each["hash_in"] for each in jobs] == [first] * 3
        assert [each["outcome"] for each in jobs] == ["failed"] * 3 and "hash_out" not in jobs[0]


@pytest.mark.both_stores
@pytest.mark.req("V25")
async def test_a_call_between_two_attempts_goes_on_by_the_text_and_policy_it_began_under(store_url: str) -> None:
    house = House(store_url)
    house.is_down = True
    async with house.opened(OLD) as sandbox:
        call = await sandbox.call("k.step", {"old_in": 1})
        assert call.waiting_for.kind == "retry"
    house.is_down = False
    async with house.opened(NEW) as sandbox:
        await sandbox.advance("PT1H")
        ended = await sandbox.status(call.id)
        assert (ended.state, ended.result, ended.attempt.attempt) == ("completed", {"old": 1}, 2)
        begun = [each async for each in sandbox.events(call.id) if each.entry == "AttemptStarted"]
        assert {each.data["definition"] for each in begun} == {hashes(OLD)["k.step"]}


@pytest.mark.both_stores
@pytest.mark.req("V25")
async def test_what_ends_a_wait_is_held_to_the_text_that_opened_it(store_url: str) -> None:
    house = House(store_url)
    async with house.opened(OLD) as sandbox:
        call = await sandbox.call("k.wait", {})
        key = call.waiting_for.key
    async with house.opened(NEW) as sandbox:
        with pytest.raises(SchemaViolationError, match="old"):
            await sandbox.complete(key, {"new": 1})
        await sandbox.complete(key, {"old": 1})
        assert (await sandbox.status(call.id)).result == {"old": 1}


@pytest.mark.both_stores
@pytest.mark.req("V25")
async def test_a_pinned_text_whose_handler_is_gone_is_an_incident_that_says_so_and_heals(store_url: str) -> None:
    house = House(store_url)
    async with house.opened(OLD) as sandbox:
        await deploy(sandbox, "k.named")
        call = await sandbox.call("k.open", {})
        await sandbox.run_until_idle()
    async with house.opened(NEW, "new") as sandbox:
        await sandbox.advance("P2D")
        await sandbox.runtime.check()
        stuck = await sandbox.status(call.id)
        assert stuck.waiting_for.kind == "incident" and stuck.waiting_for.code == "definition.missing"
        assert hashes(OLD)["k.named"] in stuck.waiting_for.text and hashes(NEW)["k.named"] in stuck.waiting_for.text
    async with house.opened(NEW) as sandbox:
        await sandbox.runtime.check()
        await sandbox.run_until_idle()
        assert (await sandbox.status(call.id)).result == {"old": 7}


@pytest.mark.req("V2", "V25")
async def test_a_step_is_told_in_the_words_of_the_text_it_is_pinned_to(sqlite_url: str) -> None:
    house = House(sqlite_url)
    told = "- {{name: k.said, sentences: {{step: {words}}}, execution: {{kind: durable}}}}"
    async with house.opened(told.format(words="Ask once")) as sandbox:
        call, run = await sandbox.call("k.said"), await sandbox.runbooks.start("(k.said)")
        await sandbox.run_until_idle()
    async with house.opened(told.format(words="Ask twice")) as sandbox:
        assert (await sandbox.status(call.id)).sentence == "Ask once"
        assert [each.sentence for each in (await sandbox.runbooks.show(run.id)).steps] == ["Ask once"]
        assert [each["sentence"] for each in await sandbox.parked()] == ["Ask once"] * 2
        titles = [each.title for each in (await sandbox.listing.runbooks(kind="all")).items]
        assert titles == ["Ask once"] * 2, "lists use the same words"
        assert (await sandbox.call("k.said")).sentence == "Ask twice"


@pytest.mark.req("V25")
async def test_the_form_of_a_task_is_that_of_the_text_its_step_is_pinned_to(sqlite_url: str) -> None:
    house = House(sqlite_url)
    asked = """
- name: k.asked
  output_schema: {{required: [{field}], properties: {{{field}: {{type: boolean}}}}}}
  execution: {{kind: durable, task: {{groups: [seniors]}}}}
"""
    async with house.opened(asked.format(field="agreed")) as sandbox:
        call = await sandbox.call("k.asked")
    async with house.opened(asked.format(field="approved")) as sandbox:
        task = await sandbox.tasks.get(f"{call.id}:1")
        assert task.form is not None and list(task.form["properties"]) == ["agreed"]
        await sandbox.acting(principal="sam", groups=("seniors",)).tasks.complete(task.key, {"agreed": True})
        assert (await sandbox.status(call.id)).result == {"agreed": True}

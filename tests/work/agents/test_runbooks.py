"""Agents that decide in runbooks: what they see, what they may do, and who decides when they may not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from perdure import Agent, Call, Decide
from perdure.app.audit.store_audit import verify_store
from perdure.app.compliance_export import export_document
from perdure.app.compliance_export.verification import check_document
from perdure.errors import RejectedError
from perdure.store.sealer import Sealer
from perdure.store.signing_keys import SigningKey
from perdure.testing.sandbox import Sandbox
from tests.work.agents.agent_verbs import PRICES, Asked, Decision, entries, opened, runner

PROGRAM = '(ubo.find :entity "Allianz" :as @owners)\n(ubo.decide :as @decision :after [@owners])\n'
LATER = PROGRAM + '(ubo.note :text "later" :as @later :after [@decision])\n'


async def whole(sandbox: Any) -> None:
    assert (await verify_store(sandbox, {})).findings == []


async def started(sandbox: Sandbox, program: str = PROGRAM) -> Any:
    view = await sandbox.runbooks.start(program, case="case-7")
    return await settled(sandbox, view.id)


async def settled(sandbox: Sandbox, id: str) -> Any:
    await sandbox.run_until_idle()
    return await sandbox.runbooks.show(id)


def deciding(**decision: Any) -> Any:
    """A pydantic-ai agent that decides so, and the model behind it."""
    asked = Asked({"verdict": "go on", **decision})
    return runner(asked, Decision), asked


@pytest.mark.req("X9", "X12", "O13")
async def test_an_agent_sees_what_happened_and_adds_steps(store_url: str) -> None:
    inner, asked = deciding(
        add=[{"verb": "ubo.note", "name": "noted", "args": {"text": "three owners"}}],
        reason="three owners",
        skip=["later"],
    )
    async with opened(store_url, f"{{{PRICES}}}", decide=inner) as sandbox:
        view = await started(sandbox, LATER)
        assert {step.name: step.state for step in view.steps} == {
            "owners": "completed", "decision": "completed", "later": "skipped", "noted": "completed",
        }  # fmt: skip
        assert view.step("noted").result == {"noted": "three owners"}
        assert '"owners":3' in asked.prompts[0] and '"case_id":"case-7"' in asked.prompts[0]
        assert view.usage == view.step("decision").usage and view.usage.requests == 1
        (made,) = await entries(sandbox, view.id, "DecisionMade")
        assert (made["reason"], made["confidence"]) == ("three owners", 1.0)
        await whole(sandbox)


@pytest.mark.req("X9", "O13")
async def test_an_agent_that_is_not_sure_proposes_and_a_person_accepts(store_url: str) -> None:
    inner, _ = deciding(add=[{"verb": "ubo.note", "name": "noted", "args": {"text": "x"}}], confidence=0.4)
    async with opened(store_url, "{confidence: 0.8, ask: compliance}", decide=inner) as sandbox:
        view = await started(sandbox, LATER)
        assert (view.state, view.step("decision").state, view.step("later").state) == ("parked", "parked", "pending")
        assert view.progress == "1 of 3 steps complete, waiting for compliance to decide upon decision"
        rita = sandbox.acting(principal="rita", groups=["compliance"])
        (task,) = await rita.tasks.list(mine=True)
        assert (task.key, task.groups, task.requester) == (f"{view.id}:2", "compliance", "agent:the judge")
        assert task.proposal.data == {"verdict": "go on"} and task.proposal.confidence == 0.4
        assert task.proposal.add[0]["verb"] == "ubo.note" and "0.4 sure" in task.proposal.why
        assert (await rita.tasks.get(task.key)).form["required"] == ["verdict"]
        await rita.tasks.claim(task.key)
        ended = await rita.tasks.accept(task.key)
        assert (ended.id, ended.step("decision").proposal) == (view.id, None)
        done = await settled(sandbox, view.id)
        assert (done.state, done.step("noted").state) == ("completed", "completed")
        assert done.step("decision").result == {"verdict": "go on"}
        (answered,) = await entries(sandbox, view.id, "ProposalAnswered")
        assert (answered["by"], answered["accepts"]) == ("rita", True)
        assert await sandbox.tasks.list() == []
        await whole(sandbox)


@pytest.mark.req("X9", "O13")
async def test_a_person_answers_otherwise_than_the_agent_proposed_and_the_first_answer_counts(store_url: str) -> None:
    inner, _ = deciding(add=[{"verb": "ubo.note", "name": "noted", "args": {"text": "x"}}], confidence=0.4)
    async with opened(store_url, "{confidence: 0.8, ask: compliance}", decide=inner) as sandbox:
        view = await started(sandbox, LATER)
        rita = sandbox.acting(principal="rita", groups=["compliance"])
        key = f"{view.id}:2"
        await rita.tasks.complete(key, {"verdict": "stop", "finish": True, "reason": "no"}, message_id="m-1")
        done = await settled(sandbox, view.id)
        assert (done.state, done.step("later").state, len(done.steps)) == ("completed", "skipped", 3)
        assert done.step("decision").result == {"verdict": "stop"}
        await rita.tasks.complete(key, {"verdict": "stop", "finish": True, "reason": "no"}, message_id="m-1")
        with pytest.raises(RejectedError, match=r"not open|completed"):
            await rita.tasks.complete(key, {"verdict": "go on"})
        with pytest.raises(RejectedError, match="nothing is proposed"):
            await rita.tasks.accept(key)
        await whole(sandbox)


@pytest.mark.req("X9", "O13")
async def test_no_agent_and_no_stranger_answers_for_a_person(sqlite_url: str) -> None:
    inner, _ = deciding(confidence=0.4)
    async with opened(sqlite_url, "{confidence: 0.8, ask: compliance}", decide=inner) as sandbox:
        view = await started(sandbox)
        key = f"{view.id}:2"
        refused = {
            "agent:the judge": "four eyes|an agent", "agent:another": "an agent", "eve": "group compliance",
        }  # fmt: skip
        for principal, words in refused.items():
            groups = [] if principal == "eve" else ["compliance"]
            who = sandbox.acting(principal=principal, groups=groups)
            for act in (
                who.tasks.accept(key),
                who.tasks.complete(key, {"verdict": "x"}),
                who.complete(key, {"verdict": "x"}),
            ):
                with pytest.raises(RejectedError, match=words) as caught:
                    await act
                assert caught.value.rejection.code == "forbidden"
        assert (await settled(sandbox, view.id)).step("decision").state == "parked"
        with pytest.raises(RejectedError, match="four eyes"):
            await sandbox.acting(principal="agent:the judge", groups=["compliance"]).tasks.claim(key)
        rita, ben = (sandbox.acting(principal=name, groups=["compliance"]) for name in ("rita", "ben"))
        await rita.tasks.claim(key)
        with pytest.raises(RejectedError, match="'rita' has claimed it"):
            await ben.tasks.accept(key)
        await rita.tasks.delegate(key, "ben")
        await ben.tasks.accept(key)
        assert (await settled(sandbox, view.id)).state == "completed"
        assert await sandbox.dead_letters() == []


@pytest.mark.req("X9", "O13")
async def test_an_agent_that_says_nothing_of_its_confidence_is_not_confident(sqlite_url: str) -> None:
    class Silent(Agent):
        async def decide(self, call: Call) -> Decide:
            assert call.context is not None and call.context.case_id == "case-7"
            return Decide({"verdict": "go on"})

    async with opened(sqlite_url, "{confidence: 0.1, ask: compliance}", decide=Silent()) as sandbox:
        view = await started(sandbox)
        assert "does not say how sure" in view.step("decision").proposal.why


@pytest.mark.req("X9", "O13")
async def test_steps_above_the_tier_of_an_agent_are_proposed_and_never_added_by_it(store_url: str) -> None:
    inner, _ = deciding(add=[{"verb": "ubo.freeze", "name": "frozen"}])
    async with opened(store_url, "{ask: compliance}", decide=inner) as sandbox:
        view = await started(sandbox)
        assert (view.state, len(view.steps)) == ("parked", 2)
        proposal = view.step("decision").proposal
        assert "'ubo.freeze', which is requires_authorisation" in proposal.why
        await sandbox.acting(principal="rita", groups=["compliance"]).tasks.accept(f"{view.id}:2")
        done = await settled(sandbox, view.id)
        assert (done.state, done.step("frozen").state) == ("completed", "completed")
        await whole(sandbox)


@pytest.mark.req("X9", "O13")
@pytest.mark.parametrize(
    ("contract", "add", "code", "words"),
    [
        ("{}", [{"verb": "ubo.freeze", "name": "frozen"}], "agent.forbidden", "Nobody is named who decides"),
        ("{allow: [ubo.f*]}", [{"verb": "ubo.note", "name": "noted"}], "agent.forbidden", "may add ubo.f* only"),
    ],
)
async def test_what_an_agent_may_not_add_fails_its_step(
    sqlite_url: str, contract: str, add: Any, code: str, words: str
) -> None:
    inner, _ = deciding(add=add)
    async with opened(sqlite_url, contract, decide=inner) as sandbox:
        view = await started(sandbox)
        error = view.step("decision").error
        assert (view.state, error.code, error.failure_class) == ("failed", code, "permanent_business")
        assert words in error.message and len(view.steps) == 2 and view.usage.requests == 1


@pytest.mark.req("X9", "O13")
async def test_steps_an_agent_adds_go_through_the_compiler(sqlite_url: str) -> None:
    inner, _ = deciding(
        add=[{"verb": "ubo.nothing", "name": "x"}, {"verb": "ubo.note", "args": {"text": 7}, "name": "y"}]
    )
    async with opened(sqlite_url, "{ask: compliance}", decide=inner) as sandbox:
        view = await started(sandbox)
        assert view.step("decision").waiting_for.code == "decision.invalid" and len(view.steps) == 2


@pytest.mark.req("X9", "O13")
async def test_a_runbook_that_is_cancelled_takes_its_proposals_with_it(store_url: str) -> None:
    inner, _ = deciding(confidence=0.1)
    async with opened(store_url, "{confidence: 0.8, ask: compliance}", decide=inner) as sandbox:
        view = await started(sandbox)
        assert len(await sandbox.tasks.list(group="compliance")) == 1
        await sandbox.runbooks.cancel(view.id, "no need")
        assert await sandbox.tasks.list() == []
        with pytest.raises(RejectedError):
            await sandbox.acting(principal="rita", groups=["compliance"]).tasks.accept(f"{view.id}:2")
        await whole(sandbox)


@pytest.mark.req("O13")
async def test_what_a_runbook_has_spent_counts_for_every_agent_of_it(store_url: str) -> None:
    class Dear(Agent):
        async def decide(self, call: Call) -> dict[str, Any]:
            call.used("judge-1", input_tokens=60, output_tokens=0)
            return {"verdict": "good"}

    lines = ('"A" :as @a', '"B" :as @b :after [@a]', '"C" :after [@b]')
    program = "".join(f"(ubo.judge :entity {line})\n" for line in lines)
    async with opened(store_url, "{max_tokens: 120}", judge=Dear()) as sandbox:
        view = await started(sandbox, program)
        assert [step.state for step in view.steps] == ["completed", "completed", "parked"]
        assert (view.steps[2].waiting_for.code, view.usage.tokens) == ("agent.budget", 120)
        assert view.steps[0].usage.tokens == 60
        await whole(sandbox)


@pytest.mark.req("O13", "V30")
async def test_the_exported_document_tells_what_was_proposed_who_decided_and_verifies(sqlite_url: str) -> None:
    inner, _ = deciding(confidence=0.4)
    key = SigningKey(Ed25519PrivateKey.generate())
    async with opened(sqlite_url, "{confidence: 0.8, ask: compliance}", decide=inner) as sandbox:
        view = await started(sandbox)
        await sandbox.acting(principal="rita", groups=["compliance"]).tasks.accept(f"{view.id}:2")
        await sandbox.run_until_idle()
        runtime = sandbox.runtime
        await Sealer(runtime.store, key, runtime.sources).seal_all()
        document = await export_document(sandbox, view.id, key.public_keys)
        assert check_document(document).findings == []
        told = [(each["what"], each["who"]) for each in json.loads(document)["people"]]
        assert ("ProposalMade", "agent:the judge") in told and ("ProposalAnswered", "rita") in told

"""What a lifecycle cannot do alone is in the list of incidents, with a way on."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.errors import RejectedError
from perdure.testing.sandbox import Sandbox
from tests.crash.audit import assert_audit_passes
from tests.lifecycles.onboarding import Handlers, catalogue, written
from tests.lifecycles.test_actions import Mail, office


@pytest.mark.both_stores
@pytest.mark.req("T14")
async def test_a_blocker_that_was_asked_for_in_vain_needs_a_person_until_it_is_retried(
    tmp_path: Path, store_url: str
) -> None:
    handlers = Handlers()
    handlers.is_broken = True
    async with Sandbox.open(
        store_url, definitions=catalogue(), lifecycles=[written(tmp_path)], handlers=handlers.bound()
    ) as perdure:
        id = (await perdure.lifecycles.start("onboarding", "c1")).instance.id
        await perdure.run_until_idle()
        (stuck,) = (await perdure.listing.incidents()).items
        assert (stuck.id, stuck.kind, stuck.place, stuck.code) == (id, "lifecycle", 3, "lifecycle.resolution")
        assert stuck.text == "passport (papers.ask) failed: the mailbox is gone"
        assert [each.act for each in stuck.actions] == ["retry", "cancel"]
        (told,) = await perdure.incidents()
        assert told.id == id
        with pytest.raises(RejectedError, match="blocks the instance"):
            await perdure.lifecycles.dismiss(id, 3, "whatever")

        handlers.is_broken = False
        status = await perdure.lifecycles.retry(id, 3)
        assert (status.tasks[-1].number, status.tasks[-1].attempt, status.incidents) == (4, 4, [])
        await perdure.run_until_idle()
        assert (await perdure.listing.incidents()).items == []
        assert (await perdure.lifecycles.get(id)).tasks[-1].status == "pending"
        with pytest.raises(RejectedError, match="it was asked for again since"):
            await perdure.lifecycles.retry(id, 3)
    await assert_audit_passes(store_url)


async def test_a_verb_that_vanished_is_told_and_the_instance_goes_on_once_it_is_back(tmp_path: Path) -> None:
    url, file, text = f"sqlite:///{tmp_path / 'store.db'}", written(tmp_path), Handlers().bound()
    del text["papers.ask"]
    async with Sandbox.open(url, definitions=catalogue(), lifecycles=[file], handlers=text) as perdure:
        id = (await perdure.lifecycles.start("onboarding", "c1")).instance.id
        await perdure.run_until_idle()
        (stuck,) = (await perdure.lifecycles.get(id)).incidents
        assert "no worker has a handler for it" in stuck.text
    handlers = Handlers()
    async with Sandbox.open(url, definitions=catalogue(), lifecycles=[file], handlers=handlers.bound()) as perdure:
        await perdure.lifecycles.retry(id, stuck.task)
        await perdure.run_until_idle()
        assert sum(handlers.asked.values()) == 1
        assert (await perdure.listing.incidents()).items == []


@pytest.mark.req("T1")
async def test_an_action_that_failed_is_retried_or_dismissed_also_after_the_end() -> None:
    mail = Mail()
    mail.is_broken = True
    async with office(mail) as perdure:
        id = (await perdure.lifecycles.start("care", "ana")).instance.id
        await perdure.lifecycles.transit(id, "CALLED")
        await perdure.run_until_idle()
        found = (await perdure.listing.incidents()).items
        assert [(each.place, each.code) for each in found] == [(1, "lifecycle.action"), (2, "lifecycle.action")]
        assert [each.act for each in found[0].actions] == ["retry", "dismiss"]

        mail.is_broken = False
        await perdure.lifecycles.retry(id, 1)
        await perdure.run_until_idle()
        assert mail.sent == {"thanks": 1}
        await perdure.lifecycles.dismiss(id, 2, "called by telephone")
        assert (await perdure.listing.incidents()).items == []
        assert (await perdure.lifecycles.get(id)).status == "completed"

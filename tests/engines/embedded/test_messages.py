"""Messages meet their wait once, whoever comes first, and nobody else's."""

from __future__ import annotations

import asyncio

import pytest

from perdure.bpmn.machine import commands as c
from perdure.engines.embedded.messages import correlation as module
from perdure.engines.embedded.messages.envelope import NOTICE
from perdure.errors import RejectedError
from perdure.journal import Origin
from perdure.kernel.kernel import Prepared
from perdure.kernel.ports import DEAD, Unit
from perdure.sources import SECOND, Id
from tests.engines.embedded.message_world import ORIGIN, Desk, desks

pytestmark = pytest.mark.both_stores


async def test_a_message_ends_the_wait_of_its_name_and_key(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        one, other = await desk.begin("one", "case-1"), await desk.begin("one", "case-2")
        assert await desk.publish("m", page=1) == "correlated"
        assert (await desk.status(one), await desk.status(other)) == ("completed", "active")
        assert await desk.store.payload(one, (await desk.state(one)).head) == b'{"page":1}'


async def test_a_message_delivered_twice_counts_once(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("again")
        assert await desk.publish("m") == "correlated"
        assert await desk.publish("m") == "duplicate"
        assert await desk.status(id) == "active"
        assert await desk.publish("n") == "correlated"
        assert await desk.status(id) == "completed"
        receipt = await desk.messages.publish("documents", "case-1", ORIGIN, message_id="m", ttl_seconds=60)
        assert (receipt.outcome, receipt.instances, receipt.reason) == ("duplicate", (id,), "correlated")


async def test_without_an_id_every_sending_is_another_message(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("again")
        assert [await desk.publish() for _ in range(2)] == ["correlated"] * 2
        assert await desk.status(id) == "completed"


async def test_two_processes_publishing_one_message_at_once_end_one_wait(store_url: str) -> None:
    async with desks(store_url, 2) as (first, second):
        for number in range(10):
            case = f"case-{number}"
            id = await first.begin("again", case)
            outcomes = await asyncio.gather(
                *(desk.publish(f"m{number}", 60, case) for desk in (first, second, first, second))
            )
            assert sorted(outcomes) == ["correlated"] + ["duplicate"] * 3
            assert await second.status(id) == "active"


async def test_two_processes_keeping_one_message_at_once_keep_it_once(store_url: str) -> None:
    async with desks(store_url, 2) as (first, second):
        outcomes = await asyncio.gather(*(desk.publish("m", 60) for desk in (first, second, first)))
        assert sorted(outcomes) == ["buffered", "duplicate", "duplicate"]
        id = await second.begin("again")
        assert await first.status(id) == "active"
        assert len((await second.state(id)).watches) == 1


async def test_a_message_that_comes_before_its_wait_is_kept_for_it(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        assert await desk.publish("m", 60, page=1) == "buffered"
        assert await desk.publish("m", 60) == "duplicate"
        id = await desk.begin("one")
        assert await desk.status(id) == "completed"
        assert await desk.store.payload(id, (await desk.state(id)).head) == b'{"page":1}'
        assert await desk.publish("m", 60) == "duplicate"
        assert await desk.dead() == {}


async def test_kept_messages_are_taken_oldest_first(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        for page in (1, 2, 3):
            await desk.publish(f"m{page}", 60, page=page)
        id = await desk.begin("one")
        await desk.status(id)
        assert await desk.store.payload(id, (await desk.state(id)).head) == b'{"page":1}'
        other = await desk.begin("again")
        assert await desk.status(other) == "completed"


@pytest.mark.parametrize("order", [("documents", "withdrawn"), ("withdrawn", "documents")])
@pytest.mark.parametrize("is_left", [False, True], ids=["at once", "by the sweep"])
async def test_of_several_waits_the_one_whose_message_was_kept_first_ends(
    store_url: str, order: tuple[str, str], is_left: bool
) -> None:
    async with desks(store_url) as (desk,):
        for ttl, name in zip((90, 60), order, strict=True):
            assert await desk.publish(name, ttl, name=name) == "buffered"
        id = await _begun(desk, "race", is_left=is_left)
        assert await desk.status(id) == "completed"
        kept = [await desk.store.buffered_messages("tenant", each, "case-1", desk.clock.now()) for each in order]
        assert [len(each) for each in kept] == [0, 1]


@pytest.mark.parametrize("is_left", [False, True], ids=["at once", "by the sweep"])
async def test_what_comes_after_the_message_that_ends_all_waits_stays_kept(store_url: str, is_left: bool) -> None:
    async with desks(store_url) as (desk,):
        for number, name in enumerate(("documents", "withdrawn", "documents")):
            assert await desk.publish(f"{number}", 90, name=name) == "buffered"
        id = await _begun(desk, "withdrawable", is_left=is_left)
        assert await desk.status(id) == "completed"
        kept = await desk.store.buffered_messages("tenant", "documents", "case-1", desk.clock.now())
        assert [each.message_id for each in kept] == ["2"]


async def test_an_older_message_on_a_later_page_of_the_sweep_still_ends_the_race(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SWEPT", 2)
    async with desks(store_url) as (desk,):
        for message_id, ttl, name, case in (("a", 900, "documents", "case-1"), ("x", 100, "documents", "other")):
            assert await desk.publish(message_id, ttl, name=name, case=case) == "buffered"
        assert await desk.publish("b", 90, name="withdrawn") == "buffered"
        id = await _begun(desk, "race", is_left=True)
        assert await desk.status(id) == "completed"
        kept = await desk.store.buffered_messages("tenant", "withdrawn", "case-1", desk.clock.now())
        assert [each.message_id for each in kept] == ["b"]


async def _begun(desk: Desk, process: str, *, is_left: bool) -> Id:
    """An instance whose waits are given what is kept when they open; or, after a crash before that, by the sweep."""
    with pytest.MonkeyPatch.context() as crashing:
        if is_left:
            crashing.setattr(desk.messages, "_claim_all", _nothing)
        id = await desk.begin(process)
        await desk.settle()
    if is_left:
        await desk.go_on()
    return id


async def _nothing(*_: object) -> list[str]:
    return []


async def test_a_wait_that_stays_takes_every_kept_message(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        for page in range(3):
            await desk.publish(f"m{page}", 60)
        id = await desk.begin("notes")
        assert await desk.status(id) == "active"
        assert await desk.store.buffered_messages("tenant", "documents", "case-1", desk.clock.now()) == []


async def test_a_message_whose_time_is_over_is_never_correlated(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        await desk.publish("m", 60)
        desk.clock.move_to(desk.clock.now() + 60 * SECOND)
        id = await desk.begin("one")
        assert await desk.status(id) == "active", "although nobody has swept it away yet"
        assert await desk.dead() == {}
        assert await desk.messages.sweep() == 1
        assert await desk.dead() == {"m": "expired"}
        assert [(each.message_id, each.key) for each in desk.failed] == [("m", "case-1")]
        assert await desk.messages.sweep() == 0
        assert await desk.status(id) == "active"


async def test_a_message_sent_again_after_its_time_is_over_is_delivered_if_someone_waits(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        await desk.publish("m", 60)
        desk.clock.move_to(desk.clock.now() + 61 * SECOND)
        id = await desk.begin("one")
        assert await desk.publish("m", 60) == "correlated"
        assert await desk.status(id) == "completed"
        assert (await desk.dead(), await desk.publish("m")) == ({}, "duplicate")


async def test_a_message_nobody_waits_for_is_a_dead_letter_and_told(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        assert await desk.publish("m") == "no_subscription"
        assert await desk.dead() == {"m": "no_subscription"}
        assert [each.reason.partition(":")[0] for each in desk.failed] == ["no_subscription"]
        id = await desk.begin("one")
        assert await desk.status(id) == "active"
        assert await desk.publish("m") == "correlated", "sent again, it fits by now"
        assert await desk.dead() == {}


async def test_a_message_two_instances_wait_for_is_given_to_neither(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        ids = [await desk.begin("one") for _ in range(2)]
        assert await desk.publish("m", 60) == "ambiguous"
        assert [await desk.status(id) for id in ids] == ["active"] * 2
        assert await desk.dead() == {"m": "ambiguous"}
        assert [each.reason.partition(":")[0] for each in desk.failed] == ["ambiguous"]
        with pytest.raises(RejectedError, match="ambiguous"):
            await desk.messages.replay("m", ORIGIN)
        assert (await desk.messages.replay("m", ORIGIN, instance=ids[1])).instances == (ids[1],)
        assert [await desk.status(id) for id in ids] == ["active", "completed"]
        with pytest.raises(RejectedError, match="dealt with already"):
            await desk.messages.replay("m", ORIGIN)


async def test_of_several_waits_of_one_instance_the_oldest_ends(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("two")
        before = sorted((await desk.state(id)).watches)
        assert await desk.publish("m") == "correlated"
        assert sorted((await desk.state(id)).watches) == before[1:]
        assert await desk.publish("n") == "correlated"
        assert await desk.status(id) == "completed"


async def test_messages_sent_together_to_one_instance_each_end_a_wait_or_are_kept(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("two")
        outcomes = await asyncio.gather(*(desk.publish(f"m{number}", 60) for number in range(5)))
        assert sorted(outcomes) == ["buffered"] * 3 + ["correlated"] * 2
        assert await desk.status(id) == "completed"
        assert len(await desk.store.buffered_messages("tenant", "documents", "case-1", desk.clock.now())) == 3


async def test_the_key_of_another_tenant_is_another_key(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id, stranger = await desk.begin("one"), Origin("stranger", "someone")
        receipt = await desk.messages.publish("documents", "case-1", stranger, message_id="m", ttl_seconds=60)
        assert receipt.outcome == "buffered"
        assert await desk.status(id) == "active"
        assert await desk.publish("m") == "correlated", "ids are a tenant's own as well"
        assert (await desk.dead(), await desk.dead("stranger")) == ({}, {})


async def test_a_synchronous_correlation_waits_for_nobody_and_is_a_dead_letter(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        receipt = await desk.messages.correlate("documents", "case-1", ORIGIN, message_id="m")
        assert receipt.outcome == "no_subscription"
        assert (await desk.dead(), len(desk.failed)) == ({"m": "no_subscription"}, 1)
        id = await desk.begin("one")
        assert await desk.status(id) == "active"
        assert (await desk.messages.correlate("documents", "case-1", ORIGIN, message_id="m")).outcome == "correlated"
        assert (await desk.messages.correlate("documents", "case-1", ORIGIN, message_id="m")).outcome == "duplicate"


async def test_a_message_is_known_by_its_name_and_key_and_id_together(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        assert await desk.publish("m", 60) == "buffered"
        id = await desk.begin("again", "case-2")
        assert await desk.publish("m", 60, case="case-2") == "correlated", "an id that another message has"
        assert [await desk.publish("m", 60, case="case-2") for _ in range(2)] == ["duplicate"] * 2
        receipt = await desk.messages.correlate("documents", "case-2", ORIGIN, message_id="m")
        assert (receipt.outcome, receipt.instances) == ("duplicate", (id,))
        assert await desk.status(id) == "active", "its second wait is still open"
        assert await desk.publish("m", 60) == "duplicate", "the first is still kept for its own key"
        other = await desk.begin("one")
        assert await desk.status(other) == "completed"


async def test_one_id_under_several_keys_leaves_a_dead_letter_for_each(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        outcomes = [await desk.publish("m", case=case) for case in ("case-1", "case-2", "case-2", "case-3")]
        assert outcomes == ["no_subscription"] * 4
        assert len(await desk.dead()) == 3
        id = await desk.begin("one", "case-3")
        assert await desk.publish("m", case="case-3") == "correlated", "what was dead is delivered when sent again"
        assert (await desk.status(id), len(await desk.dead())) == ("completed", 2)


async def test_one_id_sent_under_two_keys_at_once_by_two_processes_is_two_messages(store_url: str) -> None:
    async with desks(store_url, 2) as (first, second):
        one, other = await first.begin("again", "case-1"), await first.begin("again", "case-2")
        outcomes = await asyncio.gather(
            *(desk.publish("m", 60, case) for case in ("case-1", "case-2") for desk in (first, second))
        )
        assert sorted(outcomes) == ["correlated"] * 2 + ["duplicate"] * 2
        assert (await first.status(one), await first.status(other)) == ("active", "active")


async def test_what_was_delivered_by_hand_under_a_corrected_key_is_not_taken_again(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("again", "case-2")
        await desk.publish("m")
        await desk.messages.replay("m", ORIGIN, key="case-2")
        assert await desk.publish("m", 60, case="case-2") == "duplicate"
        assert await desk.status(id) == "active"


async def test_what_the_sender_has_corrected_is_not_delivered_by_hand_as_well(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("again", "case-2")
        await desk.publish("m")
        assert await desk.publish("m", 60, case="case-2") == "correlated"
        with pytest.raises(RejectedError, match="came before under the key 'case-2'"):
            await desk.messages.replay("m", ORIGIN, key="case-2")
        assert (await desk.status(id), list(await desk.dead())) == ("active", ["m"])


async def test_what_started_a_process_by_hand_under_a_corrected_key_starts_no_second_one(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        await desk.messages.publish("order", "case-1", ORIGIN, message_id="m")
        await desk.begun_by("p", "order")
        assert (await desk.messages.replay("m", ORIGIN, key="case-2")).outcome == "started"
        assert (await desk.messages.publish("order", "case-2", ORIGIN, message_id="m")).outcome == "duplicate"
        assert len(await desk.instances()) == 1


async def test_of_two_people_who_correct_a_dead_letter_differently_one_does(store_url: str) -> None:
    async with desks(store_url, 2) as (first, second):
        ids = [await first.begin("one", case) for case in ("case-2", "case-3")]
        await first.publish("m")
        outcomes = await asyncio.gather(
            first.messages.replay("m", ORIGIN, key="case-2"), second.messages.replay("m", ORIGIN, key="case-3"),
            return_exceptions=True,
        )  # fmt: skip
        assert sorted(isinstance(each, RejectedError) for each in outcomes) == [False, True]
        assert sorted([await first.status(id) for id in ids]) == ["active", "completed"]
        assert await first.dead() == {}


async def test_a_key_under_which_nobody_waits_leaves_a_dead_letter_as_it_is(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("one", "case-2")
        await desk.publish("m")
        with pytest.raises(RejectedError, match="no_subscription: 0 instances wait for 'documents' under 'case-3'"):
            await desk.messages.replay("m", ORIGIN, key="case-3")
        with pytest.raises(RejectedError, match="does not wait for 'documents' under 'case-3'"):
            await desk.messages.replay("m", ORIGIN, key="case-3", instance=id)
        assert list(await desk.dead()) == ["m"]
        assert (await desk.messages.replay("m", ORIGIN, key="case-2", instance=id)).outcome == "correlated"


async def test_what_does_not_fit_is_refused_at_the_door_and_when_it_was_kept_a_dead_letter(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        await desk.publish("kept", 60, bad=1)
        id = await desk.begin("one")
        assert await desk.status(id) == "active"
        assert await desk.dead() == {"kept": "rejected"}
        with pytest.raises(RejectedError, match="it says bad"):
            await desk.publish("m", 60, bad=1)
        assert await desk.publish("m", good=1) == "correlated", "nothing was recorded of the refused one"


@pytest.mark.parametrize(
    ("key", "message_id", "ttl"), [("\0", "m", 0), ("k", f"{NOTICE}x", 0), ("k", "m", -1), ("k", "m", float("inf"))]
)
async def test_what_could_not_be_kept_is_refused(sqlite_url: str, key: str, message_id: str, ttl: float) -> None:
    async with desks(sqlite_url) as (desk,):
        with pytest.raises(RejectedError):
            await desk.publish(message_id, ttl, case=key)
        assert await desk.dead() == {}


async def test_a_message_starts_one_instance_of_every_process_that_waits_for_it(store_url: str) -> None:
    async with desks(store_url, 2) as (desk, other):
        for process in ("p1", "p2"):
            await desk.begun_by(process, "order")
        first = await desk.messages.publish("order", "case-1", ORIGIN, message_id="m")
        assert (first.outcome, len(first.instances)) == ("started", 2)
        for again in (desk, other):
            assert (await again.messages.publish("order", "case-1", ORIGIN, message_id="m")).outcome == "duplicate"
            await again.go_on()
        assert sorted(await desk.instances()) == sorted(first.instances)
        assert (await desk.messages.publish("order", "case-1", ORIGIN, message_id="n")).outcome == "started"
        assert len(await desk.instances()) == 4


async def test_who_waits_is_served_before_a_process_starts(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("one")
        await desk.begun_by("p", "documents")
        assert await desk.publish("m") == "correlated"
        assert await desk.instances() == [id]


async def test_a_start_that_is_refused_leaves_a_dead_letter_that_starts_once_mended(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        await desk.begun_by("p", "order")
        with pytest.raises(RejectedError, match="it says bad"):
            await desk.messages.publish("order", "case-1", ORIGIN, message_id="m", data={"bad": 1})
        assert await desk.dead() == {"m": "rejected"}
        for outcome in ("started", "duplicate"):
            again = await desk.messages.publish("order", "case-1", ORIGIN, message_id="m", data={"good": 1})
            assert again.outcome == outcome
        assert len(await desk.instances()) == 1


async def test_a_paused_instance_gets_what_was_kept_for_it_when_it_goes_on(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("one")
        await desk.kernel.ask("instance", id, ORIGIN, Prepared(c.Suspend()))
        assert await desk.publish("m", 60) == "buffered"
        await desk.kernel.ask("instance", id, ORIGIN, Prepared(c.Resume()))
        assert await desk.status(id) == "completed"


async def test_a_dead_letter_is_delivered_by_hand_under_a_corrected_key(store_url: str) -> None:
    async with desks(store_url) as (desk,):
        id = await desk.begin("one", "case-2")
        await desk.publish("m")
        with pytest.raises(RejectedError, match="no_subscription"):
            await desk.messages.replay("m", ORIGIN)
        message = await desk.store.message("tenant", "m")
        assert message is not None and message.status == DEAD
        assert (await desk.messages.replay("m", ORIGIN, key="case-2")).outcome == "correlated"
        assert (await desk.status(id), await desk.dead()) == ("completed", {})


async def test_two_people_delivering_one_dead_letter_deliver_it_once(store_url: str) -> None:
    async with desks(store_url, 2) as (first, second):
        await first.publish("m")
        id = await first.begin("again")
        receipts = await asyncio.gather(
            *(desk.messages.replay("m", ORIGIN) for desk in (first, second)), return_exceptions=True
        )
        outcomes = [each if isinstance(each, BaseException) else each.outcome for each in receipts]
        assert outcomes.count("correlated") == 1, outcomes
        assert await second.status(id) == "active"


async def test_waits_and_messages_of_two_processes_always_meet(store_url: str) -> None:
    async with desks(store_url, 2) as (first, second):
        for number in range(15):
            case = f"case-{number}"
            id, _ = await asyncio.gather(first.begin("one", case), second.publish(f"m{number}", 60, case))
            await second.settle()
            assert await first.status(id) == "completed", number
        assert await first.dead() == {}


async def test_a_message_whose_time_ends_while_it_is_being_delivered_is_not(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desks(store_url) as (desk,):
        await desk.publish("m", 60)
        read = desk.store.message

        async def slowly(tenant: str, message_id: str) -> object:
            found = await read(tenant, message_id)
            desk.clock.move_to(desk.clock.now() + 60 * SECOND)
            return found

        monkeypatch.setattr(desk.store, "message", slowly)
        id = await desk.begin("one")
        assert await desk.status(id) == "active"
        assert await desk.messages.sweep() == 1


async def test_a_wait_that_opens_while_a_message_is_being_kept_meets_it(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wait looks before the message is there, and the message looked before the wait was."""
    async with desks(store_url, 2) as (first, second):
        commit, ids = second.store.commit, []

        async def late(unit: Unit) -> object:
            if not ids:
                ids.append(await first.begin("one"))
                assert await first.status(ids[0]) == "active"
            return await commit(unit)

        monkeypatch.setattr(second.store, "commit", late)
        assert await second.publish("m", 60) == "correlated"
        assert await first.status(ids[0]) == "completed"

"""Who may do what with a human task: every act by every kind of person, as tables and at random."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure import human_tasks
from perdure.errors import Rejection
from perdure.human_tasks import HumanTask, Person, RungRule, TaskContract

DAY = 86_400 * human_tasks.SECOND
ANA, BOB, EVE = Person("ana"), Person("bob", ("seniors",)), Person("eve")
CHIEF = Person("chief", (human_tasks.ADMINISTRATORS,), "ana is ill")


def opened(**declared: object) -> HumanTask:
    return human_tasks.open_task(TaskContract(**declared), 1000, "rico")  # type: ignore[arg-type]


def code(made: human_tasks.Answer) -> str:
    return made.code if isinstance(made, Rejection) else made.state


TASKS: dict[str, HumanTask] = {
    "anyone's": opened(),
    "ana's": opened(assignee="ana"),
    "of seniors": opened(groups=("seniors",)),
    "ana's or of seniors": opened(assignee="ana", groups=("seniors",)),
    "for user bob": opened(users=("bob",)),
    "claimed by bob": human_tasks.claim(opened(groups=("seniors",)), BOB, "t"),  # type: ignore[dict-item]
}
MAY: dict[str, dict[str, bool | str]] = {
    "anyone's": {"ana": True, "bob": True, "eve": True, "rico": True},
    "ana's": {"ana": True, "bob": "forbidden", "eve": "forbidden", "rico": "forbidden"},
    "of seniors": {"ana": "forbidden", "bob": True, "eve": "forbidden", "rico": "forbidden"},
    "ana's or of seniors": {"ana": True, "bob": True, "eve": "forbidden", "rico": "forbidden"},
    "for user bob": {"ana": "forbidden", "bob": True, "eve": "forbidden", "rico": "forbidden"},
    "claimed by bob": {"ana": "blocked", "bob": True, "eve": "blocked", "rico": "blocked"},
}
PEOPLE = {"ana": ANA, "bob": BOB, "eve": EVE, "rico": Person("rico")}
ACTS: dict[str, tuple[Callable[[HumanTask, Person], human_tasks.Answer], str]] = {
    "claim": (lambda task, who: human_tasks.claim(task, who, "t"), "claimed"),
    "delegate": (lambda task, who: human_tasks.delegate(task, who, "zoe", "t"), "open"),
    "reassign": (lambda task, who: human_tasks.reassign(task, who, "", ("night",), "t"), "open"),
    "answer": (lambda task, who: human_tasks.answer(task, who, 2000, "t"), "completed"),
}


@pytest.mark.req("V20")
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("kind", TASKS)
def test_only_those_it_is_for_claim_hand_on_and_answer_a_task(kind: str, act: str) -> None:
    do, state = ACTS[act]
    for name, may in MAY[kind].items():
        assert code(do(TASKS[kind], PEOPLE[name])) == (state if may is True else may), (kind, act, name)


def test_what_anyone_may_answer_is_told_sooner_and_not_otherwise() -> None:
    names, groups = ("", "ana", "agent:ana"), ((), ("seniors",), (human_tasks.ADMINISTRATORS,))
    tasks = [
        HumanTask(state, assignee, whose, users, claimed_by, requester=requester)
        for state in get_args(human_tasks.TaskState) for assignee in names[:2] for whose in groups[:2]
        for users in ((), ("ana",)) for claimed_by in names[:2] for requester in names
    ]  # fmt: skip
    who = [Person(name, group, override) for name in names for group in groups for override in ("", "ill")]
    for task, person in product(tasks, who):
        assert human_tasks.unanswerable(task, person, "t") == human_tasks._refusal(task, person, "complete", "t")


@pytest.mark.req("V20")
def test_who_asked_for_it_cannot_answer_or_get_a_task_that_needs_four_eyes() -> None:
    task = opened(four_eyes=True)
    rico = Person("rico", ("seniors", human_tasks.ADMINISTRATORS))
    for do, _ in ACTS.values():
        assert code(do(task, rico)) == "forbidden"
        assert code(do(task, rico._replace(override="I may do anything"))) == "forbidden"
    assert code(human_tasks.delegate(task, ANA, "rico", "t")) == "forbidden"
    assert code(human_tasks.reassign(task, ANA, "rico", (), "t")) == "forbidden"
    assert code(human_tasks.answer(task, ANA, 2, "t")) == "completed"
    assert code(human_tasks.answer(opened(), rico, 2, "t")) == "completed", "without four eyes whoever asked may answer"


@pytest.mark.req("V20")
def test_an_administrator_acts_for_others_with_a_reason_and_nobody_else_does() -> None:
    for task in TASKS.values():
        assert code(human_tasks.answer(task, CHIEF, 2, "t")) == "completed"
        assert code(human_tasks.unclaim(task, CHIEF, "t")) == "open"
    assert code(human_tasks.answer(TASKS["ana's"], CHIEF._replace(override=""), 2, "t")) == "forbidden"
    assert code(human_tasks.answer(TASKS["ana's"], EVE._replace(override="please"), 2, "t")) == "forbidden"
    assert code(human_tasks.unclaim(TASKS["claimed by bob"], EVE._replace(override="please"), "t")) == "forbidden"


@pytest.mark.req("V20")
def test_a_task_that_has_ended_takes_no_act_and_says_how_it_ended() -> None:
    done = human_tasks.answer(opened(), ANA, 2, "t")
    assert isinstance(done, HumanTask)
    for do, _ in ACTS.values():
        again = do(done, BOB)
        assert isinstance(again, Rejection)
        assert (again.code, again.fact) == ("wrong_state", "'ana' has completed it")
    expired = human_tasks.ended(opened(), "expired", 5)
    refused = human_tasks.answer(expired, ANA, 6, "t")
    assert isinstance(refused, Rejection)
    assert refused.fact == "it is expired"
    assert code(human_tasks.cancel(expired, 6, "t")) == "wrong_state"
    assert code(human_tasks.unclaim(expired, ANA, "t")) == "wrong_state"


@pytest.mark.req("V20")
def test_a_claim_is_given_back_by_its_holder_alone_and_twice_is_once() -> None:
    held = TASKS["claimed by bob"]
    assert human_tasks.claim(held, BOB, "t") == held
    assert code(human_tasks.unclaim(held, EVE, "t")) == "blocked"
    free = human_tasks.unclaim(held, BOB, "t")
    assert isinstance(free, HumanTask)
    assert (free.state, free.claimed_by, human_tasks.unclaim(free, EVE, "t")) == ("open", "", free)


@pytest.mark.req("V20")
def test_whoever_handed_a_task_on_is_remembered_and_the_next_one_may_answer() -> None:
    handed = human_tasks.delegate(TASKS["ana's"], ANA, "eve", "t")
    assert isinstance(handed, HumanTask)
    assert (handed.assignee, handed.delegated_by, handed.state) == ("eve", ("ana",), "open")
    assert code(human_tasks.answer(handed, EVE, 2, "t")) == "completed"
    assert code(human_tasks.answer(handed, ANA, 2, "t")) == "forbidden"
    assert code(human_tasks.delegate(handed, EVE, "", "t")) == "invalid"


@pytest.mark.req("V20")
def test_a_ladder_reminds_then_reassigns_then_escalates_each_rung_once() -> None:
    ladder = human_tasks.ladder_of(
        [RungRule(3 * DAY, "escalate", "board"), RungRule(DAY, "remind"), RungRule(2 * DAY, "reassign", "seniors")]
    )
    task = opened(assignee="ana", ladder=ladder)
    due = []
    while (found := human_tasks.next_rung(task)) is not None:
        due.append((found[0], found[1].act))
        task = human_tasks.climbed(task, found[1])
        if found[1].act == "reassign":
            assert (task.assignee, task.groups) == ("", ("seniors",))
            claimed = human_tasks.claim(task, BOB, "t")
            assert isinstance(claimed, HumanTask)
            task = claimed
    assert due == [(1000 + DAY, "remind"), (1000 + 2 * DAY, "reassign"), (1000 + 3 * DAY, "escalate")]
    assert (task.groups, task.claimed_by) == (("seniors", "board"), ""), "those it is escalated to can answer it"
    done = human_tasks.answer(opened(ladder=ladder), ANA, 2, "t")
    assert isinstance(done, HumanTask)
    assert human_tasks.next_rung(done) is None


@pytest.mark.req("V20")
@pytest.mark.parametrize(("opens", "order"), [("2027-02-01T00:00:00Z", [28, 30]), ("2027-03-01T00:00:00Z", [30, 31])])
def test_a_ladder_of_months_is_counted_in_the_calendar_from_when_the_task_opens(opens: str, order: list[int]) -> None:
    rules, fault = human_tasks.read_rungs("remind", "P30D, P1M")
    assert fault == ""
    now = human_tasks.moment(opens, 0)
    task = human_tasks.open_task(TaskContract(ladder=human_tasks.ladder_of(rules)), now)
    assert [rung.after // DAY for rung in task.ladder] == order
    assert human_tasks.next_rung(task) == (now + order[0] * DAY, task.ladder[0])


@pytest.mark.req("V20")
def test_a_due_date_is_a_moment_or_a_duration_and_shifts_only_as_a_duration() -> None:
    assert opened(due="P1D").due_at == 1000 + DAY
    assert human_tasks.shifted(opened(due="P1D"), 5).due_at == 1005 + DAY
    fixed = opened(due="2026-11-20T00:00:00Z")
    assert fixed.due_at == human_tasks.shifted(fixed, 5).due_at > 0
    assert opened(due="soon").due_at == 0
    assert opened(due="P1M").due_at == 1000 + 31 * DAY
    assert opened(due="P1Y").due_at == 1000 + 365 * DAY


@pytest.mark.parametrize(
    ("act", "text", "fault"),
    [
        ("remind", "soon", "not a duration"), ("remind", "P1D ana", "goes to whoever has the task"),
        ("reassign", "P1D", "nothing says to whom"), ("escalate", "P1D user:", "nothing says to whom"),
        ("escalate", "PT1M2D seniors", "not a duration"), ("remind", "P1D,", "not a duration"),
    ],
)  # fmt: skip
def test_a_rung_that_cannot_be_climbed_says_why(act: human_tasks.RungAct, text: str, fault: str) -> None:
    rungs, why = human_tasks.read_rungs(act, text)
    assert rungs == []
    assert fault in why


def test_rungs_name_groups_or_users() -> None:
    rules, fault = human_tasks.read_rungs("reassign", "P1D seniors, PT36H user:ana")
    rungs = human_tasks.ladder_from(tuple(rules), 0)
    assert (fault, [(each.group, each.user, each.to) for each in rungs]) == (
        "", [("seniors", "", "seniors"), ("", "ana", "user:ana")]
    )  # fmt: skip


# --- at random --------------------------------------------------------------------------------------------------------

names = st.sampled_from(["ana", "bob", "eve", "rico", ""])
groups = st.lists(st.sampled_from(["seniors", "night"]), max_size=2, unique=True).map(tuple)
persons = st.builds(Person, names, groups, st.just(""))
contracts = st.builds(
    TaskContract, assignee=names, groups=groups, users=st.lists(names, max_size=2).map(tuple), four_eyes=st.booleans(),
    ladder=st.lists(
        st.builds(RungRule, st.integers(1, 9), st.sampled_from(["remind", "reassign", "escalate"]), st.just("night")),
        max_size=3,
    ).map(human_tasks.ladder_of),
)  # fmt: skip
acts = st.one_of(
    st.tuples(st.sampled_from(["claim", "unclaim", "answer"]), persons),
    st.tuples(st.just("delegate"), persons, names),
    st.tuples(st.just("reassign"), persons, names, groups),
    st.tuples(st.sampled_from(["climb", "expire"])),
)


def entitled_by_hand(task: HumanTask, who: Person) -> bool:
    """The rule said once more, in other words, so that the code cannot agree with itself only."""
    if who.name == "" or (task.requester != "" and who.name == task.requester):
        return False
    if task.claimed_by != "":
        return task.claimed_by == who.name
    everyone = [*([task.assignee] if task.assignee else []), *task.users]
    return (not everyone and not task.groups) or who.name in everyone or bool(set(task.groups) & set(who.groups))


@pytest.mark.req("V20")
@settings(deadline=None, max_examples=300)
@given(contracts, st.lists(acts, max_size=25))
def test_random_acts_of_random_people_never_give_two_answers_or_one_by_a_stranger(
    contract: TaskContract, played: list[tuple[object, ...]]
) -> None:
    task = human_tasks.open_task(contract, 0, "rico")
    answers = 0
    for now, (act, *more) in enumerate(played):
        before = task
        match act:
            case "climb":
                found = human_tasks.next_rung(task)
                made: human_tasks.Answer = human_tasks.climbed(task, found[1]) if found is not None else task
            case "expire":
                made = human_tasks.ended(task, "expired", now) if task.is_open else task
            case "answer":
                made = human_tasks.answer(task, more[0], now, "t")  # type: ignore[arg-type]
            case _:
                made = getattr(human_tasks, str(act))(task, *more, "t")
        if isinstance(made, Rejection) or made is before:
            continue
        task = made
        if task.state == "completed":
            answers += 1
            assert entitled_by_hand(before, more[0])  # type: ignore[arg-type]
            assert task.answered_by != task.requester or not task.requester
        if act == "claim" and task.claimed_by != before.claimed_by:
            assert entitled_by_hand(before, more[0])  # type: ignore[arg-type]
        assert (task.state == "claimed") == (task.is_open and task.claimed_by != "")
        assert task.rung <= len(task.ladder)
    assert answers <= 1
    assert (task.state == "completed") == (answers == 1)


JOINT = opened(groups=("compliance + risk",))
SAM, TOM = Person("sam", ("compliance",)), Person("tom", ("risk",))


def given(task: HumanTask, who: Person, answer: bytes = b"yes", seen: str = "aa") -> HumanTask:
    refused = human_tasks.unanswerable(task, who, "t")
    assert refused is None, refused
    made = human_tasks.give(task, who, answer, seen, 5, "t")
    assert isinstance(made, HumanTask), made
    return made


@pytest.mark.req("V36")
def test_of_several_groups_everybody_answers_for_one_and_says_the_same() -> None:
    half = given(JOINT, SAM)
    assert human_tasks.awaited_groups(half) == ("risk",) and not human_tasks.is_last(JOINT, "aa")
    assert human_tasks.is_last(half, "aa") and not human_tasks.is_last(half, "bb")
    for who in (SAM, Person("sam", ("risk",)), Person("spare", ("risk",), behind=("sam",)), Person("sue", SAM.groups)):
        assert code(human_tasks.unanswerable(half, who, "t") or half) == "forbidden", who
    keyed = given(JOINT, Person("spare", ("compliance",), behind=("tom",)))
    assert code(human_tasks.unanswerable(keyed, TOM, "t") or half) == "forbidden", "his key has answered"
    assert code(human_tasks.give(half, TOM, b"no", "aa", 6, "t")) == "wrong_state"
    assert human_tasks.awaited_groups(given(half, TOM)) == ()
    assert human_tasks.unclaim(half, SAM, "t") == JOINT


@pytest.mark.req("V36")
def test_an_escalation_lets_others_stand_in_for_a_group_and_not_for_both() -> None:
    raised = human_tasks.climbed(JOINT, human_tasks.Rung(0, "escalate", "board"))
    eve, max = Person("eve", ("board",)), Person("max", ("board",))
    half = given(raised, eve)
    assert code(human_tasks.unanswerable(half, eve, "t") or half) == "forbidden"
    assert human_tasks.awaited_groups(given(half, max)) == ()


@pytest.mark.req("V36")
@pytest.mark.parametrize(("text", "fault"), [
    ("a + b", ""), ("a, b", ""), ("a", ""), ("a +", "no name"), ("+", "no name"), ("a + a", "twice"),
    ("a + b, c", "comma"),
])  # fmt: skip
def test_groups_joined_by_a_plus_are_named_once_and_apart_from_a_list(text: str, fault: str) -> None:
    told = human_tasks.joint_fault(text)
    assert fault in told and bool(fault) == bool(told)

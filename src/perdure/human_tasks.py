"""Human tasks: who may take one, hand it on and answer it, and what happens when nobody does. Pure values and rules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, assert_never

import msgspec
from msgspec.structs import replace

from perdure.durations import DAY, BusinessDays, DurationError, Span, later, parse_business_days, parse_span
from perdure.errors import Rejection
from perdure.moments import iso, parse_date_time

TaskState = Literal["open", "claimed", "completed", "expired", "cancelled"]
RungAct = Literal["remind", "reassign", "escalate"]
ADMINISTRATORS = "administrators"
"""The group whose members may act for others, with a reason that is recorded."""
USER = "user:"
"""Before the name of a person where a group is expected."""
AGENT = "agent:"
"""How the names of agents begin: what one of them proposes is for people to decide."""
SOMEONE = "someone"
MAX_RUNGS = 50
Count = Callable[[BusinessDays, int], int]
"""When so many business days from a moment are over."""
SECOND = 1_000_000


class Rung(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One step of a ladder: what happens once `after` microseconds have gone by since the task opened."""

    after: int
    act: RungAct
    group: str = ""
    user: str = ""

    @property
    def to(self) -> str:
        return f"{USER}{self.user}" if self.user else self.group


class RungRule(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A rung as it is declared: `after` is a text where it counts months or business days, known once a task opens."""

    after: int | str
    act: RungAct
    group: str = ""
    user: str = ""

    def opened(self, now: int) -> Rung:
        after = _length(self.after, now) if isinstance(self.after, str) else self.after
        return Rung(after, self.act, self.group, self.user)


class TaskContract(msgspec.Struct, frozen=True):
    """What is declared about a human task. Texts may be templates: whoever opens the task fills them in first."""

    title: str = ""
    assignee: str = ""
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    due: str = ""
    four_eyes: bool = False
    ladder: tuple[RungRule, ...] = ()
    agents: Literal[True] | msgspec.UnsetType = msgspec.UNSET
    """Whether agents may have it, too. Definitions that do not say so keep the hash they had before one could."""


class Given(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The answer of one person to a task that asks somebody of each of several groups."""

    group: str
    by: str
    answer: bytes
    """The answer by its hash: that of everybody has to be the same."""
    seen: str
    at: int = 0
    behind: tuple[str, ...] = ()


class HumanTask(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A task as it stands. Everything that was declared by a flag or an argument was frozen when it opened."""

    state: TaskState = "open"
    assignee: str = ""
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    claimed_by: str = ""
    opened_at: int = 0
    due: str = ""
    """As declared; `due_at` is the moment it means, 0 when it means none."""
    due_at: int = 0
    requester: str = ""
    """Who asked for what it decides, when four eyes are needed: everyone but them may answer."""
    ladder: tuple[Rung, ...] = ()
    rung: int = 0
    """How many rungs have been climbed."""
    delegated_by: tuple[str, ...] = ()
    answered_by: str = ""
    ended_at: int = 0
    title: str = ""
    base: bytes = b""
    """The payload it opened upon, by its hash: what others change meanwhile is not undone by the answer."""
    behind: tuple[str, ...] = ()
    """Others who asked, when four eyes are needed: who drafted, changed or extended it, and who made their keys."""
    agents: bool = False
    """Whether agents may have it: it says so, or names one of them."""
    given: tuple[Given, ...] = ()
    """The answers so far, where somebody of each of several groups is asked."""

    @property
    def is_open(self) -> bool:
        match self.state:
            case "open" | "claimed":
                return True
            case "completed" | "expired" | "cancelled":
                return False
            case _:
                assert_never(self.state)


class Person(NamedTuple):
    """Who acts. Name and groups are what the surface vouches for; `override` is an administrator's reason."""

    name: str
    groups: tuple[str, ...] = ()
    override: str = ""
    behind: tuple[str, ...] = ()
    """Who made the key they act by."""


Answer = HumanTask | Rejection


def gate_groups(text: str) -> tuple[str, ...]:
    """The groups of a gate: `compliance + risk` asks for somebody of each."""
    return tuple(dict.fromkeys(name for each in text.split("+") if (name := each.strip()))) or (text,)


def gate(groups: tuple[str, ...], title: str = "") -> TaskContract:
    """Somebody of each group has to agree, and not the one who asked."""
    return TaskContract(title=title, groups=groups, four_eyes=True)


def open_task(
    contract: TaskContract, now: int, requester: str = "", base: bytes = b"", behind: tuple[str, ...] = ()
) -> HumanTask:
    """A task nobody has claimed; `requester` asked for the work it belongs to, with those `behind`."""
    return HumanTask(
        assignee=contract.assignee, groups=contract.groups, users=contract.users, opened_at=now, due=contract.due,
        due_at=moment(contract.due, now), requester=requester if contract.four_eyes else "",
        ladder=ladder_from(contract.ladder, now), title=contract.title, base=base,
        behind=behind if contract.four_eyes else (),
        agents=admits_agents(contract.agents is True, contract.assignee, contract.users),
    )  # fmt: skip


def admits_agents(is_said: bool, assignee: str, users: tuple[str, ...]) -> bool:
    """Whether a task is declared for agents, too."""
    return is_said or any(name.startswith(AGENT) for name in (assignee, *users))


# --- what people do ---------------------------------------------------------------------------------------------------


def claim(task: HumanTask, who: Person, key: str) -> Answer:
    """Take it: nobody else can answer it then. Claimed by the same person already, it stays as it is."""
    if task.is_open and task.claimed_by and task.claimed_by == who.name:
        return task
    return _refusal(task, who, "claim", key) or replace(task, state="claimed", claimed_by=who.name)


def unclaim(task: HumanTask, who: Person, key: str) -> Answer:
    """Give it back to everyone it was for, with an answer that waits for others. Given back, it stays as it is."""
    if refused := _over(task, "give back", key) or _pretence(who, "give back", key):
        return refused
    if taken := withdrawn(task, who):
        return without(task, taken)
    if not task.claimed_by:
        return task
    if task.claimed_by != who.name and not who.override:
        return Rejection("blocked", "give back", "task", key, f"'{task.claimed_by}' has claimed it", ASK)
    return replace(task, state="open", claimed_by="")


def delegate(task: HumanTask, who: Person, to: str, key: str) -> Answer:
    """Hand it to another person, who may answer it from now on; who handed it on is remembered."""
    if refused := _refusal(task, who, "delegate", key) or _target(task, to, "", "delegate", key):
        return refused
    return replace(handed(task, to), delegated_by=(*task.delegated_by, who.name))


def reassign(task: HumanTask, who: Person, to: str, groups: tuple[str, ...], key: str) -> Answer:
    """Give it to another person, or to groups instead of those that had it."""
    if refused := _refusal(task, who, "reassign", key) or _target(task, to, ", ".join(groups), "reassign", key):
        return refused
    return handed(task, to, groups)


def answer(task: HumanTask, who: Person, now: int, key: str) -> Answer:
    """The first answer counts; a second one is refused, whichever way it comes."""
    return unanswerable(task, who, key) or ended(task, "completed", now, who.name)


def unanswerable(task: HumanTask, who: Person, key: str) -> Rejection | None:
    """Why somebody cannot answer it; None when they can."""
    is_anyones = not (task.claimed_by or task.requester or task.assignee or task.groups or task.users)
    if is_anyones and task.state == "open" and who.name and not who.override and not who.name.startswith(AGENT):
        return None  # what `_refusal` says too, after more questions
    return _refusal(task, who, "complete", key)


# --- somebody of each of several groups -----------------------------------------------------------------------------
#
# | an answer | becomes |
# |---|---|
# | of somebody of a group that is awaited, while others are awaited too | one half: the task stays open |
# | the same, of the last group | the end of the task |
# | another one than the first | refused; who gave the first may take it back |
# | on other data than the first | the first half anew: what was given before counts no longer |
# | of somebody who has answered, or of a key they made | refused |


def joint_groups(groups: tuple[str, ...]) -> tuple[str, ...]:
    """The groups joined by `+`: somebody of each has to answer. Empty where one answer is enough."""
    return tuple(dict.fromkeys(name for each in groups if "+" in each for name in gate_groups(each)))


def joint_fault(text: str) -> str:
    """What is wrong with groups joined by `+`; empty when nothing is."""
    if "+" not in text:
        return ""
    names = [each.strip() for each in text.split("+")]
    if not all(names):
        return "a group beside + has no name"
    if len({*names}) < len(names):
        return "a group stands there twice"
    return "some groups are joined by + and others by a comma" if "," in text else ""


def awaited_groups(task: HumanTask) -> tuple[str, ...]:
    """Those of the joint groups that nobody has answered for."""
    done = {each.group for each in task.given}
    return tuple(name for name in joint_groups(task.groups) if name not in done)


def other_groups(task: HumanTask) -> tuple[str, ...]:
    """The groups whose members may answer for any: all of them where none are joined, and those it escalated to."""
    return tuple(each for each in task.groups if "+" not in each)


def joint_progress(given: tuple[tuple[str, str], ...], awaited: tuple[str, ...]) -> str:
    """How far several groups have come, in words; empty before anybody of them has answered."""
    if not given:
        return ""
    told = ", ".join(f"{by} answered for {group}" for group, by in given)
    return f"{told}; {' and '.join(f'one of {group}' for group in awaited)} is awaited" if awaited else told


def joint_state(task: HumanTask) -> str:
    """How far the groups of a task have come, in words."""
    return joint_progress(tuple((each.group, each.by) for each in task.given), awaited_groups(task))


def outlived(task: HumanTask, seen: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """What has changed since the answers so far were given."""
    return changed_parts(task.given[0].seen, seen, names) if task.given else ()


def is_last(task: HumanTask, seen: str) -> bool:
    """Whether one more answer ends it, given on what is to be seen now."""
    awaited = awaited_groups(task)
    return not awaited or (len(awaited) == 1 and all(each.seen == seen for each in task.given))


def give(task: HumanTask, who: Person, answer: bytes, seen: str, now: int, key: str) -> Answer:
    """The task with one more answer; a rejection when that differs from those before."""
    other = next((each for each in task.given if each.answer != answer), None)
    if other is not None:
        fact = f"'{other.by}' of {other.group} gave another answer"
        hint = "Agree on one answer; who gave the other takes it back with `perdure tasks unclaim`."
        return Rejection("wrong_state", "complete", "task", key, fact, hint)
    given = Given(place_of(task, who.name, who.groups) or awaited_groups(task)[0], who.name, answer, seen, now)
    return with_given(task, replace(given, behind=who.behind))


def with_given(task: HumanTask, given: Given) -> HumanTask:
    """The task after an answer that others have to confirm: nobody holds it any more."""
    return replace(task, state="open", claimed_by="", given=(*task.given, given))


def without(task: HumanTask, names: tuple[str, ...]) -> HumanTask:
    """The task without the answers of some people."""
    return replace(task, given=tuple(each for each in task.given if each.by not in names))


def withdrawn(task: HumanTask, who: Person) -> tuple[str, ...]:
    """The people whose answers are taken back: one's own; all, by an administrator, once nobody has claimed it."""
    is_all = bool(who.override) and not task.claimed_by
    return tuple(each.by for each in task.given if is_all or each.by == who.name)


def place_of(task: HumanTask, name: str, groups: tuple[str, ...]) -> str:
    """The group that somebody answers for: one of their own that is awaited, else any for whom it escalated to."""
    awaited = awaited_groups(task)
    own = next((each for each in awaited if each in groups), "")
    is_named = name in (task.assignee, *task.users) or any(each in groups for each in other_groups(task))
    return own or (awaited[0] if awaited and is_named else "")


def _gave(task: HumanTask, who: Person) -> Given | None:
    """The answer that somebody, or who stands behind them, has given already."""
    names = {who.name, *who.behind}
    return next((each for each in task.given if not names.isdisjoint((each.by, *each.behind))), None)


# --- what was seen ----------------------------------------------------------------------------------------------------

OF_TASK = ("payload", "process", "documents")
OF_CALL = ("arguments", "proposal", "documents")
OF_GATE = ("plan", "arguments", "documents")
"""The parts of what is seen; that of documents is left out where none are referred to."""
ShownDocuments = Callable[[str, Callable[[], Awaitable[Any]]], Awaitable[bytes]]
"""The hash of the documents of a tenant that data, read when they are wanted, refer to; empty where they do to none."""


def seen_of(*hashes: bytes, documents: bytes = b"") -> str:
    """What somebody sees who looks at a task, by the hashes of its parts."""
    return ".".join(each.hex() for each in (hashes if not documents else (*hashes, documents)))


def unseen_question(key: str) -> Rejection:
    """An answer that does not say to which of several questions: it may be the one before, sent twice."""
    fact = "its agent has asked before, and nothing says which of its questions this answers"
    hint = "Look at it again (`perdure tasks show`), and answer with the `seen` that it shows."
    return Rejection("wrong_state", "complete", "task", key, fact, hint)


def without_documents(seen: str) -> str:
    """What was seen beside documents, for those who cannot read them."""
    return ".".join(seen.split(".")[:2])


def documents_in(seen: str) -> str:
    """The part of what was seen that stands for documents; empty where there were none."""
    return ".".join(seen.split(".")[2:])


def changed_parts(seen: str, now: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of a task that are not what somebody saw; all of them where that cannot be read."""
    before, after = seen.split("."), now.split(".")
    if not len(names) - 1 <= len(before) <= len(names):
        return names[: len(after)]
    pairs = zip_longest(before, after, fillvalue="")
    return tuple(name for name, (one, other) in zip(names, pairs, strict=False) if one != other)


def outdated(seen: str, now: str, names: tuple[str, ...], do: str, thing: str, key: str) -> Rejection | None:
    """Why a decision does not hold for what is there; None when it does, or nothing says what was seen."""
    changed = changed_parts(seen, now, names) if seen else ()
    if not changed:
        return None
    fact = f"it has changed since it was looked at: {', '.join(changed)}"
    return Rejection("wrong_state", do, thing, key, fact, "Look at it again, then decide.")


# --- what time and others do ------------------------------------------------------------------------------------------


def cancel(task: HumanTask, now: int, key: str) -> Answer:
    """What it belonged to was stopped."""
    return _over(task, "cancel", key) or ended(task, "cancelled", now)


def next_rung(task: HumanTask) -> tuple[int, Rung] | None:
    """When the next rung is due, and what it does; None when there is none."""
    if not task.is_open or task.rung >= len(task.ladder):
        return None
    rung = task.ladder[task.rung]
    return task.opened_at + rung.after, rung


def climbed(task: HumanTask, rung: Rung) -> HumanTask:
    """After the next rung: reminded, with others instead, or with a group beside those that had it."""
    task = replace(task, rung=task.rung + 1)
    match rung.act:
        case "remind":
            return task
        case "reassign":
            return handed(task, rung.user, (rung.group,) if rung.group else ())
        case "escalate":
            # Whoever has claimed it has not answered: those it was escalated to must be able to.
            groups, users = _with(task.groups, rung.group), _with(task.users, rung.user)
            return replace(task, state="open", claimed_by="", groups=groups, users=users)


def handed(task: HumanTask, to: str, groups: tuple[str, ...] = ()) -> HumanTask:
    """In other hands, claimed by nobody; without groups those it was for stay as they were."""
    given = () if groups else task.given
    return replace(task, state="open", assignee=to, groups=groups or task.groups, claimed_by="", given=given)


def ended(task: HumanTask, state: Literal["completed", "expired", "cancelled"], now: int, by: str = "") -> HumanTask:
    return replace(task, state=state, answered_by=by, ended_at=now)


def shifted(task: HumanTask, by: int) -> HumanTask:
    """Later by so many microseconds: its ladder, and its due date where that is a duration."""
    due_at = task.due_at + by if task.due_at and task.due.startswith("P") else task.due_at
    return replace(task, opened_at=task.opened_at + by, due_at=due_at)


# --- who may ----------------------------------------------------------------------------------------------------------

ASK = "Ask them, or let an administrator act with a reason."


def is_for(task: HumanTask, name: str, groups: tuple[str, ...] = ()) -> bool:
    """Whether it is in somebody's list: theirs, their group's, or anyone's."""
    if not name or asked(task, name) or is_withheld(task, name):
        return False
    return _gave(task, Person(name)) is None and _has(task, name, groups)


def asked(task: HumanTask, name: str, behind: tuple[str, ...] = ()) -> str:
    """Who of those who asked for it somebody is, or acts for; empty where four eyes are not needed."""
    if not task.requester and not task.behind:
        return ""
    return next((each for each in (name, *behind) if each == task.requester or each in task.behind), "")


def _has(task: HumanTask, name: str, groups: tuple[str, ...]) -> bool:
    """Whether somebody has it: by their claim, else by their name, by a group, or because anyone may."""
    if task.claimed_by:
        return task.claimed_by == name
    if not (task.assignee or task.groups or task.users):
        return True
    if joint_groups(task.groups):
        return bool(place_of(task, name, groups))
    return task.assignee == name or name in task.users or any(group in task.groups for group in groups)


def is_as_strict(before: HumanTask, after: HumanTask) -> bool:
    """Whether nobody may answer a task who could not have answered another, as far as both are declared."""
    if (before.requester or before.behind) and not (after.requester or after.behind):
        return False
    once, now = ({each.assignee, *each.users, *each.groups} - {""} for each in (before, after))
    return not once or (bool(now) and now <= once)


def is_withheld(task: HumanTask, name: str) -> bool:
    """Whether an agent would do what is for people: nothing says otherwise, or an agent asked for the decision."""
    return name.startswith(AGENT) and (not task.agents or task.requester.startswith(AGENT))


def entitled(task: HumanTask) -> Person:
    """Somebody who may answer it, for those who play all parts: proofs and scenarios."""
    named = (task.claimed_by, task.assignee, *task.users, SOMEONE)
    if joint := joint_groups(task.groups):
        return Person(task.claimed_by or f"{SOMEONE} of {(awaited_groups(task) or joint)[0]}", (*task.groups, *joint))
    return Person(next((name for name in named if name and not asked(task, name)), SOMEONE), task.groups)


def _refusal(task: HumanTask, who: Person, do: str, key: str) -> Rejection | None:
    if refused := _over(task, do, key) or _pretence(who, do, key):
        return refused
    if not who.name:
        return Rejection("forbidden", do, "task", key, "nothing says who does", "Name a principal.")
    if same := asked(task, who.name, who.behind):
        fact = f"it needs four eyes and '{same}' is who asked for it"
        if same != who.name:
            fact = f"it needs four eyes: '{same}' asked for it and made the key of '{who.name}'"
        return Rejection("forbidden", do, "task", key, fact, "Somebody else has to look at it.")
    if is_withheld(task, who.name):
        fact = f"'{task.requester}' proposed it and '{who.name}' is an agent as well"
        if not task.requester.startswith(AGENT):
            fact = f"'{who.name}' is an agent and the task does not say that agents may"
        return Rejection("forbidden", do, "task", key, fact, "A person has to decide.")
    if (given := _gave(task, who)) is not None:
        fact = f"'{given.by}' has answered for {given.group}"
        if given.by != who.name:
            fact = f"{fact} and shares a key's maker with '{who.name}'"
        hint = f"It waits for {whom(task)}; `perdure tasks unclaim` takes an own answer back."
        return Rejection("forbidden", do, "task", key, fact, hint)
    if who.override or _has(task, who.name, who.groups):
        return None
    if task.claimed_by:
        return Rejection("blocked", do, "task", key, f"'{task.claimed_by}' has claimed it", ASK)
    fact = f"it is for {whom(task)} and '{who.name}' is not one of them"
    return Rejection("forbidden", do, "task", key, fact, ASK)


def _over(task: HumanTask, do: str, key: str) -> Rejection | None:
    if task.is_open:
        return None
    return over(do, key, task.state, task.answered_by)


def over(do: str, key: str, state: str = "", by: str = "") -> Rejection:
    """The task has ended: as far as that is known, how."""
    how = f"'{by}' has completed it" if by else f"it is {state}" if state else "it is not open (any more)"
    return Rejection("wrong_state", do, "task", key, how, "See `perdure tasks list` for open ones.")


def _pretence(who: Person, do: str, key: str) -> Rejection | None:
    if not who.override or ADMINISTRATORS in who.groups:
        return None
    fact = f"only {ADMINISTRATORS} may act for others and '{who.name}' is none of them"
    return Rejection("forbidden", do, "task", key, fact)


def _target(task: HumanTask, to: str, groups: str, do: str, key: str) -> Rejection | None:
    if not (to or groups):
        return Rejection("invalid", do, "task", key, "nothing says to whom")
    if joint := joint_groups(task.groups):
        fact = f"it asks somebody of each of {', '.join(joint)} and nobody answers for another group"
        return Rejection("forbidden", do, "task", key, fact, "Give it back; others of the group have it then.")
    if asked(task, to):
        return Rejection("forbidden", do, "task", key, f"it needs four eyes and '{to}' is who asked for it")
    if is_withheld(task, to):
        return Rejection("forbidden", do, "task", key, f"'{to}' is an agent and it is for people")
    return None


def whom(task: HumanTask) -> str:
    """Whom it is for, in words."""
    names = [task.assignee, *task.users, *(f"group {group}" for group in other_groups(task))]
    if awaited := awaited_groups(task):
        names.append(" and ".join(f"one of {group}" for group in awaited))
    return ", ".join(dict.fromkeys(name for name in names if name)) or "anyone"


def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if not name or name in names else (*names, name)


# --- as it is written -------------------------------------------------------------------------------------------------


def names_of(text: str) -> tuple[str, ...]:
    """`a, b` as names, each once."""
    return tuple(dict.fromkeys(name for each in text.split(",") if (name := each.strip())))


def moment(text: str, now: int) -> int:
    """When a date, or a duration from now, is due; 0 for what is neither."""
    text = text.strip()
    if due := parse_date_time(text):
        return due
    try:
        return later(now, parse_span(text))
    except DurationError:
        return 0


def _length(text: str, now: int) -> int:
    """Microseconds of a duration that begins now; business days, as far as no calendar is known, are days."""
    asked = parse_business_days(text)
    return asked.days * DAY if asked is not None else moment(text, now) - now


def by_calendar(contract: TaskContract, count: Count, now: int) -> TaskContract:
    """The contract of a task that opens now, its business days counted: `due` is a date, a ladder has lengths."""
    asked = parse_business_days(contract.due)
    due = iso(count(asked, now)) if asked is not None else contract.due
    ladder = tuple(_counted(rule, count, now) for rule in contract.ladder)
    return contract if (due, ladder) == (contract.due, contract.ladder) else replace(contract, due=due, ladder=ladder)


def _counted(rule: RungRule, count: Count, now: int) -> RungRule:
    asked = parse_business_days(rule.after) if isinstance(rule.after, str) else None
    return replace(rule, after=count(asked, now) - now) if asked is not None else rule


def read_rungs(act: RungAct, text: str) -> tuple[list[RungRule], str]:
    """`P1D, P2D` for reminders, `P2D seniors, P4D user:ana` for the rest; and what is wrong with it."""
    found: list[RungRule] = []
    for part in text.split(","):
        after, _, to = part.strip().partition(" ")
        rung, fault = make_rung(after, act, to.strip())
        if rung is None:
            return [], fault
        found.append(rung)
    return found, ""


def make_rung(after: str, act: RungAct, to: str = "") -> tuple[RungRule | None, str]:
    """One rung, or what is wrong with it."""
    try:
        span = Span(1, 0) if parse_business_days(after) is not None else parse_span(after)
    except DurationError as error:
        return None, f"'{after[:40]}' is not a duration: {error.fact}"
    if act == "remind" and to:
        return None, f"a reminder goes to whoever has the task, not to '{to[:40]}'"
    if act != "remind" and not to.removeprefix(USER).strip():
        return None, f"nothing says to whom after {after}"
    is_user = to.startswith(USER)
    name = to.removeprefix(USER).strip()
    return RungRule(after if span.months else span.micros, act, "" if is_user else name, name if is_user else ""), ""


def ladder_of(rules: list[RungRule]) -> tuple[RungRule, ...]:
    """In the order in which they are climbed, as far as that is known before a task opens."""
    return tuple(sorted(rules, key=lambda rule: rule.opened(0).after))


def ladder_from(rules: tuple[RungRule, ...], now: int) -> tuple[Rung, ...]:
    """The ladder of a task that opens now, in the order in which it is climbed."""
    return tuple(sorted((rule.opened(now) for rule in rules), key=lambda rung: rung.after))

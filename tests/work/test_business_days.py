"""Business days: counted by zone, hours, holidays and half days when a wait opens, and never again."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perdure.app.audit.store_audit import verify_store
from perdure.app.configuration.project import load_config
from perdure.business_calendar import BusinessCalendar, Calendars, country_holidays
from perdure.durations import BusinessDays, parse_business_days
from perdure.errors import DefinitionError, StoreSettingError
from perdure.testing.sandbox import Sandbox
from perdure.verbs import load_text
from tests.acceptance.in_process import run_here

pytestmark = pytest.mark.req("V21")
NINE, FIVE = 9 * 60, 17 * 60
LONDON = BusinessCalendar(
    "Europe/London",
    holidays=frozenset({date(2026, 12, 25), date(2026, 12, 28), date(2027, 1, 1)}),
    half_days={date(2026, 12, 24): 12 * 60 + 30, date(2026, 12, 31): 12 * 60 + 30},
)
CALENDARS = Calendars({"london": LONDON, "always": BusinessCalendar(hours=((0, 1440),) * 7)}, "london")
VERBS = """
- name: cp.answer
  description: Wait for the counterparty
  execution: {kind: durable, policy: {timeout: 5 business days, escalation: cp.chase}}
- name: cp.chase
  description: Somebody chases
  execution: {kind: durable}
- name: cp.review
  description: Somebody reviews
  execution:
    kind: durable
    task:
      groups: [seniors]
      due: 2 business days in london
      ladder: [{after: 1 business day, remind: true}, {after: 3 business days, escalate: chiefs}]
- name: cp.due
  description: Say when an answer is due
  input_schema: {properties: {days: {type: integer}, since: {type: string}}}
  execution: {kind: sync, effects: none, handler: "calendar::due", params: {days: 5, flag: orch_due}}
"""


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).astimezone(UTC).timestamp()) * 1_000_000


def shown(moment: int, calendar: BusinessCalendar = LONDON) -> str:
    return calendar.local(moment).strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("begins", "days", "due"),
    [
        ("2026-12-01T10:15:00+00:00", 5, "2026-12-08 10:15"),
        ("2026-12-05T10:15:00+00:00", 1, "2026-12-08 09:00"),  # a Saturday counts from Monday's opening
        ("2026-12-04T17:00:00+00:00", 1, "2026-12-08 09:00"),  # so does closing time on a Friday
        ("2026-12-03T08:00:00+00:00", 1, "2026-12-04 09:00"),  # before opening
        ("2026-12-23T15:00:00+00:00", 1, "2026-12-24 12:30"),  # a half day closes earlier
        ("2026-12-24T13:00:00+00:00", 1, "2026-12-30 09:00"),  # after that closing, over three days off
        ("2026-03-27T10:00:00+00:00", 1, "2026-03-30 10:00"),  # over the change to summer time
        ("2026-10-23T10:00:00+01:00", 1, "2026-10-26 10:00"),  # and back
        ("2026-01-30T10:00:00+00:00", 1, "2026-02-02 10:00"),  # over the end of a month
    ],
)
def test_days_are_counted_by_hours_holidays_and_clocks(begins: str, days: int, due: str) -> None:
    assert shown(LONDON.after(at(begins), days)) == due


MOMENTS = st.integers(at("2025-01-01T00:00:00+00:00"), at("2028-12-31T00:00:00+00:00"))
ZONES = st.sampled_from(["Europe/London", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "UTC"])
HOURS = st.sampled_from([(NINE, FIVE), (8 * 60, 12 * 60), (13 * 60, 1440)])
DATES = st.dates(date(2025, 1, 1), date(2028, 12, 31))


@st.composite
def calendars(draw: Any) -> BusinessCalendar:
    working = draw(st.sets(st.integers(0, 6), min_size=1))
    hours = tuple(draw(HOURS) if day in working else None for day in range(7))
    halves = draw(st.dictionaries(DATES, st.integers(14 * 60, 16 * 60), max_size=5))
    return BusinessCalendar(draw(ZONES), hours, frozenset(draw(st.sets(DATES, max_size=20))), halves)


@given(calendars(), MOMENTS, st.integers(1, 30))
@example(LONDON, at("2026-12-24T12:30:00+00:00"), 1)
def test_what_is_due_is_due_in_working_time_and_one_more_day_is_the_next_working_day(
    calendar: BusinessCalendar, moment: int, days: int
) -> None:
    due = calendar.after(moment, days)
    assert due > moment
    local = calendar.local(due)
    hours = calendar.hours_of(local.date())
    assert hours is not None and hours[0] <= local.hour * 60 + local.minute <= hours[1]
    more = calendar.local(calendar.after(moment, days + 1)).date()
    between = [local.date() + timedelta(days=ahead) for ahead in range(1, (more - local.date()).days)]
    assert more > local.date() and not any(calendar.hours_of(day) for day in between)


@given(calendars(), MOMENTS, st.integers(0, 400 * 3600), st.integers(1, 10))
def test_what_opens_later_is_never_due_earlier(calendar: BusinessCalendar, moment: int, later: int, days: int) -> None:
    assert calendar.after(moment, days) <= calendar.after(moment + later * 1_000_000, days)


def test_texts_name_days_and_perhaps_a_calendar() -> None:
    assert parse_business_days("5 business days") == BusinessDays(5)
    assert parse_business_days(" 1 business day in new-york ") == BusinessDays(1, "new-york")
    assert {parse_business_days(text) for text in ("0 business days", "5 days", "P5D", "5 business days in", "")} == {
        None
    }


async def test_a_wait_is_due_after_business_days_and_escalates_then(store_url: str) -> None:
    async with Sandbox.open(store_url, definitions=load_text(VERBS), calendars=CALENDARS) as sandbox:
        view = await sandbox.call("cp.answer")
        assert view.waiting_for.due_at == "2026-01-08T09:00:00.000000Z"
        await sandbox.advance("P7DT8H")
        assert (await sandbox.status(view.id)).state == "parked"
        await sandbox.advance("PT1H")
        assert (await sandbox.status(view.id)).state == "escalated"
        assert (await verify_store(sandbox, {})).findings == []


async def test_a_task_is_due_and_chased_after_business_days(store_url: str) -> None:
    async with Sandbox.open(store_url, definitions=load_text(VERBS), calendars=CALENDARS) as sandbox:
        view = await sandbox.call("cp.review")
        (task,) = (await sandbox.listing.tasks()).items
        assert task.due_at == "2026-01-05T09:00:00.000000Z"
        await sandbox.advance("P1DT9H1M")
        events = [event.entry async for event in sandbox.events(view.id)]
        assert events.count("TaskChased") == 1
        await sandbox.advance("P4D")
        events = [event.entry async for event in sandbox.events(view.id)]
        assert events.count("TaskChased") == 2


async def test_a_ready_verb_puts_the_date_into_a_flag(store_url: str) -> None:
    async with Sandbox.open(store_url, definitions=load_text(VERBS), calendars=CALENDARS) as sandbox:
        view = await sandbox.call("cp.due", {"since": "2026-12-23T15:00:00Z", "days": 1})
        assert (view.result, view.flags) == (
            {"due": "2026-12-24T12:30:00.000000Z"}, {"orch_due": "2026-12-24T12:30:00.000000Z"}
        )  # fmt: skip


async def test_a_verb_that_counts_by_a_calendar_nobody_declared_is_refused_at_the_start() -> None:
    with pytest.raises(StoreSettingError, match=r"'cp.answer', but it waits '5 business days'.*none is named"):
        async with Sandbox.open(definitions=load_text(VERBS)):
            pass


def test_calendars_are_read_from_the_configuration_and_mistakes_are_told(tmp_path: Path) -> None:
    file = tmp_path / "perdure.yaml"
    file.write_text("""
calendar: london
calendars:
  london:
    zone: Europe/London
    days: [mon, tue, wed, thu, fri]
    hours: 09:00-17:00
    holidays: [2026-12-25, 2026-12-28, 2027-01-01]
    half_days: {2026-12-24: "12:30", 2026-12-31: "12:30"}
  always: {days: [mon, tue, wed, thu, fri, sat, sun], hours: 00:00-24:00}
""")
    read = load_config(file).calendars
    assert read is not None and (read.known, read.default) == (CALENDARS.known, "london")
    wrong = "{zone: Nowhere, hours: 9-5, days: [someday], holidays: [soon], half_days: {2026-01-02: noon}}"
    file.write_text(f"calendar: paris\ncalendars:\n  x: {wrong}\n")
    with pytest.raises(DefinitionError) as caught:
        load_config(file)
    assert {problem.code.rpartition(".")[2] for problem in caught.value.problems} == {
        "zone", "hours", "days", "date", "half_days", "calendar"
    }  # fmt: skip


def test_holidays_of_a_country_come_from_the_package() -> None:
    paris = BusinessCalendar("Europe/Paris", country="FR")
    assert shown(paris.after(at("2026-07-13T10:00:00+02:00"), 1), paris) == "2026-07-15 10:00"
    assert date(2026, 12, 28) in country_holidays("GB", "ENG", 2026)


MODEL = """<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="file" targetNamespace="t">
<bpmn:process id="answered" isExecutable="true">
<bpmn:startEvent id="s" />
<bpmn:serviceTask id="a"><bpmn:extensionElements><zeebe:taskDefinition type="cp.due" /></bpmn:extensionElements>
</bpmn:serviceTask>
<bpmn:intermediateCatchEvent id="c"><bpmn:timerEventDefinition><bpmn:timeDate>=orch_due</bpmn:timeDate>
</bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>
<bpmn:endEvent id="e" />
<bpmn:sequenceFlow id="f1" sourceRef="s" targetRef="a" /><bpmn:sequenceFlow id="f2" sourceRef="a" targetRef="c" />
<bpmn:sequenceFlow id="f3" sourceRef="c" targetRef="e" />
</bpmn:process></bpmn:definitions>"""
CARRIED = """
- name: cp.await
  description: Wait as the model says
  execution:
    kind: durable
    process: answered
    sub_verbs: [cp.due]
    flags: {orch_due: {type: string, format: date-time}}
"""


async def test_a_timer_of_a_process_waits_for_the_date_that_the_verb_set(tmp_path: Path) -> None:
    (tmp_path / "answered.bpmn").write_text(MODEL)
    models = [tmp_path / "answered.bpmn"]
    async with Sandbox.open(definitions=load_text(VERBS + CARRIED), models=models, calendars=CALENDARS) as sandbox:
        view = await sandbox.call("cp.await")
        await sandbox.advance("P7DT8H")
        assert (await sandbox.status(view.id)).state == "parked"
        await sandbox.advance("PT1H")
        assert (await sandbox.status(view.id)).state == "completed"


def test_the_command_shows_the_date(tmp_path: Path) -> None:
    (tmp_path / "perdure.yaml").write_text("calendars:\n  tokyo: {zone: Asia/Tokyo, hours: 09:00-18:00}\n")
    told = run_here(
        ["perdure", "calendar", "2 business days", "--from", "2026-12-23T15:00:00Z", "--json"], tmp_path, {}, ""
    )
    assert json.loads(told.stdout) == {
        "duration": "2 business days", "calendar": "tokyo", "zone": "Asia/Tokyo",
        "from": "2026-12-23T15:00:00.000000Z", "due": "2026-12-28T00:00:00.000000Z",
        "local": "2026-12-28T09:00+09:00",
    }  # fmt: skip
    refused = run_here(["perdure", "calendar", "2 days"], tmp_path, {}, "")
    assert refused.returncode == 2 and "it does not count business days" in refused.stderr

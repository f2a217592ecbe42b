"""Business dates: the built-in handler `calendar::due` says when so many business days are over, for a flag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perdure.business_calendar import Calendars
from perdure.durations import MAX_BUSINESS_DAYS, BusinessDays
from perdure.errors import SchemaViolationError
from perdure.moments import iso, parse_date_time
from perdure.verbs.compiled_verb import Verb
from perdure.verbs.handlers import Result


def business_date(verb: Verb, args: Mapping[str, Any], calendars: Calendars, now: int) -> Result:
    """The date, as data `due` and in the flag that `params.flag` names.

    `days`, `calendar` and `since` come with the call, else from `params`.
    """
    given = {**verb.execution.params, **{name: value for name, value in args.items() if value is not None}}
    days, since, flag = given.get("days"), given.get("since"), verb.execution.params.get("flag")
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MAX_BUSINESS_DAYS:
        raise _refused(verb, "days", f"it needs a whole number of days from 1 to {MAX_BUSINESS_DAYS:,}")
    begins = now if since is None else parse_date_time(str(since))
    if not begins:
        raise _refused(verb, "since", f"'{str(since)[:40]}' is no date and time with offset")
    due = iso(calendars.due(BusinessDays(days, str(given.get("calendar") or "")), begins))
    return Result({"due": due}, flags={str(flag): due} if flag else {})


def _refused(verb: Verb, name: str, fact: str) -> SchemaViolationError:
    violations = [{"path": f"$.{name}", "reason": fact}]
    hint = "Give it with the call or under params."
    return SchemaViolationError("count business days for", "verb", verb.name, fact, hint, violations=violations)

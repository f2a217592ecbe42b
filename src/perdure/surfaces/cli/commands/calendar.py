"""The command that counts business days: calendar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project
from perdure.surfaces.cli.remote_server import only_on_store

if TYPE_CHECKING:
    from perdure.durations import BusinessDays

HINT = "Write '5 business days' or '5 business days in london'."


def calendar(
    settings: Settings,
    duration: Annotated[str, typer.Argument(metavar="DURATION", help="e.g. '5 business days in london'.")],
    since: Annotated[
        str, typer.Option("--from", metavar="TIME", help="A date and time with offset; now without.")
    ] = "",
) -> None:
    """Show when so many business days are over, by a calendar of the project."""
    from perdure.business_calendar import Calendars
    from perdure.moments import iso

    only_on_store(settings, "calendar")
    asked, begins = _asked(duration), _moment(since)
    calendars = load_project(settings).calendars or Calendars()
    name = asked.calendar or calendars.default
    used = calendars.named(asked.calendar)
    due = used.after(begins, asked.days)
    told = {"duration": duration, "calendar": name, "zone": used.zone, "from": iso(begins), "due": iso(due)}
    told["local"] = used.local(due).isoformat(timespec="minutes")
    if settings.json:
        output.line(told)
    else:
        words = used.local(due).strftime("%A %d %B %Y, %H:%M")
        output.plain(f"{words} {used.zone} (calendar {name})\n")


def _asked(text: str) -> BusinessDays:
    from perdure.durations import parse_business_days

    asked = parse_business_days(text)
    if asked is None:
        raise usage("read", "duration", text[:80], "it does not count business days", HINT)
    return asked


def _moment(text: str) -> int:
    from perdure.moments import parse_date_time
    from perdure.sources import SystemSources

    if not text:
        return SystemSources().now()
    moment = parse_date_time(text)
    if not moment:
        fact = f"'{text[:40]}' is no date and time with offset"
        raise usage("read", "option", "--from", fact, "Write for example 2026-12-23T10:00:00Z.")
    return moment


COMMANDS = {"calendar": calendar}

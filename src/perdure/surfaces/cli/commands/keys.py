"""Commands for keys: make one, list them, revoke one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.argument_values import duration
from perdure.surfaces.cli.commands.calls import Reason
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, make_store, open_store
from perdure.surfaces.cli.remote_server import server_of
from perdure.surfaces.cli.time_text import clock

if TYPE_CHECKING:
    from perdure.app.access.api_keys import KeyView, NewKey

WARNING = "Keep it now, where nobody else can read it: it is not shown again."


async def create(
    settings: Settings,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call the key.", show_default=False)],
    stands_for: Annotated[str, typer.Option("--principal", metavar="NAME", help="Whom it stands for.")] = "",
    kind: Annotated[str, typer.Option("--kind", help="person, service or agent.")] = "service",
    roles: Annotated[
        list[str] | None, typer.Option("--role", help="viewer, operator, reviewer, author or admin; several.")
    ] = None,
    verbs: Annotated[
        list[str] | None, typer.Option("--verbs", metavar="PATTERN", help="Only verbs like kyc.*; several.")
    ] = None,
    operations: Annotated[
        list[str] | None, typer.Option("--operation", metavar="NAME", help="Only this operation; several.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="DURATION", help="Good for so long, as P90D.")
    ] = None,
) -> None:
    """Make a key and print it, once; --group names the groups of whom it stands for."""
    if not stands_for:
        raise usage("make", "key", name, "nothing says whom it stands for", "Give --principal NAME.")
    if not roles:
        raise usage("make", "key", name, "it has no role", "Give --role viewer, operator, reviewer, author or admin.")
    span = duration("--expires", expires)
    if not server_of(settings):
        await make_store(load_project(settings).store)
    async with open_store(settings, "reader") as perdure:
        words: dict[str, Any] = {"kind": kind, "roles": roles, "operations": operations or ()}
        if verbs:
            words["verbs"] = verbs
        if span is not None:
            words["expires_at"] = clock().now() + int(span * 1_000_000)
        made = await perdure.access.create_key(name, principal=stands_for, groups=settings.groups, **words)
    _show_new(settings, made)


async def list_keys(settings: Settings) -> None:
    """List keys, oldest first, with those that were revoked or have expired."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.access.keys()
    output.show(settings, found, lambda: _picture(found))


async def revoke(
    settings: Settings,
    id: Annotated[str, typer.Argument(metavar="ID", help="The key's id.", show_default=False)],
    reason: Reason = "",
) -> None:
    """Revoke a key: within a second it opens nothing any more, and sessions it began end."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        view = await perdure.access.revoke_key(id, reason)
    output.show(settings, view, lambda: f"✓ revoked: {view.name} of {view.principal}")


def _show_new(settings: Settings, made: NewKey) -> None:
    if settings.json:
        output.line(made)
        return
    # The key alone goes to stdout, so that a script can take it from there.
    output.plain(f"{made.text}\n")
    typer.echo(f"{WARNING} Its id is {made.id}.", err=True)


def _picture(found: list[KeyView]) -> object:
    from rich.text import Text

    from perdure.surfaces.cli.renderers.call_tables import table
    from perdure.surfaces.cli.time_text import relative

    rows = [
        (
            Text(each.state, "green" if each.state == "good" else "red"), Text(each.name), Text(each.id, style="bold"),
            Text(f"{each.principal} ({each.kind})"), Text(", ".join(each.roles)), Text(_reach(each)),
            Text(relative(each.expires_at) if each.state == "good" else ""),
        )
        for each in found
    ]  # fmt: skip
    columns = ("state", "name", "id", "stands for", "roles", "reaches", "expires")
    return table("Keys", columns, rows, "There are no keys.", lesser=("reaches", "expires"))


def _reach(view: KeyView) -> str:
    return ", ".join([*view.operations, *(each for each in view.verbs if each != "*")]) or "everything they may"


COMMANDS = {"keys": {"create": create, "list": list_keys, "revoke": revoke}}

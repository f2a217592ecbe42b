"""The command that lets agents use the platform over MCP, for a client that starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from perdure.surfaces.cli.commands.worker import log_to_stderr
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import groups_of, load_project, load_verbs, open_store, principal_of
from perdure.surfaces.cli.remote_server import only_on_store

if TYPE_CHECKING:
    from perdure.access.principal import Principal

INSTALL = "Install it with `pip install 'perdure[mcp]'`."
ROLES = ("author", "operator", "reviewer")


async def mcp(
    settings: Settings,
    kind: Annotated[
        Literal["agent", "person"],
        typer.Option("--kind", help="Who is at the other end; only a person can confirm what is grave."),
    ] = "agent",
    role: Annotated[
        list[str] | None,
        typer.Option("--role", metavar="ROLE", help="What it may do; author, operator and reviewer unless said."),
    ] = None,
    verbs: Annotated[
        list[str] | None, typer.Option("--verbs", metavar="PATTERN", help="Only verbs like kyc.*; several.")
    ] = None,
) -> None:
    """Serve agents over MCP on stdin and stdout until stdin ends; logs go to stderr."""
    only_on_store(settings, "mcp")
    log_to_stderr()
    principal = _principal(settings, kind, role or list(ROLES), verbs or ["*"])
    acting = settings._replace(principal=principal.name, groups=principal.groups)
    config = load_project(acting)
    catalogue = load_verbs(config)
    try:
        from perdure.surfaces.mcp.stdio_transport import run_stdio
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise usage("serve", "protocol", "mcp", "the package 'mcp' is not installed", INSTALL) from error
    await run_stdio(open_store(acting, "caller", config, catalogue), principal)


def _principal(settings: Settings, kind: Literal["agent", "person"], roles: list[str], verbs: list[str]) -> Principal:
    from perdure.access.principal import ROLES as KNOWN
    from perdure.access.principal import Principal
    from perdure.human_tasks import AGENT
    from perdure.verbs.verb_patterns import is_pattern

    unknown = [each for each in roles if each not in KNOWN]
    if unknown:
        raise usage("act as", "role", unknown[0], "there is no such role", f"Roles are {', '.join(KNOWN)}.")
    if wrong := [each for each in verbs if not is_pattern(each)]:
        raise usage("reach", "verbs", wrong[0], "that is no pattern of names", "Write 'kyc.open-case' or 'kyc.*'.")
    name = principal_of(settings)
    if kind == "agent" and not name.startswith(AGENT):
        name = AGENT + name  # the journal tells an agent from the person it works for
    if kind == "person" and name.startswith(AGENT):
        raise usage("act as", "person", name, "only names of agents begin so", "Leave out --kind, or name a person.")
    return Principal(
        settings.tenant, name, kind, frozenset(each for each in KNOWN if each in roles), groups_of(settings),
        tuple(verbs),
    )  # fmt: skip


COMMANDS = {"mcp": mcp}

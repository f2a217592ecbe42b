"""Commands about definitions of processes: deploy, list, look at, retire."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from perdure.surfaces.cli import output
from perdure.surfaces.cli.commands.calls import Confirm, Phrase, agreed
from perdure.surfaces.cli.error_output import usage
from perdure.surfaces.cli.global_options import Settings
from perdure.surfaces.cli.project_context import load_project, make_store, open_store
from perdure.surfaces.cli.remote_server import is_remote, server_of
from perdure.surfaces.cli.shell_completion import process_ids

if TYPE_CHECKING:
    pass

ProcessWord = Annotated[
    str,
    typer.Argument(metavar="PROCESS", help="The process's id.", autocompletion=process_ids, show_default=False),
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it stays in the journal.")]


async def deploy(
    settings: Settings,
    models: Annotated[
        list[Path] | None, typer.Argument(metavar="MODEL…", help="BPMN files, or folders of them.", show_default=False)
    ] = None,
    process: Annotated[str, typer.Option("--process", metavar="ID", help="Only this process of the file.")] = "",
    profile: Annotated[
        Literal["hollow", "contract", "open"] | None,
        typer.Option("--profile", help="How strict, else contract for models with a workflowDefinition."),
    ] = None,
    policies: Annotated[
        Path | None, typer.Option("--policies", metavar="FILE", help="Policies, else policies.yaml beside the model.")
    ] = None,
    confirm: Confirm = "",
    phrase: Phrase = "",
    check: Annotated[
        bool, typer.Option("--check", help="Deploy nothing; say what it would mean for everything that runs.")
    ] = False,
    mapping: Annotated[
        list[str] | None, typer.Option("--map", metavar="OLD=NEW", help="With --check: an element by its new id.")
    ] = None,
    states: Annotated[
        int, typer.Option("--states", min=1, help="With --check: give up after so many states.")
    ] = 50_000,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, max=50, help="Or so much processor time for a process.")
    ] = 20,
) -> None:
    """Check models by lint and proof and deploy them, all or none; the same content again is the same version.

    With --check nothing is deployed: it tells for every state in which instances are parked whether they go on, migrate
    with which mapping, or must stay pinned; without a model, under the latest versions. Exits 1 if something must stay
    pinned, 11 if a bound was reached before all was decided.

    A server takes one file at a time, all of it or nothing, and those that others call first. Files that call each
    other in a ring cannot be sent to it one by one: put their processes into one file.
    """
    from perdure.app.processes.contract_binding import profile_of_file
    from perdure.app.processes.project_models import (
        called_first,
        load_model,
        model_files,
        policies_of,
        policies_text,
        read_model_text,
        unreadable,
    )

    if check:
        from perdure.surfaces.cli.deployment_check import check_deployment

        await check_deployment(
            settings, models or [], process=process, profile=profile, policies=policies, mapping=mapping,
            states=states, seconds=seconds,
        )  # fmt: skip
        return
    if not models:
        raise usage("deploy", "models", "", "no model is named", "Name BPMN files or folders; --check needs none.")
    files = model_files(models)
    if not files:
        raise unreadable(models[0], "there is no model in it")
    if not server_of(settings):
        await make_store(load_project(settings).store)
    opened: Any = open_store(settings, "reader")
    async with opened as perdure:
        found: list[Any] = []
        if is_remote(perdure):
            for path in called_first(files):
                text = read_model_text(path)
                own = profile or profile_of_file(path, process)
                said = policies_text(path, policies) if own == "contract" else ""
                act = partial(
                    perdure.processes.deploy_text, text, process=process, profile=own, file=str(path),
                    policies=said,
                )  # fmt: skip
                found += await agreed(settings, perdure, act, confirm, phrase)
        else:
            loaded = [load_model(path) for path in files]
            catalogue = policies_of(policies) if policies is not None else None
            found += await perdure.processes.deploy_all(loaded, process=process, profile=profile, policies=catalogue)
        output.show(settings, found, lambda: output.tables("process_tables").deployments_picture(found))


async def list_processes(settings: Settings) -> None:
    """List deployed processes, each in its latest version."""
    async with open_store(settings, "reader") as perdure:
        found = await perdure.processes.list()
        output.show(settings, found, lambda: output.tables("process_tables").versions_picture("Processes", found))


async def versions(settings: Settings, process: ProcessWord) -> None:
    """List every version of a process."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.processes.versions(process)
        output.show(
            settings, found, lambda: output.tables("process_tables").versions_picture(f"Versions of {process}", found)
        )


async def show(
    settings: Settings,
    process: ProcessWord,
    version: Annotated[int | None, typer.Option("--version", help="A version, else the latest.")] = None,
    xml: Annotated[bool, typer.Option("--xml", help="Print it as a BPMN file.")] = False,
) -> None:
    """Show what a process is made of: its elements, flags, bindings and policies."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.processes.get(process, version)
        if xml:
            output.plain(found.xml)
            return
        output.show(settings, found, lambda: output.tables("process_tables").process_picture(found))


async def contract(
    settings: Settings,
    process: ProcessWord,
    version: Annotated[int | None, typer.Option("--version", help="A version, else the latest.")] = None,
) -> None:
    """Show the contract of a process: work with its policies, waits with their templates, decisions."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.processes.contract(process, version)
        output.show(settings, found, lambda: output.tables("contract_tables").contract_picture(found))


async def plan(
    settings: Settings,
    process: ProcessWord,
    version: Annotated[int | None, typer.Option("--version", help="A version, else the latest.")] = None,
) -> None:
    """Show what one instance may do at most: calls of models, tokens, money, writes and people's tasks."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.processes.worst_case(process, version)
        output.show(settings, found, lambda: output.tables("agent_tables").worst_case_picture(found))


async def retire(
    settings: Settings,
    process: ProcessWord,
    version: Annotated[int, typer.Option("--version", help="Which version.")],
    reason: Reason = "",
) -> None:
    """Let no instance begin under a version any more; those that run go on."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.processes.retire(process, version, reason)
        output.show(
            settings, found, lambda: output.tables("process_tables").versions_picture(f"Versions of {process}", found)
        )


async def deprecate(
    settings: Settings,
    process: ProcessWord,
    version: Annotated[int, typer.Option("--version", help="Which version.")],
    reason: Reason = "",
) -> None:
    """Let instances begin under a version only when it is asked for by its number."""
    async with open_store(settings, "reader", must_exist=True) as perdure:
        found = await perdure.processes.deprecate(process, version, reason)
        output.show(
            settings, found, lambda: output.tables("process_tables").versions_picture(f"Versions of {process}", found)
        )


COMMANDS = {
    "deploy": deploy,
    "processes": {
        "list": list_processes,
        "show": show,
        "contract": contract,
        "plan": plan,
        "versions": versions,
        "retire": retire,
        "deprecate": deprecate,
    },
}

"""The table of commands: their names, modules, panels and first sentences, so that help imports no command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple


class Command(NamedTuple):
    """A command, or a group of commands, as the help of `perdure` lists it."""

    name: str
    module: str
    panel: str
    help: str


def _listed(module: str, panel: str, helps: Mapping[str, str]) -> Iterator[Command]:
    """The commands of a module that stand in one panel, each with its first sentences."""
    return (Command(name, module, panel, help) for name, help in helps.items())


COMMANDS: tuple[Command, ...] = (
    *_listed(
        "commands.project_setup",
        "Project",
        {"init": "Begin a small working project: verbs with handlers, or a workflow with tests. Overwrites nothing."},
    ),
    *_listed(
        "commands.demo",
        "Project",
        {
            "demo": "Tell the story of a case, unattended, in a folder of its own: owners, waits, kill -9, "
            "time, people, proof.",
        },
    ),
    *_listed("commands.verbs", "Project", {"verbs": "List, show, search and check the verbs."}),
    *_listed("commands.packs", "Project", {"packs": "List, show and check the packs: guided journeys over verbs."}),
    *_listed(
        "commands.repl",
        "Work",
        {
            "repl": "Talk your way to a plan: choose a pack or a verb, answer, read it back, run it, come back "
            "to it days later.",
        },
    ),
    *_listed(
        "commands.lint",
        "Project",
        {
            "lint": "Check process models: hollow, correct, true to the contract of their verb, portable. "
            "Exits 1 on errors.",
        },
    ),
    *_listed(
        "commands.scaffold",
        "Project",
        {
            "scaffold": "Write a project for Temporal from a model of the contract profile; your files are never "
            "touched.",
            "verify": "Compare a scaffolded project with its model, its policies and its bodies. Exits 1 when they "
            "disagree.",
            "drop-versions": "Remove earlier workflow versions of a scaffolded project. Histories of them no longer "
            "replay.",
        },
    ),
    *_listed(
        "commands.formatter",
        "Project",
        {"fmt": "Write runbook programs again in their settled layout, comments kept. What is settled is left alone."},
    ),
    *_listed(
        "commands.calendar",
        "Project",
        {"calendar": "Show when so many business days are over, by a calendar of the project."},
    ),
    *_listed(
        "commands.model_proof",
        "Project",
        {
            "prove": "Prove that every way through a process ends well, or show how it does not. Exits 1 if "
            "refuted, 11 if undecided.",
        },
    ),
    *_listed(
        "commands.scenarios",
        "Processes",
        {"scenario": "Test processes: models, stubbed verbs, virtual time, expectations."},
    ),
    *_listed(
        "commands.diagrams",
        "Processes",
        {
            "draw": "Draw a process as SVG, with the diagram of its file or a layout of our own; an instance "
            "with its state on it.",
        },
    ),
    *_listed(
        "commands.model_export",
        "Processes",
        {
            "export": "Write a model in the dialect of another engine. Exits 2 when lint says that engine cannot "
            "carry it.",
        },
    ),
    *_listed(
        "commands.calls",
        "Calls",
        {
            "call": "Call a verb: '(kyc.check-name :name \"Ana\")', or kyc.check-name name=Ana.",
            "calls": "List calls, whatever became of them.",
            "status": "Show a call, or a runbook, as it is now.",
            "events": "Show what happened to a call, oldest first; with --follow, JSON comes as one object per line.",
            "parked": "List what waits, oldest first.",
            "find": "Find calls of a verb by its indexed fields, newest first; all fields must match.",
            "cancel": "Cancel a call. What it already did stays done.",
            "amend": "Propose a correction of a call's data, or approve one that somebody else proposed.",
            "erase": "Erase the data of an ended call. Its history stays and still verifies.",
        },
    ),
    *_listed(
        "commands.runbooks",
        "Runbooks",
        {
            "run": "Run a program: returns when it has ended or waits for somebody. "
            "Exits 1 when it failed or is stuck.",
            "runbook": "Plan runbooks, look at them, and steer them.",
        },
    ),
    *_listed(
        "commands.wait_completions",
        "Calls",
        {
            "complete": "End the wait under a key. Delivered twice, it counts once.",
            "progress": "Say how a wait goes: shown, never resumes anything.",
        },
    ),
    *_listed("commands.wait_completions", "People", {"dead-letters": "Look after what arrived and fits no wait."}),
    *_listed(
        "commands.incidents",
        "People",
        {"incidents": "Look after calls and processes that are stuck and need a person."},
    ),
    *_listed("commands.tasks", "People", {"tasks": "Look after what processes ask of people."}),
    *_listed(
        "commands.processes",
        "Processes",
        {
            "deploy": "Check models by lint and proof and deploy them, all or none; the same content again is "
            "the same version.",
            "processes": "Look after deployed processes and their versions.",
        },
    ),
    *_listed("commands.instances", "Processes", {"instances": "Look after running processes."}),
    *_listed("commands.workflows", "Processes", {"workflows": "Look after workflows in Python and YAML."}),
    *_listed(
        "commands.lifecycles",
        "Lifecycles",
        {"lifecycles": "Look after lifecycles: states, blockers and what opens them."},
    ),
    *_listed(
        "commands.messages",
        "Processes",
        {
            "signal": "Tell everyone who waits for a signal, and begin the processes that start by it.",
            "message": "Send messages to processes that wait for them.",
        },
    ),
    *_listed(
        "commands.worker",
        "Running",
        {"worker": "Work until stopped (Ctrl-C or SIGTERM); then let running attempts end, and give the lease back."},
    ),
    *_listed(
        "commands.server",
        "Running",
        {"serve": "Serve the API and the dashboard, and work, until stopped (Ctrl-C or SIGTERM)."},
    ),
    *_listed(
        "commands.mcp",
        "Running",
        {"mcp": "Serve agents over MCP on stdin and stdout until stdin ends; logs go to stderr."},
    ),
    *_listed(
        "commands.documents",
        "Work",
        {"documents": "Collect documents: hand in, decide, find, read, erase."},
    ),
    *_listed("commands.keys", "Running", {"keys": "Look after the keys that programs and people show to a server."}),
    *_listed("commands.audit", "Running", {"audit": "Prove that nothing was changed, and hand the proof on."}),
    *_listed("commands.budgets", "Running", {"budgets": "Look after what agents may use."}),
    *_listed("commands.agents", "Running", {"agents": "Look after agents and their circuit breakers."}),
    *_listed(
        "commands.engines",
        "Running",
        {
            "engines": "List the engines that carry processes: reachable or not, version, lag, open dispatches, "
            "steps that wait."
        },
    ),
    *_listed("commands.bus", "Running", {"bus": "Look after brokers that task results come from."}),
    *_listed("commands.database", "Running", {"db": "Look after the database: schema, backups."}),
    *_listed(
        "commands.benchmark",
        "Running",
        {
            "bench": "Measure calls and signals per second on this store, everything durable; "
            "what it makes it also ends."
        },
    ),
)

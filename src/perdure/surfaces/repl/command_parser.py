"""Commands in a person's words; they are looked for before anything else is understood."""

from __future__ import annotations

import re
from typing import NamedTuple

STEP = r"(?P<step>(?:step\s+)?@?\d+|step\s+@?[a-z_][\w-]*|@[a-z_][\w-]*)"
TASK = r"(?:\s+(?:task\s+)?#?(?P<task>\d+|[\w-]+:\d+))?"
THING = r"(?P<id>\d+|[0-9a-z]{26})"
VALUE = r"(?:\s*=\s*|\s+to\s+|\s+)(?P<value>.+)"


class Command(NamedTuple):
    """A command and its words."""

    name: str
    words: dict[str, str]

    def get(self, word: str) -> str:
        return self.words.get(word) or ""


class Form(NamedTuple):
    """How a command is said: a pattern, how help shows it and what it does."""

    name: str
    pattern: str
    shown: str
    help: str


FORMS: tuple[Form, ...] = (
    Form("run", r"run|execute|go", "run", "run the plan as it was confirmed"),
    Form("run_step", rf"(?:run|execute)\s+{STEP}", "run STEP", "run that step and what it needs, nothing else"),
    Form("undo", r"undo", "undo", "take the last change back"),
    Form("redo", r"redo", "redo", "make it again"),
    Form("confirm", rf"confirm(?:\s+{STEP})?", "confirm [STEP]", "agree to a step, or to all"),
    Form("drop", rf"(?:drop|remove)\s+{STEP}", "drop STEP", "remove a step"),
    Form("move", rf"(?:move|reorder)\s+{STEP}\s+(?:to\s+)?(?P<to>\d+)", "move STEP to PLACE", "another order"),
    Form("disable", rf"disable\s+{STEP}", "disable STEP", "keep it and leave it out"),
    Form("enable", rf"enable\s+{STEP}", "enable STEP", "take it in again"),
    Form("toggle", rf"toggle\s+{STEP}", "toggle STEP", "the one or the other"),
    Form("edit", rf"(?:edit|set)\s+{STEP}[\s.]+:?(?P<argument>[\w-]+){VALUE}", "edit STEP ARGUMENT VALUE",
         "another value; @step.field takes a result"),
    Form("edit", rf"change\s+(?:the\s+)?(?P<argument>[\w-]+)\s+of\s+{STEP}\s+to\s+(?P<value>.+)", "", ""),
    Form("set", rf"set\s+(?P<field>[a-z_][\w-]*){VALUE}", "set ANSWER VALUE", "another answer, and the plan made anew"),
    Form("clear", r"clear|reset", "clear", "begin again with the same pack"),
    Form("show", r"show(?:\s+(?:the\s+)?(?:runbook|plan))?|info|list|playback", "show", "the plan in sentences"),
    Form("program", r"(?:show\s+)?(?:dsl|program|source)", "program", "the plan as a program"),
    Form("why", r"why(?:\s+(?:is\s+)?(?:step\s+)?@?(?P<what>[\w.-]+))?\s*\??", "why [STEP]",
         "where each value came from"),
    Form("status", r"status|progress", "status", "how far it has come"),
    Form("options", r"options|\?", "options", "what can be said now"),
    Form("readiness", r"readiness|ready\s*\??|check", "readiness", "what is missing before it can run"),
    Form("dry_run", r"dry[\s-]?run|preview", "dry run", "order, parallel steps, writes, tier"),
    Form("packs", r"packs|journeys", "packs", "the journeys there are"),
    Form("switch", r"switch(?:\s+(?:the\s+)?(?:journey|pack))?(?:\s+(?:to\s+)?(?P<pack>[\w-]+))?", "switch PACK",
         "begin another journey"),
    Form("verbs", r"(?:verbs|search)(?:\s+(?P<text>.+))?", "verbs [WORDS]", "look for verbs"),
    Form("handoff", r"hand\s?(?:off|over)(?:\s+(?:to\s+)?(?P<pack>[\w-]+))?", "handoff [PACK]",
         "go on in another pack with what is known"),
    Form("tasks", r"tasks|inbox", "tasks", "what waits for people"),
    Form("claim", rf"claim{TASK}", "claim [TASK]", "take a task"),
    Form("answer", rf"(?:answer|complete){TASK}(?:\s+(?P<data>\{{.*\}}))?", "answer [TASK]",
         "answer a task, field by field or with JSON"),
    Form("approve", rf"approve{TASK}(?:\s+because\s+(?P<reason>.+))?", "approve [TASK]",
         "agree at a gate or in a decision"),
    Form("reject", rf"reject{TASK}(?:\s+because\s+(?P<reason>.+))?", "reject [TASK] because REASON",
         "disagree at a gate or in a decision"),
    Form("events", r"events|history|what\s+happened\??", "events", "what happened to the run, step by step"),
    Form("incidents", r"incidents", "incidents", "what is stuck"),
    Form("impact", r"(?:(?:deploy(?:ment)?\s+)?impact)(?:\s+of\s+(?P<file>\S+))?", "impact [of FILE]",
         "what a deployment means for running work; without a file, that of the latest versions"),
    Form("engines", r"engines", "engines", "what carries processes, and whether it answers"),
    Form("letters", r"(?:dead\s+)?letters", "dead letters", "what arrived and fitted nowhere"),
    Form("lifecycles", r"lifecycles(?:\s+(?:of\s+)?(?P<lifecycle>[\w-]+))?", "lifecycles [NAME]",
         "where clients stand, and what blocks them"),
    Form("lifecycle", rf"lifecycle\s+{THING}", "lifecycle NUMBER", "what one misses, and the calls that bring it"),
    Form("resolve", rf"resolve\s+(?P<key>\S+)\s+of\s+(?:lifecycle\s+)?{THING}", "resolve BLOCKER of NUMBER",
         "make the call that opens a blocker"),
    Form("transit", rf"transit\s+(?:lifecycle\s+)?{THING}\s+to\s+(?P<target>[\w-]+)(?:\s+because\s+(?P<reason>.+))?",
         "transit NUMBER to STATE because REASON", "take a manual transition, or agree to one"),
    Form("documents", r"documents(?:\s+(?P<text>.+))?", "documents [WORDS]", "find documents"),
    Form("document", rf"document\s+{THING}", "document NUMBER", "its versions, and who decided what"),
    Form("verify", rf"verify\s+(?:document\s+)?{THING}\s+version\s+(?P<version>\d{{1,6}})"
         r"(?:\s+because\s+(?P<reason>.+))?",
         "verify NUMBER version N", "take a version of a document as evidence"),
    Form("refuse", rf"reject\s+document\s+{THING}\s+version\s+(?P<version>\d{{1,6}})\s+(?:as|for)\s+(?P<code>\w+)"
         r"(?:\s+because\s+(?P<reason>.+))?", "reject document NUMBER version N as CODE",
         "refuse a version for a coded reason"),
    Form("retry", rf"retry\s+{STEP}", "retry STEP", "try a failed step again"),
    Form("skip", rf"skip\s+{STEP}(?:\s+because\s+(?P<reason>.+))?", "skip STEP because REASON",
         "go on without a failed step"),
    Form("watch", r"watch|follow", "watch", "follow the run until it rests"),
    Form("resume", r"resume(?:\s+(?P<id>\S+))?", "resume [RUNBOOK]", "come back to a runbook"),
    Form("runbooks", r"(?:open\s+)?runbooks", "runbooks", "those one may come back to"),
    Form("new", r"new(?:\s+runbook)?|start\s+over", "new", "leave this runbook as it is and begin another"),
    Form("cancel", r"(?:cancel|abort|never\s?mind)(?:\s+(?:the\s+)?run(?:book)?)?(?:\s+because\s+(?P<reason>.+))?",
         "cancel", "withdraw a question, or stop the run"),
    Form("help", r"help(?:\s+(?P<topic>\S+))?", "help", "this list"),
    Form("quit", r"quit|exit|q|bye", "quit", "leave; everything is kept"),
)  # fmt: skip

_COMPILED = tuple((form.name, re.compile(form.pattern, re.IGNORECASE)) for form in FORMS)
MAX_COMMAND = 4000


def parse_command(text: str) -> Command | None:
    """The command a line is, or None when it is something else."""
    said = text.strip().rstrip(".!")
    if not said or len(said) > MAX_COMMAND:
        return None
    for name, pattern in _COMPILED:
        match = pattern.fullmatch(said) or pattern.fullmatch(text.strip())
        if match is not None:
            words = {key: value.strip() for key, value in match.groupdict().items() if value is not None}
            if "step" in words:
                words["step"] = words["step"].removeprefix("step").lstrip(" @")
            return Command(name, words)
    return None


def is_program(text: str) -> bool:
    """Whether a line is written in the language of runbooks and not in words."""
    said = text.strip()
    return said.startswith(("(", ";;")) or re.match(r"(?:LET\s+\w+\s*=|EXEC\s|IF\s)", said) is not None

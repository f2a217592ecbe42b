"""Bad answers and what is said to each: `python -m tests.surfaces.repl.answers` writes `answers.txt` again."""

from __future__ import annotations

import re
from pathlib import Path

from tests.surfaces.repl.driver import Talk

TABLE = Path(__file__).with_name("answers.txt")
FORM = re.compile(r"^=== (.*?)\n(.*?)^---\n(.*?)(?=^===|\Z)", re.MULTILINE | re.DOTALL)

KYC = ("kyc-case", "Nordlys")
READY = (*KYC, "", "yes")
PARKED = (*READY, "run", "y")
BOOK = ("book-setup", "ALPHA", "", "", "yes")
GRAVE = ('(kyc.approve :case "C-1")', "yes", "run")

CASES: list[tuple[str, tuple[str, ...]]] = [
    ("a word that is no choice of a question", (*KYC, "perodic-reviw")),
    ("a number beyond the choices of a question", (*KYC, "7")),
    ("a required answer left out", ("kyc-case", "")),
    ("a name that several records have, and no choice among them", ("kyc-case", "Allianz", "9")),
    ("a name that several records have, and a word", ("kyc-case", "Allianz", "neither")),
    ("a name that nothing is known by, not confirmed", ("kyc-case", "Nobody Ltd", "perhaps")),
    ("neither yes nor no to the plan", (*KYC, "", "perhaps")),
    ("a choice of another kind for a book", ("book-setup", "ALPHA", "ZWD")),
    ("a step that is not there", (*READY, "edit 9 client Allianz SE")),
    ("an argument that is not there", (*READY, "edit 2 clint Allianz SE")),
    ("a value of another type", (*READY, "edit 2 priority soon")),
    ("a value outside its bounds", (*READY, "edit 2 priority 12")),
    ("a value that is none of the list", (*READY, "edit 2 case-type yearly")),
    ("dropping a step that is not there", (*READY, "drop 9")),
    ("moving a step nowhere", (*READY, "move 2 to 9")),
    ("moving a step before what it needs", (*READY, "move 3 to 1")),
    ("disabling a step that is not there", (*READY, "disable nobody")),
    ("undoing nothing", ("undo",)),
    ("redoing nothing", ("redo",)),
    ("running nothing", ("run",)),
    ("running what was not confirmed", (*KYC, "", "no", "run")),
    ("running a step that is not there", (*READY, "run step 9")),
    ("anything but yes to what must be confirmed", (*READY, "run", "maybe")),
    ("another phrase than the one asked for", (*GRAVE, "yes")),
    ("the phrase in other letters", (*GRAVE, "yes", "Authorise 1 step")),
    ("the third wrong phrase", (*GRAVE, "yes", "Authorise 1 step", "authorise")),
    ("neither yes nor no to a task", (*PARKED, "claim 1", "answer 1", "perhaps")),
    ("a task that is not there", (*PARKED, "answer 9")),
    ("claiming a task that is not there", (*PARKED, "claim 9")),
    ("an answer that is no JSON", (*PARKED, "answer 1 {approved: yes")),
    ("editing what runs", (*PARKED, "edit 2 priority 3")),
    ("a program with an unknown verb", ("EXEC kyc.open-cas(client: \"a\")",)),
    ("a program with a missing argument", ("(kyc.open-case :client \"a\")",)),
    ("a verb that the pack forbids", (*READY, "(admin.delete)")),
    ("a pack that is not there", ("use pack kyc-cases",)),
    ("words that mean nothing here", ("florp the gnarble",)),
    ("a runbook that is not there", ("resume 01h00000000000000000000000",)),
]  # fmt: skip


def said_to(lines: tuple[str, ...]) -> str:
    """What is said to the last line, without the spaces a terminal's width leaves behind."""
    talk = Talk()
    return "\n".join(line.rstrip() for line in talk.tell(*lines).strip("\n").splitlines())


def written() -> str:
    parts = [f"=== {title}\n" + "".join(f"> {line}\n" for line in lines) + f"---\n{said_to(lines)}\n"
             for title, lines in CASES]  # fmt: skip
    return "".join(parts)


if __name__ == "__main__":
    TABLE.write_text(written(), "utf-8")

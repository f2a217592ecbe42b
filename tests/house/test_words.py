"""What the project's texts may not hold: one machine's paths, talk about anything but the product."""

from __future__ import annotations

import re

import pytest

from tests.house.tree import name_of, tracked_files

MACHINE_PATH = re.compile(r"(^|[^A-Za-z0-9_./])/(home|root|tmp|work|farm)/[a-z.]", re.MULTILINE)
OUTSIDE_TALK = re.compile(
    r"\bissues?\s+#?\d|\bpull request\s+#?\d|\bticket\s+#?\d"
    r"|[C]laude|[C]hatGPT|[C]opilot|[A]nthropic|[O]penAI|\bAI[- ]generated|[C]o-[Aa]uthored-[Bb]y"
    r"|shared/(design|seeds|hooks|tools)|source-systems\.md|requirements\.md"
    r"|[p]ythonhosted\.org|[a]rtifactory|/simple/?[\"']"
)
GENERATED = (".lock",)
NOT_TEXT = (".png", ".ico", ".gif", ".db", ".gz", ".zip", ".woff2")


def texts() -> list[tuple[str, str]]:
    wanted = [path for path in tracked_files() if path.suffix not in (*GENERATED, *NOT_TEXT)]
    return [(name_of(path), path.read_text(encoding="utf-8", errors="replace")) for path in wanted]


@pytest.mark.parametrize("pattern", [MACHINE_PATH, OUTSIDE_TALK], ids=["machine-paths", "outside-talk"])
def test_the_project_speaks_of_itself_alone(pattern: re.Pattern[str]) -> None:
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group().strip()}"
        for name, text in texts()
        for match in pattern.finditer(text)
    ]
    assert not found, "\n".join(found)


def test_a_path_of_one_machine_is_recognised() -> None:
    assert MACHINE_PATH.search("see /" + "home/ada/perdure")
    assert MACHINE_PATH.search('"/' + 'tmp/x"')
    assert not MACHINE_PATH.search("/var/" + "tmp/x and a/" + "work/b")

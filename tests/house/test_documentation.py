"""The documentation is true: its code runs, its links lead somewhere, its pages can be reached."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fork_server import Ended, ForkServer, fork_server
from tests.house.documents import blocks, commands, has_code, matches, to_script
from tests.house.tree import ROOT, name_of, tracked_files

PAGES = [path for path in tracked_files() if path.suffix == ".md"]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="session")
def warm_server() -> Iterator[ForkServer]:
    # Wide and plain, so that what is printed does not depend on the terminal.
    plain = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "120"}
    kept = {name: value for name, value in os.environ.items() if name not in ("PERDURE_STORE", "PYTHONPATH")}
    with fork_server({**kept, **plain}) as server:
        yield server


@pytest.mark.req("P9")
@pytest.mark.parametrize("page", [page for page in PAGES if has_code(page.read_text(encoding="utf-8"))], ids=name_of)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, warm_server: ForkServer) -> None:
    done = run_page(page.read_text(encoding="utf-8"), tmp_path, warm_server)
    assert done.exit_code == 0, f"{name_of(page)}:\n{done.output}"


def run_page(text: str, place: Path, server: ForkServer) -> Ended:
    script = place / "page.py"
    script.write_text(to_script(text), encoding="utf-8")
    folder = place / "folder"
    folder.mkdir()
    return server.run("tests.house.documents:main", [str(script)], folder)


@pytest.mark.req("P9")
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    lost = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not lost


@pytest.mark.req("P9")
def test_who_follows_the_steps_of_drawing_has_what_the_rest_of_the_page_speaks_of() -> None:
    page = (ROOT / "docs" / "tutorial" / "first-process.md").read_text(encoding="utf-8")
    steps, _, model = page.partition("```xml file=models/onboard-client.bpmn")
    drawn = re.findall(r'<bpmn:\w+ id="([\w-]+)" name="([^"]+)"', model)
    assert len(drawn) == 9
    assert not [id for id, _ in drawn if f"`{id}`" not in steps]


@pytest.mark.req("P9")
def test_every_page_can_be_reached_from_the_front_page() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page not in seen:
            seen.add(page)
            targets = LINK.findall(page.read_text(encoding="utf-8"))
            waiting += [(page.parent / target).resolve() for target in targets if target.endswith(".md")]
    assert not [name_of(page) for page in PAGES if ROOT / "docs" in page.parents and page not in seen]


PAGE = """
# A page

```python
value = 1
```

```python
# not run
raise SystemExit(3)
```

```yaml file=made/here.yaml
a: 1
```

   ```console
   $ perdure status x   # exits 3
   Expected ... done.
   $ make demo
   ```

```python
from pathlib import Path
assert (value, Path("made/here.yaml").read_text()) == (1, "a: 1\\n")
```
"""


def test_blocks_keep_their_lines_and_skip_what_is_not_run() -> None:
    script = to_script(PAGE).splitlines()
    page = PAGE.splitlines()
    assert script[4] == page[4] == "value = 1"
    assert script[-1] == page[len(script) - 1]
    assert not any("SystemExit" in line for line in script)


def test_a_console_block_gives_commands_with_what_they_promise() -> None:
    console = next(block for block in blocks(PAGE) if block.language == "console")
    assert [tuple(command) for command in commands(console.body)] == [
        (["perdure", "status", "x"], 3, "Expected ... done."),
        (["make", "demo"], 0, ""),
    ]


@pytest.mark.parametrize(("output", "is_match"), [("Expected a\nb done.\n", True), ("Expected a", False)])
def test_output_is_compared_with_gaps(output: str, is_match: bool) -> None:
    assert matches("Expected ... done.", output) is is_match


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("```console\n$ perdure --version\nnothing of the kind\n```\n", "instead of\nnothing of the kind"),
        ("```console\n$ perdure --version  # exits 3\n```\n", "perdure --version exited 0"),
        ("```python\nassert 1 == 2\n```\n", "AssertionError"),
        ("```python\nimport os\nos.kill(os.getpid(), 9)\n```\n", ""),
    ],
    ids=["another output", "another exit code", "wrong code", "killed"],
)
def test_a_page_that_promises_what_is_not_so_is_found_out(
    text: str, said: str, tmp_path: Path, warm_server: ForkServer
) -> None:
    assert has_code(text)
    done = run_page(text, tmp_path, warm_server)
    assert done.exit_code != 0
    assert said in done.output


def test_a_page_whose_blocks_are_only_looked_at_has_no_code() -> None:
    assert not has_code("```yaml file=a.yaml\na: 1\n```\n\n```console\n$$ not a command\n```\n")

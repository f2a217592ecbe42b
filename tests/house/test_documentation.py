"""The documentation is true: its code runs, its links lead somewhere, its pages can be reached."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.documents import blocks, commands, matches, to_script
from tests.house.tree import ROOT, name_of, tracked_files

PAGES = [path for path in tracked_files() if path.suffix == ".md"]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.req("P9")
@pytest.mark.parametrize("page", [page for page in PAGES if to_script(page.read_text(encoding="utf-8"))], ids=name_of)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text(to_script(page.read_text(encoding="utf-8")), encoding="utf-8")
    folder = tmp_path / "folder"
    folder.mkdir()
    # Wide and plain, so that what is printed does not depend on the terminal.
    plain = {"PYTHONPATH": f"{ROOT}{os.pathsep}.", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "120"}
    kept = {name: value for name, value in os.environ.items() if name != "PERDURE_STORE"}
    command = [sys.executable, "-m", "tests.house.documents", str(script)]
    done = subprocess.run(
        command, cwd=folder, env={**kept, **plain}, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, f"{name_of(page)}:\n{done.stdout}{done.stderr}"


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

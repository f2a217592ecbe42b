"""`python -m perdure.demo` tells the story; exits 1 when a step is not as promised."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from perdure.demo.command_runner import BrokenPromise, Stage
from perdure.demo.script import tell


def main() -> int:
    """Run the demonstration in a folder of its own, or let somebody play it."""
    parser = argparse.ArgumentParser(prog="python -m perdure.demo", description=__doc__)
    parser.add_argument("--svg", metavar="FILE", type=Path, help="also write the heart of it as a picture")
    parser.add_argument("--interactive", "-i", action="store_true", help="play it yourself")
    parser.add_argument("--folder", metavar="DIR", type=Path, help="with --interactive: where; kept afterwards")
    options = parser.parse_args()
    if options.interactive:
        from perdure.demo.interactive_demo import play  # noqa: PLC0415  only for who plays

        return play(options.folder)
    with tempfile.TemporaryDirectory(prefix="perdure-demo-") as folder:
        stage = Stage(Path(folder), is_recorded=options.svg is not None)
        try:
            tell(stage)
        except BrokenPromise as broken:
            stage.say(f"✗ {broken}", "bold red")
            return 1
        finally:
            stage.close()
        if options.svg is not None:
            options.svg.write_text(stage.picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.fuzz TARGET --seconds N` fuzzes one parser; `--input FILE` runs one input again.

`python -m tests.fuzz serve` loads what is fuzzed once and forks for every line of words it is sent: loading takes long.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

MEGABYTES = 1024
ONE_INPUT_SECONDS = 10
LONGEST_INPUT = 20_000
SERVE = "serve"


def main(words: list[str]) -> None:
    options = _options(words)
    try:
        import atheris  # noqa: PLC0415
    except ImportError:
        sys.exit("atheris is not installed: uv sync --group fuzz (Linux, Python 3.11 or 3.12)")
    with atheris.instrument_imports(include=["perdure"], enable_loader_override=False):
        target = _target(options.target)
    if options.target == SERVE:
        main(_ordered())
        return
    if options.input is not None:
        target(options.input.read_bytes())
        return
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(_seeds(options.target)):
            (corpus / f"seed-{number}").write_bytes(seed)
        options.found.mkdir(parents=True, exist_ok=True)
        arguments = [
            f"-max_total_time={options.seconds}", f"-timeout={options.timeout}", f"-rss_limit_mb={options.memory}",
            f"-seed={options.seed}", f"-runs={options.runs}",
            f"-max_len={LONGEST_INPUT}", "-len_control=0", "-detect_leaks=0", "-print_final_stats=1",
            f"-artifact_prefix={options.found}/", str(corpus),
        ]  # fmt: skip
        atheris.Setup([sys.argv[0], *arguments], target)
        atheris.Fuzz()


def _ordered() -> list[str]:
    """Forks for each line on stdin and tells the child's exit code; returns in a child, with the words of its line."""
    for line in sys.stdin:
        place, *words = json.loads(line)
        child = os.fork()
        if not child:
            os.dup2(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            os.dup2(2, 1)
            return words
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    sys.exit()


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", help="verbs, overrides, configuration, … (see tests/fuzz/targets.py)")
    parser.add_argument("--seconds", type=int, default=60, help="how long to look")
    parser.add_argument("--seed", type=int, default=0, help="where chance starts; 0 draws one")
    parser.add_argument("--runs", type=int, default=-1, help="stop after this many inputs")
    parser.add_argument("--timeout", type=int, default=ONE_INPUT_SECONDS, help="seconds one input may take")
    parser.add_argument("--memory", type=int, default=MEGABYTES, help="megabytes the process may take")
    parser.add_argument("--found", type=Path, default=Path("build/fuzz"), help="where inputs that break it are kept")
    parser.add_argument("--input", type=Path, help="run this one input and nothing else")
    return parser.parse_args(words)


def _target(name: str) -> Callable[[bytes], None]:
    """The function to fuzz; also those that show the fuzzer itself would notice."""
    from tests.fuzz.broken import BROKEN  # noqa: PLC0415

    if name in BROKEN:
        return BROKEN[name]
    from tests.fuzz.targets import TARGETS  # noqa: PLC0415

    if name == SERVE:
        return lambda data: None
    if name not in TARGETS:
        sys.exit(f"There is no target '{name}'. There are: {', '.join(TARGETS)}.")
    return TARGETS[name]


def _seeds(name: str) -> list[bytes]:
    from tests.fuzz.broken import BROKEN  # noqa: PLC0415

    if name in BROKEN:
        return [b"seed"]
    from tests.fuzz.seeds import SEEDS  # noqa: PLC0415

    return SEEDS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])

"""The command: `python -m bench` measures, prints progress, writes RESULTS.md and results.json."""

from __future__ import annotations

import argparse
import tempfile
from contextlib import chdir
from pathlib import Path

import msgspec

from bench import carriers, harness, report
from bench.load import Store
from bench.results import LISTS, Results, merged
from bench.stores import FreshStores, PostgresDatabases, SqliteFiles
from bench.workloads import FULL, QUICK, WORKLOADS

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Measure what was asked for and write both files."""
    options = _options()
    scale, name = (QUICK, "quick") if options.quick else (FULL, "full")
    if options.rounds:
        scale = msgspec.structs.replace(scale, rounds=options.rounds)
    json, markdown = Path(options.json).resolve(), Path(options.markdown).resolve()
    stores = _stores(options.store)
    try:
        if options.only == "carriers":
            carriers.main(stores, options.rounds or carriers.ROUNDS)
            return
        with tempfile.TemporaryDirectory(prefix="perdure-bench-") as folder, chdir(folder):
            results = harness.measure(harness.Bench(scale, stores, Path(folder)), name, options.only)
    finally:
        for store in stores.values():
            store.close()
    if options.merge and json.exists():
        results = merged(msgspec.json.decode(json.read_bytes(), type=Results), results)
    _write(results, json, markdown)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="one short round: minutes, shows the shape")
    size.add_argument("--full", action="store_true", help="three rounds and a million parked calls (the default)")
    parser.add_argument("--rounds", type=int, metavar="N", help="so many rounds: the noisier the machine, the more")
    names = [workload.name for workload in WORKLOADS]
    parser.add_argument("--only", choices=[*names, *LISTS, "workers", "carriers"], help="one workload")
    parser.add_argument("--merge", action="store_true", help="keep what the files hold of everything else")
    parser.add_argument("--store", choices=["sqlite", "postgres", "both"], default="both")
    parser.add_argument("--json", default=str(HERE / "results.json"), help="where the samples are written")
    parser.add_argument("--markdown", default=str(HERE / "RESULTS.md"), help="where the report is written")
    return parser.parse_args()


def _stores(choice: str) -> dict[Store, FreshStores]:
    stores: dict[Store, FreshStores] = {}
    if choice in ("sqlite", "both"):
        stores["sqlite"] = SqliteFiles()
    if choice in ("postgres", "both"):
        stores["postgres"] = PostgresDatabases()
    return stores


def _write(results: Results, json: Path, markdown: Path) -> None:
    json.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")
    markdown.write_text(report.render(results), encoding="utf-8")


if __name__ == "__main__":
    main()

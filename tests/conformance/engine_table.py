"""The page of engine conformance: made from verdicts of the suite, one row for each group of scenarios.

python -m tests.conformance.engine_table NAME=VERDICTS.json ...

Columns that are not named stay as the page has them: a run of one engine takes minutes.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import msgspec

from perdure.testing.conformance.contract_cases import PROMISES
from tests.house.tree import ROOT
from tests.scenarios.cases import FILES

PAGE = ROOT / "docs" / "reference" / "engine-conformance.md"
CONTRACT = "contract"
OUTCOMES = ("held", "refused", "failed")
HEAD = """# Conformance of engines

One suite is played on every engine: the promises of the engine contract, and all scenarios of the elements. After each
case the store is audited. *passed / refused / failed*: what is refused counts as not carried, and nothing is skipped.

Temporal is played on its test server, whose time is virtual, with workers that keep no workflow in memory. Camunda 8.6
is played on the real broker, whose clock is moved. What Camunda refuses was known before the run: it is what
`perdure lint --target camunda:8.6` and the engine for it say of the models, and the capabilities that the engine
declares to lack.

Made by `python -m tests.conformance.engine_table`; `tests/conformance/test_engine_table.py` compares the groups with
the scenarios there are. A deep run plays the contract and every sixth scenario on Temporal again, and a part of them on
Camunda.

"""
ROW = re.compile(r"^\| ([a-z-]+) \|((?: \d+ / \d+ / \d+ \|)+)$", re.MULTILINE)
NAMES = re.compile(r"^\| group \|(.+)\|$", re.MULTILINE)
REASON = re.compile(r"^\| (?!group |engine |---)([^|]+) \| ([^|]+) \| (refused|failed) \| (.*) \|$", re.MULTILINE)
MAX_WORDS = 200


class Column(msgspec.Struct):
    """What became of the suite on one engine."""

    counts: dict[str, tuple[int, ...]]
    """By group: passed, refused, failed."""
    reasons: list[tuple[str, str, str]]
    """A case, or how many cases; what became of them; why."""


def groups() -> Counter[str]:
    """How many cases there are in each group."""
    found = Counter(path.parent.name for path in FILES)
    found[CONTRACT] = len(PROMISES)
    return found


def group_of(case: str) -> str:
    return case.partition("/")[0] if "/" in case else CONTRACT


def column_of(verdicts: list[tuple[str, str, list[str]]]) -> Column:
    """A column of a run; whatever is not played or not known to hold has failed."""
    counts = {group: [0, 0, 0] for group in groups()}
    refused: Counter[str] = Counter()
    failed = []
    for case, outcome, why in verdicts:
        known = outcome if outcome in OUTCOMES else "failed"
        counts[group_of(case)][OUTCOMES.index(known)] += 1
        if known == "refused":
            refused[", ".join(why)] += 1
        elif known == "failed":
            failed.append((case, known, "; ".join(why)[:MAX_WORDS].replace("|", "/").replace("\n", " ")))
    told = [(f"{count} cases" if count > 1 else "1 case", "refused", why) for why, count in refused.most_common()]
    return Column({group: tuple(each) for group, each in counts.items()}, [*told, *failed])


def columns_of(page: str) -> dict[str, Column]:
    """The columns that a page has."""
    found = NAMES.search(page)
    names = [each.strip() for each in found[1].split("|")] if found else []
    columns = {name: Column({}, []) for name in names}
    for group, cells in ROW.findall(page):
        for name, cell in zip(names, cells.strip(" |").split("|"), strict=True):
            columns[name].counts[group] = tuple(int(each) for each in cell.split("/"))
    for name, case, outcome, why in REASON.findall(page):
        columns[name].reasons.append((case, outcome, why))
    return columns


def page_of(columns: dict[str, Column]) -> str:
    lines = [f"| group | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for group in [CONTRACT, *sorted(set(groups()) - {CONTRACT})]:
        cells = (" / ".join(map(str, each.counts[group])) for each in columns.values())
        lines.append(f"| {group} | {' | '.join(cells)} |")
    lines.append("")
    for name, each in columns.items():
        held, refused, failed = (sum(counts[at] for counts in each.counts.values()) for at in range(3))
        total = held + refused + failed
        share = f"{100 * held / total:.1f} %"
        lines.append(f"- **{name}**: {held} of {total} passed, {share}; {refused} refused, {failed} failed.")
    if any(each.reasons for each in columns.values()):
        lines += ["", "| engine | case | outcome | reason |", "|---|---|---|---|"]
        lines += [
            f"| {name} | {case} | {how} | {why} |" for name, each in columns.items() for case, how, why in each.reasons
        ]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    given = dict(each.split("=", 1) for each in sys.argv[1:])
    made = {name: column_of(json.loads(Path(file).read_text())) for name, file in given.items()}
    PAGE.write_text(page_of(columns_of(PAGE.read_text("utf-8")) | made), "utf-8")

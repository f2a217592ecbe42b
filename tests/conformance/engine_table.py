"""The page of engine conformance: made from verdicts of the suite, one row for each group of scenarios.

python -m tests.conformance.engine_table NAME=VERDICTS.json ...
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from perdure.testing.conformance.contract_cases import PROMISES
from tests.house.tree import ROOT
from tests.scenarios.cases import FILES

PAGE = ROOT / "docs" / "reference" / "engine-conformance.md"
CONTRACT = "contract"
HEAD = """# Conformance of engines

One suite is played on every engine: the promises of the engine contract, and all scenarios of the elements. After each
case the store is audited. *held / all*; a case that fails or that an engine refuses counts as not carried.
Temporal is played on its test server, whose time is virtual, with workers that keep no workflow in memory. Made by
`python -m tests.conformance.engine_table`; `tests/conformance/test_engine_table.py` compares the groups with the
scenarios there are, and a deep run plays the contract and every sixth scenario on Temporal again.

"""


def groups() -> Counter[str]:
    """How many cases there are in each group."""
    found = Counter(path.parent.name for path in FILES)
    found[CONTRACT] = len(PROMISES)
    return found


def group_of(case: str) -> str:
    return case.partition("/")[0] if "/" in case else CONTRACT


def page(verdicts: dict[str, list[tuple[str, str, list[str]]]]) -> str:
    whole = groups()
    held = {
        name: Counter(group_of(case) for case, outcome, _ in each if outcome == "held")
        for name, each in verdicts.items()
    }
    lines = [f"| group | {' | '.join(verdicts)} |", f"|---|{'---|' * len(verdicts)}"]
    for group in [CONTRACT, *sorted(set(whole) - {CONTRACT})]:
        lines.append(f"| {group} | {' | '.join(f'{held[name][group]} / {whole[group]}' for name in verdicts)} |")
    lines.append("")
    total = sum(whole.values())
    for name, each in held.items():
        lines.append(f"- **{name}**: {sum(each.values())} of {total} held, {100 * sum(each.values()) / total:.1f} %.")
    failed = [(name, *each) for name, found in verdicts.items() for each in found if each[1] != "held"]
    if failed:
        lines += ["", "| engine | case | outcome | reason |", "|---|---|---|---|"]
        lines += [
            f"| {name} | {case} | {how} | {'; '.join(why)[:200].replace('|', '/')} |" for name, case, how, why in failed
        ]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    given = dict(each.split("=", 1) for each in sys.argv[1:])
    PAGE.write_text(page({name: json.loads(Path(file).read_text()) for name, file in given.items()}), "utf-8")

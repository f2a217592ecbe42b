"""Types are learned by one thread at a time: what threads read first and at once does not end the program."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.house.tree import ROOT

THREADS = """
import sys, threading
sys.setswitchinterval(1e-6)

def at_once(do):
    meeting, failed = threading.Barrier(8), []
    def run():
        meeting.wait()
        try:
            do()
        except BaseException as error:
            failed.append(error)
    threads = [threading.Thread(target=run) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failed, failed
"""
READING = """
import types, msgspec
from perdure.typed_reading import convert, read_json, read_msgpack

KIND = '''
class S{0}(msgspec.Struct, tag=True):
    a: "S{1} | None" = None
    b: "list[S{2}]" = []
'''

def kind(number):
    module = sys.modules[f"kinds{number}"] = types.ModuleType(f"kinds{number}")
    module.msgspec = msgspec
    exec("".join(KIND.format(i, (i + 1) % 40, (i + 2) % 40) for i in range(40)), module.__dict__)
    return module.S0

read = {
    "json": lambda kind: read_json(b'{"type": "S0", "a": {"type": "S1"}}', kind),
    "msgpack": lambda kind: read_msgpack(msgspec.msgpack.encode({"type": "S0"}), kind),
    "convert": lambda kind: convert({"type": "S0", "a": {"type": "S1"}}, kind),
}[sys.argv[1]]
for number in range(10):
    at_once(lambda new=kind(number): read(new))
"""
HOSTING = """
from tests.engines.temporal.test_hosted_instance import begun

at_once(begun)
"""


def run(program: str, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", THREADS + program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2_000:])


@pytest.mark.parametrize("how", ["json", "msgpack", "convert"])
def test_threads_may_read_a_type_for_the_first_time_at_once(how: str) -> None:
    run(READING, how)


def test_workflows_may_host_their_first_instances_at_once() -> None:
    run(HOSTING)

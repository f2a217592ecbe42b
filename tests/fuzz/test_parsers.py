"""Every parser on bytes of any kind and on damaged inputs, also where the coverage-guided fuzzer is not installed."""

from __future__ import annotations

import base64
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.seeds import SEEDS
from tests.fuzz.targets import TARGETS

EXAMPLES = int(os.environ.get("PERDURE_FUZZ_EXAMPLES", "60"))
FOUND = [
    ("words", b"postgresql://u:p@h:0/d\xcc\xcc\xcc"),
    ("words", b"postgresql://h/%ff"),
    ("words", b"sqlite:////a\0b.db"),
    ("words", b"postgresql://h\0/d"),
    ("configuration", b"store: postgresql://h/%ff\n"),
    ("keys", base64.b64decode(
        "LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0KTUNvd0JRWURLMlp3QXlFQUE2RUh2L1BHRUw0ZGNOMFk1MHZBbVdmazFqQ2JwUTFmSGR5R1pC"
        "SlZNYmc9Ci0tLS0tRU5EIFBVQkxJQyBLRVktLS0tLQo="
    )),
    ("completions", b'{"key":'),
    ("completions", b"[" * 100_000),
    ("exports", b"[" * 100_000),
    ("models", b"<a>" * 100_000),
    ("models", b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
    ("payload", b"[" * 100_000),
    ("states", b"\x91" * 100_000),
    ("records", b"\xdd\xff\xff\xff\xff"),
    ("programs", b'EXEC kyc.open-case(entity: "a", case-type: "\xff")\n'),
    ("programs", b'LET c = EXEC kyc.open-case(entity: "a")\nIF c.case_id == "\xff"\n    EXEC kyc.senior()\nEND\n'),
]  # fmt: skip
"""Inputs that broke a parser once, and the usual suspects."""

_bounded = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize(("target", "data"), FOUND, ids=range(len(FOUND)))
def test_an_input_that_broke_a_parser_once_is_read_or_refused(target: str, data: bytes) -> None:
    TARGETS[target](data)


@pytest.mark.parametrize("target", TARGETS)
@_bounded
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_bytes_are_read_or_refused(target: str, data: bytes) -> None:
    TARGETS[target](data)


@pytest.mark.parametrize("target", TARGETS)
@_bounded
@given(chance=st.data())
def test_a_damaged_input_is_read_or_refused(target: str, chance: st.DataObject) -> None:
    data = chance.draw(st.sampled_from(SEEDS[target]()))
    for _ in range(chance.draw(st.integers(1, 4))):
        place, length = chance.draw(st.integers(0, len(data))), chance.draw(st.integers(0, 12))
        data = data[:place] + chance.draw(st.binary(max_size=6)) + data[place + length :]
    TARGETS[target](data)


def test_every_target_has_seeds_that_it_reads_whole() -> None:
    assert SEEDS.keys() == TARGETS.keys()
    for name, target in TARGETS.items():
        assert SEEDS[name](), name
        for seed in SEEDS[name]():
            target(seed)

"""A signature vouches for an id, a time and a body, and for nothing else."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.channels.webhook_signatures import ID, SIGNATURE, TIME, Signed, secret_bytes, sign, verify
from perdure.sources import SECOND

NOW = 1_700_000_000 * SECOND
SECRET, OTHER = b"0123456789abcdef", b"fedcba9876543210"
BODY = b'{"case_id":"c-1"}'

pytestmark = pytest.mark.req("P3")


def test_what_was_signed_is_read() -> None:
    assert verify([SECRET], sign(SECRET, "m-1", NOW, BODY), BODY, NOW) == Signed("m-1", 1_700_000_000)


def test_the_signature_is_the_one_that_other_implementations_make() -> None:
    secret = secret_bytes("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    assert secret is not None
    headers = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330 * SECOND, b'{"test": 2432232314}')
    assert headers[SIGNATURE] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@given(place=st.integers(0, len(BODY) - 1), change=st.integers(1, 255))
def test_a_body_changed_by_a_byte_is_refused(place: int, change: int) -> None:
    changed = bytearray(BODY)
    changed[place] ^= change
    assert verify([SECRET], sign(SECRET, "m-1", NOW, BODY), bytes(changed), NOW) == "hook.signature"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (ID, "m-2"),
        (ID, ""),
        (ID, "m-1\n"),
        (ID, "x" * 201),
        (TIME, "1700000001"),
        (TIME, "+1700000000"),
        (TIME, "١٧٠٠٠٠٠٠٠٠"),
        (TIME, ""),
        (SIGNATURE, ""),
        (SIGNATURE, "v1,"),
        (SIGNATURE, "v2,AAAA"),
        (SIGNATURE, "v1,é"),
    ],
)
def test_headers_that_are_not_those_signed_are_refused(name: str, value: str) -> None:
    headers = {**sign(SECRET, "m-1", NOW, BODY), name: value}
    assert verify([SECRET], headers, BODY, NOW) == "hook.signature"


@pytest.mark.parametrize("missing", [ID, TIME, SIGNATURE])
def test_a_missing_header_is_refused(missing: str) -> None:
    headers = {name: value for name, value in sign(SECRET, "m-1", NOW, BODY).items() if name != missing}
    assert verify([SECRET], headers, BODY, NOW) == "hook.signature"


def test_another_secret_is_refused() -> None:
    assert verify([OTHER], sign(SECRET, "m-1", NOW, BODY), BODY, NOW) == "hook.signature"


def test_while_a_secret_is_changed_both_are_good() -> None:
    assert isinstance(verify([OTHER, SECRET], sign(SECRET, "m-1", NOW, BODY), BODY, NOW), Signed)
    both = f"{sign(OTHER, 'm-1', NOW, BODY)[SIGNATURE]} {sign(SECRET, 'm-1', NOW, BODY)[SIGNATURE]}"
    assert isinstance(verify([SECRET], {**sign(SECRET, "m-1", NOW, BODY), SIGNATURE: both}, BODY, NOW), Signed)


@pytest.mark.parametrize(("seconds", "is_good"), [(300, True), (-300, True), (301, False), (-301, False)])
def test_a_message_is_good_within_its_window_only(seconds: int, is_good: bool) -> None:
    found = verify([SECRET], sign(SECRET, "m-1", NOW, BODY), BODY, NOW + seconds * SECOND)
    assert isinstance(found, Signed) if is_good else found == "hook.stale"


@pytest.mark.parametrize(
    "text", ["", "short", "whsec_", "whsec_!!!!", "whsec_" + base64.b64encode(b"too short").decode()]
)
def test_a_secret_too_short_to_be_one_is_refused(text: str) -> None:
    assert secret_bytes(text) is None

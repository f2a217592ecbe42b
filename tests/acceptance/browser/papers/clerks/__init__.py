"""What the verbs do: nobody is written to, and no account is closed."""

from perdure import Call, verb


@verb("client.write")
def write(call: Call) -> None:
    """Nobody is written to."""


@verb("client.close-account")
def close_account(call: Call) -> None:
    """No account is closed."""

"""The socket of a server, and how it sends."""

from __future__ import annotations

import asyncio
import socket

import pytest

from perdure.errors import StoreSettingError
from perdure.surfaces.http.response_batching import BatchedWrites, Outbox
from perdure.surfaces.http.server import listening

pytestmark = pytest.mark.req("P2")


class Connected(asyncio.Protocol):
    """Keeps the transport of whoever connected."""

    def __init__(self, found: asyncio.Future[asyncio.BaseTransport]) -> None:
        self._found = found

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._found.set_result(transport)


class Written(asyncio.Transport):
    """Keeps what was sent, as it was sent."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.sent: list[bytes] = []
        self.is_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.is_closed = True


async def turn_over() -> None:
    """Until whatever was put off to the end of this turn of the loop is done."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    loop.call_soon(done.set_result, None)
    await done


async def test_an_answer_is_sent_at_once_and_never_waits_for_the_reader_to_acknowledge_its_head() -> None:
    loop = asyncio.get_running_loop()
    found: asyncio.Future[asyncio.BaseTransport] = loop.create_future()
    with listening("127.0.0.1", 0) as place:
        server = await loop.create_server(lambda: Connected(found), sock=place)
        async with server:
            _, writer = await asyncio.open_connection(*place.getsockname())
            accepted: socket.socket = (await found).get_extra_info("socket")
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            writer.close()
            (await found).close()


async def test_what_is_written_in_one_turn_is_sent_together_and_in_order() -> None:
    transport = Written()
    joined = BatchedWrites(transport, Outbox(asyncio.get_running_loop()))
    joined.write(b"head ")
    joined.write(b"body")
    assert transport.sent == []
    await turn_over()
    joined.write(b"more")
    await turn_over()
    assert transport.sent == [b"head body", b"more"]
    assert joined.get_extra_info("peername") == ("127.0.0.1", 1)


async def test_what_was_written_before_closing_is_sent() -> None:
    transport = Written()
    joined = BatchedWrites(transport, Outbox(asyncio.get_running_loop()))
    joined.write(b"last words")
    joined.close()
    await turn_over()
    assert (transport.sent, transport.is_closed) == ([b"last words"], True)


def test_an_address_where_another_listens_is_refused_with_what_to_do() -> None:
    with (
        listening("127.0.0.1", 0) as place,
        pytest.raises(StoreSettingError, match="address already in use") as refused,
    ):
        listening(*place.getsockname())
    assert "--port" in refused.value.hint

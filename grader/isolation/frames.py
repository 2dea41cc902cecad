"""Frames between the session and the judge: a length and JSON. Both sides are ours."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("<Q")
LARGEST = 1 << 30


class Closed(Exception):
    """The other side is gone."""


def send(sock: socket.socket, value: Any) -> None:
    """Send one value. Raises Closed, or TimeoutError after the socket's own timeout."""
    data = json.dumps(value).encode()
    try:
        sock.sendall(_LENGTH.pack(len(data)) + data)
    except (BrokenPipeError, ConnectionError) as error:
        raise Closed from error


def receive(sock: socket.socket) -> Any:
    """Wait for one value. Raises Closed, or TimeoutError after the socket's own timeout."""
    (length,) = _LENGTH.unpack(_exactly(sock, _LENGTH.size))
    if length > LARGEST:
        raise Closed
    return json.loads(_exactly(sock, length))


def _exactly(sock: socket.socket, count: int) -> bytearray:
    data = bytearray(count)
    view = memoryview(data)
    while view:
        try:
            got = sock.recv_into(view)
        except ConnectionError as error:
            raise Closed from error
        if not got:
            raise Closed
        view = view[got:]
    return data

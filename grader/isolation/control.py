"""Messages between the zygote and the judge: a fixed struct, with descriptors beside it.

Stdlib only: the zygote loads this file by its path, the judge imports it.
"""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

FORK, FORKED, EXITED, WARM, INTERPRET = 1, 2, 3, 4, 5
GROUPS = ("fused-attention", "softmax", "autograd")

_MESSAGE = struct.Struct("<IIqqqqd")


class Message(NamedTuple):
    """FORK: child, memory, files (bytes), groups (bit mask), scratch's number; descriptors:
    channel, output.

    FORKED: child, its pid (0: the system gave no process); descriptor: a pidfd, where there are.
    EXITED: child, wait status, largest resident size in KiB; seconds of processor time.
    WARM: import what torch imports lazily. INTERPRET: import Triton, with its interpreter.
    """

    kind: int
    child: int
    a: int = 0
    b: int = 0
    c: int = 0
    d: int = 0
    seconds: float = 0.0


def send(sock: socket.socket, message: Message, descriptors: tuple[int, ...] = ()) -> None:
    """Send one message whole. Raises OSError when the other side is gone."""
    data = _MESSAGE.pack(*message)
    sent = socket.send_fds(sock, [data], list(descriptors)) if descriptors else sock.send(data)
    if sent < len(data):
        sock.sendall(data[sent:])


def receive(sock: socket.socket) -> tuple[Message, list[int]] | None:
    """Wait for one message; None when the other side is gone."""
    data, descriptors, _, _ = socket.recv_fds(sock, _MESSAGE.size, 2)
    while data and len(data) < _MESSAGE.size:
        more = sock.recv(_MESSAGE.size - len(data))
        if not more:
            return None
        data += more
    return (Message(*_MESSAGE.unpack(data)), list(descriptors)) if data else None


def mask(groups: tuple[str, ...]) -> int:
    """The bit mask of groups of forbidden operations."""
    return sum(1 << GROUPS.index(group) for group in groups)


def groups_of(bits: int) -> list[str]:
    """The groups of a bit mask."""
    return [group for index, group in enumerate(GROUPS) if bits >> index & 1]

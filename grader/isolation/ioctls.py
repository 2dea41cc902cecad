"""What a submission may ask of an open file by `ioctl`, as the beginning of the kernel's program.

An allow-list: each file system and driver has requests of its own, under numbers that nobody has
in one place, and some take disk or change files that are open for reading alone. What Python,
NumPy, torch and Triton's interpreter ask for passes; a few that attack have a name; all others
fail as where a file does not know the request, and who asks so goes another way.

libseccomp compares an argument once in a rule, so it cannot say "none of these".
"""

from __future__ import annotations

import errno
import struct
import sys
import termios
from collections.abc import Iterator

ALLOWED = tuple(
    number
    for name in ("TCGETS", "TIOCGWINSZ", "FIONREAD", "FIONBIO", "FIOCLEX", "FIONCLEX")
    if (number := getattr(termios, name, None)) is not None
)
"""Is it a terminal, of which size; how much can be read; does it wait, is it inherited. As
constants of `termios` they are right on each architecture."""

TOLD = {
    **dict.fromkeys((0x5412, 0x541C), "terminal"),  # TIOCSTI, TIOCLINUX
    # By these the kernel sends a signal to any process of the user when a descriptor is ready.
    **dict.fromkeys((0x8901, 0x8902), "other-process"),  # FIOSETOWN, SIOCSPGRP
    # They need no descriptor that can be written to: FS_IOC_SETFLAGS and SETVERSION, each also as
    # 32-bit programs ask, FSSETXATTR, ENABLE_VERITY, SET_ENCRYPTION_POLICY.
    **dict.fromkeys(
        (0x40086602, 0x40046602, 0x40087602, 0x40047602, 0x401C5820, 0x40806685, 0x800C6613),
        "file-attributes",
    ),
}
"""Requests that are refused by name -> what they try, as in `seccomp.DENIED`. Where an architecture
has other numbers they fail without one."""

COPIES = (0x40049409, 0x4020940D, 0xC0189436)  # FICLONE, FICLONERANGE, FIDEDUPERANGE
"""Python's own copying of files goes on by hand after the error of a file system without them."""

DRIVER_TYPE = ord("F") << 8
"""Of each request to NVIDIA's control and device nodes: _IOWR('F', number, size). No other driver
that a submission can open has this letter."""
UVM_STARTS = (0x30000001, 0x30000002, 2047)  # UVM_INITIALIZE, UVM_DEINITIALIZE, UVM_IS_8_SUPPORTED
UVM_BELOW = 0x100
"""Unified memory's other requests are small numbers without a type. On files of other kinds those
are FIBMAP and FIGETBSZ, which take nothing."""

LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
AND, AT_LEAST = 0x54, 0x35  # BPF_ALU|AND|K, BPF_JMP|JGE|K
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NUMBER_AT, ARCHITECTURE_AT = 0, 4  # in struct seccomp_data
REQUEST_AT = 24 if sys.byteorder == "little" else 28  # the half of it that the kernel looks at
_INSTRUCTION = struct.Struct("=HBBI")  # operation, instructions to skip if it holds, if not; value


def program(architecture: int, number: int, refuse: int, driver: bool = False) -> bytes:
    """Instructions to go before those of a filter, to which other system calls fall through.

    `architecture` is the kernel's word for this machine's, `number` that of `ioctl`, and `refuse`
    what the filter returns where it refuses by name. `driver` lets NVIDIA's requests pass.
    """
    answers = [
        *((request, ALLOW) for request in ALLOWED),
        *((request, ALLOW) for request in UVM_STARTS if driver),
        *((request, refuse) for request in TOLD),
        *((request, ERROR | errno.EOPNOTSUPP) for request in COPIES),
    ]
    body = [(LOAD, 0, 0, REQUEST_AT)]
    for request, answer in answers:
        body += [(EQUAL, 0, 1, request), (RETURN, 0, 0, answer)]
    if driver:
        body += [(AT_LEAST, 1, 0, UVM_BELOW), (RETURN, 0, 0, ALLOW)]
        body += [(AND, 0, 0, 0xFF00), (EQUAL, 0, 1, DRIVER_TYPE), (RETURN, 0, 0, ALLOW)]
    body.append((RETURN, 0, 0, ERROR | errno.ENOTTY))
    head = [
        (LOAD, 0, 0, ARCHITECTURE_AT),
        (EQUAL, 0, len(body) + 2, architecture),
        (LOAD, 0, 0, NUMBER_AT),
        (EQUAL, 0, len(body), number),
    ]
    return b"".join(_INSTRUCTION.pack(*instruction) for instruction in (*head, *body))


def tried(number: int) -> Iterator[tuple[int, str]]:
    """What `TOLD` requests try, by `key`."""
    for request, what in TOLD.items():
        yield key(number, request), what


def key(number: int, request: int) -> int:
    """A system call and what it is asked, as one number."""
    return number | (request & 0xFFFFFFFF) << 32

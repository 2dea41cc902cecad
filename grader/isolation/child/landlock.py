"""Landlock: which files a process may open for the rest of its life, by ctypes.

Sources: linux/landlock.h and the kernel's userspace-api/landlock.rst; ABI 1 (5.13) to 6 (6.12).
Stdlib only: the zygote loads it, and the session asks for the ABI.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
VERSION = 1
PATH_BENEATH = 1
PR_SET_NO_NEW_PRIVS = 38

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = (1 << n for n in range(4))
EVERYTHING = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
"""ABI -> all rights on files that it handles: 2 adds renames across folders, 3 truncation,
5 ioctl on devices."""
BIND_TCP, CONNECT_TCP = 1, 2  # from ABI 4
SCOPES = 3  # abstract unix sockets and signals, from ABI 6

READ = READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | 1 << 14 | 1 << 15  # what a rule on a file may name
DEVICE = READ_FILE | WRITE_FILE | 1 << 14  # emptied on opening, as `open(name, "w")` asks
DRIVE = 1 << 15  # ioctl on a device, from ABI 5
IN_SCRATCH = EVERYTHING[3] & ~(EXECUTE | 1 << 6 | 1 << 11)  # no devices


class LandlockError(OSError):
    """The kernel refused a step."""


def abi() -> int:
    """The version that this kernel has; 0 where it has none."""
    if sys.platform != "linux":
        return 0
    return max(0, int(_syscall(CREATE_RULESET, None, 0, VERSION)))


def restrict(
    readable: Iterable[str],
    devices: Iterable[str],
    scratch: str,
    version: int | None = None,
    driven: Iterable[str] = (),
    programs: Iterable[str] = (),
) -> None:
    """Open for reading what is below `readable`, for both ways `devices`, `scratch` for all; the
    `driven` devices also for what their driver knows; `programs` may be run.

    Everything else is closed, as are TCP, and signals to others, where the kernel can. Paths that
    do not exist are left out. `version`: the ABI to be used, at most the kernel's. For the life of
    the thread and of what it starts. Raises LandlockError.
    """
    version = min(abi(), version or abi())
    handled = EVERYTHING[max(known for known in EVERYTHING if known <= version)]
    network = BIND_TCP | CONNECT_TCP if version >= 4 else 0
    scoped = SCOPES if version >= 6 else 0
    attributes = struct.pack("<QQQ", handled, network, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _done(_syscall(CREATE_RULESET, attributes, size, 0), "create_ruleset")
    try:
        for path in readable:
            _allow(ruleset, path, READ & handled)
        for path in devices:
            _allow(ruleset, path, DEVICE & handled)
        for path in driven:
            _allow(ruleset, path, (DEVICE | DRIVE) & handled)
        for path in programs:
            _allow(ruleset, path, (READ | EXECUTE) & handled)
        _allow(ruleset, scratch, IN_SCRATCH & handled)
        ctypes.CDLL(None).prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0)
        _done(_syscall(RESTRICT_SELF, ruleset, 0, None), "restrict_self")
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not on this machine
        return
    try:
        if not os.path.isdir(path):
            rights &= OF_FILES
        rule = struct.pack("<Qi", rights, target)  # packed: 12 bytes
        _done(_syscall(ADD_RULE, ruleset, PATH_BENEATH, rule), f"add_rule {path}")
    finally:
        os.close(target)


def _syscall(number: int, first: object, second: object, third: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    values = [
        ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.c_void_p(value)  # type: ignore[arg-type]
        for value in (first, second, third)
    ]
    return int(libc.syscall(ctypes.c_long(number), *values, ctypes.c_long(0)))


def _done(result: int, step: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise LandlockError(number, f"landlock {step}: {os.strerror(number)}")
    return result

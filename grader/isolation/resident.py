"""How much memory a process holds, read from outside, where the system itself keeps no limit.

Sources: proc(5); libproc.h and sys/resource.h of macOS.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

FLAVOR = 0  # RUSAGE_INFO_V0
# A UUID; times of user and system, two counts of wake-ups, page-ins; bytes wired, resident and
# charged, the compressed ones included; times of start and exit.
_USAGE = struct.Struct("<16s10Q")
RESIDENT, CHARGED = 7, 8


def resident_bytes(pid: int) -> int:
    """Bytes of memory that `pid` holds; 0 where there is no such process, or nobody tells."""
    return _by_library(pid) if sys.platform == "darwin" else _by_files(pid)


def _by_files(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def _by_library(pid: int) -> int:
    buffer = ctypes.create_string_buffer(_USAGE.size)
    try:
        failed = ctypes.CDLL(None).proc_pid_rusage(pid, FLAVOR, buffer)
    except AttributeError:
        return 0
    if failed:
        return 0
    fields = _USAGE.unpack(buffer.raw)
    return int(max(fields[RESIDENT], fields[CHARGED]))

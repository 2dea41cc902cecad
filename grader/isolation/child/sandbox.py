"""What shuts a submission in: few descriptors, bounded memory and files, a user without powers,
the files that Landlock leaves open, the system calls that the filter lets through.

Calls that only Linux has are left out elsewhere.
"""

from __future__ import annotations

import _thread
import base64
import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

from . import landlock

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
PR_SET_KEEPCAPS, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 8, 36, 38
PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 47, 2
SET_MODE_FILTER, FILTER_NEW_LISTENER = 1, 8  # of seccomp(2)
INSTRUCTION_BYTES = 8
OPEN_FILES = 256
DRIVER_FILES = 1024  # a GPU's driver has some thirty open, and as many again for each further GPU
MOST_FILES = 1 << 20  # to be closed, where the system names no number
WATCHING = 0.5  # seconds between two looks for our parent
SPARE_BYTES = 64 << 20  # above the limit, for the report of a MemoryError
CHANNEL_FD = 3
CAPABILITY_VERSION = 0x20080522
CAP_DAC_READ_SEARCH = 2
OOM_SCORE = "500"  # of 1000: where the machine runs out of memory, this process goes first


def prctl(option: int, value: int) -> None:
    """Linux's prctl; elsewhere, and where the kernel refuses it, nothing happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """End this process when `parent`, which started it, is gone: by the kernel, if it does that."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    if sys.platform != "linux":
        # Not by `threading`, where the submission would find it.
        _thread.start_new_thread(_watch, (parent, os.getppid, time.sleep, os._exit))


def _watch(
    parent: int,
    getppid: Callable[[], int],
    sleep: Callable[[float], None],
    leave: Callable[[int], NoReturn],
) -> None:
    """Look for `parent`, with functions that the submission cannot replace."""
    while getppid() == parent:
        sleep(WATCHING)
    leave(1)


def keep_only(channel: int, output: int) -> None:
    """Standard input is empty, output and error are `output`, 3 is `channel`; the rest is shut."""
    # Both could sit on a number that is about to be overwritten, so move them out of the way.
    channel, output = (fcntl.fcntl(fd, fcntl.F_DUPFD, 64) for fd in (channel, output))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.dup2(channel, CHANNEL_FD)
    highest = max(256, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    os.closerange(CHANNEL_FD + 1, min(highest, MOST_FILES))


def limit(
    memory_bytes: int | None, file_bytes: int, processes: int, files: int = OPEN_FILES
) -> None:
    """Address space, the size of a file, open files, no core dump; no privileges to be gained.

    `processes` bounds those of the user, 0 not at all; nor does None the address space. Also first
    in the line where the whole machine is short of memory.
    """
    if processes:
        resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    bounds = [
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_FSIZE, file_bytes, file_bytes),
        (resource.RLIMIT_NOFILE, files, files),
    ]
    if memory_bytes is not None:
        bounds.append((resource.RLIMIT_AS, memory_bytes, memory_bytes + SPARE_BYTES))
    for what, soft, hard in bounds:
        allowed = resource.getrlimit(what)[1]
        if allowed != resource.RLIM_INFINITY:
            soft, hard = min(soft, allowed), min(hard, allowed)
        resource.setrlimit(what, (soft, hard))
    prctl(PR_SET_DUMPABLE, 1)  # or the next file belongs to root
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(OOM_SCORE)
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def become(uid: int, reads: bool, compiles: bool = False) -> None:
    """As root, be the user `uid`, to whom nothing belongs (0: stay), and keep no power but, where
    `reads`, to read: above all none over our own processes.

    That is for what Landlock leaves open: torch may be installed in a folder that is closed to
    others. Where it `compiles`, the programs that it starts keep it too.
    """
    if sys.platform != "linux":
        return
    if uid:
        prctl(PR_SET_KEEPCAPS, 1)
        with contextlib.suppress(PermissionError):  # in a container root may lack the power
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
    libc = ctypes.CDLL(None)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    held = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice 32 bits
    if libc.capget(header, held) == 0:
        kept = held[1] & (1 << CAP_DAC_READ_SEARCH) if reads else 0
        passed_on = kept if compiles else 0
        libc.capset(header, (ctypes.c_uint32 * 6)(kept, kept, passed_on, 0, 0, 0))
        if passed_on:
            raised = (ctypes.c_ulong(n) for n in (PR_CAP_AMBIENT_RAISE, CAP_DAC_READ_SEARCH, 0, 0))
            libc.prctl(PR_CAP_AMBIENT, *raised)


def close_files(policy: dict[str, Any], scratch: str) -> None:
    """Leave open what the policy names, and the scratch folder. Raises OSError."""
    if policy["landlock"]:
        landlock.restrict(
            policy["readable"],
            policy["devices"],
            scratch,
            policy["landlock"],
            policy["driven"],
            policy["programs"],
        )


def filter_calls(policy: dict[str, Any]) -> int | None:
    """Load the filter; a descriptor by which the judge answers, if it listens. Raises OSError.

    The last step: afterwards this process can do no more than a submission.
    """
    code = base64.b64decode(policy["program"])
    if not code:
        return None
    program = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    described = Program(len(code) // INSTRUCTION_BYTES, ctypes.addressof(program))
    flags = FILTER_NEW_LISTENER if policy["listens"] else 0
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(
        ctypes.c_long(policy["load_call"]),
        ctypes.c_uint(SET_MODE_FILTER),
        ctypes.c_uint(flags),
        ctypes.byref(described),
    )
    if result < 0:
        raise OSError(ctypes.get_errno(), "the seccomp filter cannot be loaded")
    return int(result) if policy["listens"] else None


def use_spare_memory() -> None:
    """After a MemoryError: room to report it."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    with contextlib.suppress(ValueError):  # macOS refuses what is less than it has mapped
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def enter_scratch(path: str, uid: int) -> None:
    """An own empty folder to work in, also for libraries that ask for HOME or TMPDIR.

    For the user's name glibc would ask a daemon over a socket, which would be denied, and told.
    """
    os.mkdir(path, 0o700)
    if uid:
        os.chown(path, uid, uid)
    os.chdir(path)
    os.environ.update(HOME=path, TMPDIR=path, USER="drill")

"""The judge's answers to the system calls that a submission may not make.

The kernel stops the submission and asks here, so what was tried is known from outside; the
numbers are the kernel's own (linux/seccomp.h, seccomp_unotify(2)).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
from collections.abc import Mapping

from grader.isolation import ioctls, seccomp
from grader.isolation.usage import threads

RECEIVE, SEND = 0xC0502100, 0xC0182101
CONTINUE = 1
_ASKED = struct.Struct("<QIIiIQ6Q")  # id, pid, flags, number, architecture, address, arguments
_ANSWER = struct.Struct("<QqiI")  # id, value, error, flags


class Listener:
    """Of one submission, which may have so many `threads`. `tried` says what each system call by
    its number tries, and what some requests of `ioctl` by their `ioctls.key`. `processes`: whether
    it may start some, as compilers do."""

    def __init__(
        self,
        descriptor: int,
        pid: int,
        tried: Mapping[int, str],
        threads: int,
        processes: bool = False,
    ) -> None:
        self.descriptor = descriptor
        self.pid = pid
        self.tried = tried
        self.threads = threads
        self.processes = processes

    def answer(self) -> str | None:
        """Answer one call that waits; what it tried, None where it may go on, or for want of room
        may not, or has gone."""
        asked = bytearray(_ASKED.size)
        try:
            fcntl.ioctl(self.descriptor, RECEIVE, asked)
        except OSError:  # its thread was killed meanwhile
            return None
        id_, _, _, number, _, _, *arguments = _ASKED.unpack(asked)
        by_request = self.tried.get(ioctls.key(number, arguments[1]))
        what = by_request or self.tried.get(number, "system")
        error = errno.EPERM
        if what == "signal" and self._is_own(arguments[0]):
            error = 0
        elif what == seccomp.THREAD:
            # The flags are in a register, which no other thread can change meanwhile.
            what = "" if self.processes or arguments[0] & seccomp.CLONE_THREAD else "process"
            if not what:
                # As beyond RLIMIT_NPROC, which counts all of a user, and so not where it is ours.
                error = 0 if threads(self.pid) < self.threads else errno.EAGAIN
        answer = _ANSWER.pack(id_, 0, -error, 0 if error else CONTINUE)
        with contextlib.suppress(OSError):
            fcntl.ioctl(self.descriptor, SEND, bytearray(answer))
        return what if error == errno.EPERM else None

    def _is_own(self, target: int) -> bool:
        """Whether a signal to `target` stays in the process: abort() is a signal to oneself."""
        signed = target & 0xFFFFFFFF
        return signed in (0, self.pid, 2**32 - self.pid)

    def close(self) -> None:
        """The calls that still wait fail."""
        os.close(self.descriptor)

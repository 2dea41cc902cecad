"""The system calls that a submission may not make, as a program that the kernel runs.

Most are handed to the judge, which refuses them and knows from outside what was tried
(`grader.isolation.denials`); where the kernel cannot do that they fail at once, unnamed.
`clone3` answers "not implemented", so that the C library falls back to `clone`, whose flags can be
seen: threads pass, as many as the judge lets a process have, and processes do not.
"""

from __future__ import annotations

import errno
import socket
import tempfile
from dataclasses import dataclass
from typing import Any

from grader.isolation import ioctls

DENIED: dict[str, tuple[str, ...]] = {
    "network": ("socket", "connect", "bind", "listen", "accept", "accept4"),
    "program": ("execve", "execveat"),
    "process": ("fork", "vfork"),
    "signal": ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"),
    "other-process": (
        "ptrace",
        "process_vm_readv",
        "process_vm_writev",
        "process_madvise",
        "process_mrelease",
        "pidfd_open",
        "pidfd_getfd",
        "pidfd_send_signal",
        "kcmp",
        "setpgid",
        "setpriority",
        "ioprio_set",
        "sched_setaffinity",
        "sched_setattr",
        "sched_setparam",
        "sched_setscheduler",
    ),
    "file-attributes": (
        "truncate",
        "truncate64",
        "chmod",
        "fchmod",
        "fchmodat",
        "fchmodat2",
        "chown",
        "chown32",
        "fchown",
        "fchown32",
        "fchownat",
        "lchown",
        "lchown32",
        "utime",
        "utimes",
        "utimensat",
        "utimensat_time64",
        "futimesat",
        "setxattr",
        "setxattrat",
        "lsetxattr",
        "fsetxattr",
        "removexattr",
        "removexattrat",
        "lremovexattr",
        "fremovexattr",
        "mknod",
        "mknodat",
        "file_setattr",
    ),
    "watch": ("inotify_init", "inotify_init1", "inotify_add_watch"),
    "shared-memory": (
        "memfd_create",
        "memfd_secret",
        "shmget",
        "shmat",
        "shmctl",
        "semget",
        "semop",
        "semtimedop",
        "semctl",
        "msgget",
        "msgsnd",
        "msgrcv",
        "msgctl",
        "mq_open",
        "mq_unlink",
    ),
    "system": (
        "unshare",
        "setns",
        "mount",
        "mount_setattr",
        "move_mount",
        "open_tree",
        "open_tree_attr",
        "fsopen",
        "fsconfig",
        "fsmount",
        "fspick",
        "umount",
        "umount2",
        "pivot_root",
        "chroot",
        "open_by_handle_at",
        "name_to_handle_at",
        "io_uring_setup",
        "io_uring_enter",
        "io_uring_register",
        "bpf",
        "perf_event_open",
        "userfaultfd",
        "fanotify_init",
        "keyctl",
        "add_key",
        "request_key",
        "personality",
        "setuid",
        "setuid32",
        "setgid",
        "setgid32",
        "setreuid",
        "setregid",
        "setresuid",
        "setresgid",
        "setgroups",
        "setfsuid",
        "setfsgid",
        "capset",
        "seccomp",
        "vhangup",
        "acct",
        "quotactl",
        "quotactl_fd",
        "swapon",
        "swapoff",
        "reboot",
        "kexec_load",
        "kexec_file_load",
        "init_module",
        "finit_module",
        "delete_module",
        "iopl",
        "ioperm",
        "modify_ldt",
        "lookup_dcookie",
        "syslog",
        "settimeofday",
        "clock_settime",
        "clock_settime64",
        "clock_adjtime",
        "adjtimex",
        "sethostname",
        "setdomainname",
    ),
}
"""What was tried -> the system calls that try it. Names that a system does not have are skipped."""

CLONE_THREAD = 0x00010000
THREAD = "thread"  # what `clone` tries, where a listener looks at its flags and counts
PR_SET_PDEATHSIG = 1
# By these the kernel sends a signal to any process of the user when a descriptor is ready.
SIGNALLED = (8, 10, 15)  # F_SETOWN, F_SETSIG, F_SETOWN_EX
LEASED = (1024, 1040)  # F_SETLEASE, F_SETDELEG: they hold up whoever opens the file next
DATAGRAMS = (2, 3)  # kinds of a pair that can be sent to any address, without `connect`
NOTIFY_API = 5  # of libseccomp

DRIVER_NEEDS = frozenset({"memfd_create", "socket", "bind", "listen"})
"""Refused one of these, NVIDIA's driver does not start: it makes a socket by which other processes
could get its memory, and nobody can, for `connect` and `accept` stay shut."""
DRIVER_TRIES = ("connect",)
"""Its libraries look for a daemon of the system's over a local socket and go on without one: that
is refused as where there is none, and nobody is told that the submission had tried it."""
SEQPACKET = 5  # the kind of that socket
COMPILING_NEEDS = frozenset({"execve", "fork", "vfork", "setpgid", "chmod", "fchmod", "fchmodat"})
"""Ninja groups what it starts, a linker marks what it made. Who compiles owns no other files."""


class Unavailable(Exception):
    """Why there is no filter: one sentence without a full stop."""


@dataclass(frozen=True)
class Filter:
    """`code` is the program, loaded by the system call `load_call`; `tried` says what each number
    that it denies tries, and each `ioctls.key`; `listens`: whether it asks a listener."""

    code: bytes
    load_call: int
    tried: dict[int, str]
    listens: bool


def _low(library: Any, argument: int, value: int, mask: int = 0xFFFFFFFF) -> Any:
    """A condition on the bits that the kernel looks at: it ignores those above."""
    return library.Arg(argument, library.MASKED_EQ, mask, value)


def program(driver: bool = False, compiling: bool = False) -> Filter:
    """The filter for this machine. Raises Unavailable.

    `driver` lets through what NVIDIA's needs, `compiling` what starts programs.
    """
    try:
        import pyseccomp
    except (ImportError, RuntimeError, OSError):
        raise Unavailable("libseccomp2 or pyseccomp is not installed") from None
    listens = hasattr(pyseccomp, "get_api") and pyseccomp.get_api() >= NOTIFY_API
    refuse = pyseccomp.NOTIFY if listens else pyseccomp.ERRNO(errno.EPERM)
    processes = () if listens else (pyseccomp.Arg(0, pyseccomp.MASKED_EQ, CLONE_THREAD, 0),)
    absent = pyseccomp.ERRNO(errno.ECONNREFUSED)
    open_here = (DRIVER_NEEDS if driver else frozenset()) | (
        COMPILING_NEEDS if compiling else frozenset()
    )
    conditional = (
        ("prlimit64", "other-process", pyseccomp.Arg(0, pyseccomp.NE, 0)),
        ("prctl", "system", _low(pyseccomp, 0, PR_SET_PDEATHSIG)),
        *(("fcntl", "other-process", _low(pyseccomp, 1, command)) for command in SIGNALLED),
        *(("fcntl", "other-process", _low(pyseccomp, 1, command)) for command in LEASED),
        *(("socketpair", "network", _low(pyseccomp, 1, kind, 0xF)) for kind in DATAGRAMS),
    )
    local = int(socket.AF_UNIX)
    if driver:
        conditional += (("socket", "network", pyseccomp.Arg(0, pyseccomp.NE, local)),)
    tried: dict[int, str] = {}

    def deny(name: str, what: str, *condition: object) -> None:
        number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)
        if number >= 0:
            rules.add_rule(refuse, number, *condition)
            tried[number] = what

    try:
        rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
        for what, names in DENIED.items():
            for name in names:
                if driver and name in DRIVER_TRIES:
                    rules.add_rule(absent, pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name))
                elif name not in open_here:
                    deny(name, what)
        if listens or not compiling:
            deny("clone", THREAD if listens else "process", *processes)
        for name, what, condition in conditional:
            deny(name, what, condition)
        for kind in set(range(16)) - {SEQPACKET} if driver else ():
            here = pyseccomp.Arg(0, pyseccomp.EQ, local)
            number = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, "socket")
            rules.add_rule(absent, number, here, _low(pyseccomp, 1, kind, 0xF))
        rules.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
        # In tier 2 nothing bounds a folder but looks at it: no disk is to be had faster than by
        # writing. The C library then writes.
        rules.add_rule(pyseccomp.ERRNO(errno.EOPNOTSUPP), "fallocate")
        load_call = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, "seccomp")
        with tempfile.TemporaryFile() as file:
            rules.export_bpf(file)
            file.seek(0)
            code = file.read()
    except OSError as error:
        raise Unavailable(f"libseccomp cannot write the filter ({error})") from None
    ioctl = pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, "ioctl")
    tried |= dict(ioctls.tried(ioctl))
    first = ioctls.program(pyseccomp.system_arch(), ioctl, refuse, driver)
    return Filter(first + code, load_call, tried, listens)

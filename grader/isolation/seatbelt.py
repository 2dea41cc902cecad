"""macOS's own sandbox, by `sandbox-exec`: around each submission, from before its Python starts.

All is denied but what a profile names. Its language is documented by Apple's own profiles
(/System/Library/Sandbox/Profiles) and sandbox-exec(1) alone; this has never run on macOS.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence

PROBE_SECONDS = 60.0  # the first import of torch after a start of the machine
TRIAL = "import sys; sys.path.extend(sys.argv[1:]); import torch"
NULL = "/dev/null"
DEVICES = ("/dev/zero", "/dev/random", "/dev/urandom")
# What Python and torch ask of the system: the processors, its name and its limits.
SYSTEM_FACTS = ("hw.", "machdep.cpu.", "kern.os", "kern.max", "kern.argmax", "kern.ngroups")
OTHER_FACTS = ("kern.version", "kern.hostname", "kern.usrstack64", "sysctl.proc_cputype")
# The names of users; without it getpwuid knows none.
SERVICE = "com.apple.system.opendirectoryd.libinfo"
# OpenMP looks for a second copy of itself by shared memory of this name, and aborts without.
OPENMP = "/__KMP_REGISTERED_LIB_"


class Unavailable(Exception):
    """Why there is no such sandbox: one sentence without a full stop."""


def find() -> str:
    """The program. Raises Unavailable."""
    found = shutil.which("sandbox-exec")
    if found is None:
        raise Unavailable("sandbox-exec is not installed")
    return found


def profile(readable: Iterable[str], programs: Iterable[str]) -> str:
    """The rules for a process that may read what is below `readable`, start as one of `programs`,
    and write in the folder that the parameter SCRATCH names.

    All are real paths. A later rule goes before an earlier one. Raises Unavailable for a path that
    no rule can name.
    """
    folders = [f"(subpath {quoted(path)})" for path in readable]
    started = [f"(literal {quoted(path)})" for path in programs]
    scratch = '(subpath (param "SCRATCH"))'
    devices = [f"(literal {quoted(path)})" for path in (NULL, *DEVICES)]
    facts = [f"(sysctl-name-prefix {quoted(name)})" for name in SYSTEM_FACTS]
    facts += [f"(sysctl-name {quoted(name)})" for name in OTHER_FACTS]
    rules = [
        "(version 1)",
        "(deny default)",
        _rule("allow process-exec", started),
        # Of every file, so that a path can be followed; the loader lists the root itself.
        "(allow file-read-metadata)",
        _rule("allow file-read*", ['(literal "/")', *started, *devices, *folders, scratch]),
        _rule("allow file-map-executable", [*started, *folders]),
        _rule("allow file-write*", [scratch]),
        _rule("allow file-write-data", [devices[0]]),
        _rule("allow sysctl-read", facts),
        _rule("allow mach-lookup", [f"(global-name {quoted(SERVICE)})"]),
        _rule("allow ipc-posix-shm", [f"(ipc-posix-name-prefix {quoted(OPENMP)})"]),
        "(allow signal process-info* (target self))",
        "(deny network*)",
        "(deny process-fork)",
    ]
    return "\n".join(rules) + "\n"


def quoted(text: str) -> str:
    """A string of the profile's language. Raises Unavailable where it has none for `text`."""
    if not text.isprintable():
        raise Unavailable(f"no sandbox rule can name the path {text!r}")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _rule(what: str, filters: Sequence[str]) -> str:
    """One filter a line. Never without any: such a rule would hold for everything."""
    if not filters:
        raise ValueError(f"`{what}` would hold for everything")
    return "\n    ".join([f"({what}", *filters]) + ")"


def command(program: str, rules: str) -> list[str]:
    """What to put before a command line, once the real path of the folder to write in is appended
    to the last part."""
    return [program, "-p", rules, "-D", "SCRATCH="]


def check(program: str, rules: str, python: str, folders: Sequence[str]) -> None:
    """Try the profile on a Python that imports torch from `folders`. Raises Unavailable."""
    line = command(program, rules)
    line[-1] += "/nonexistent"
    try:
        ran = subprocess.run(
            [*line, python, "-I", "-S", "-B", "-c", TRIAL, *folders],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
            env={},
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"sandbox-exec cannot be run ({error})") from None
    if ran.returncode:
        said = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1][:200] if said else f"exit status {ran.returncode}, no reason given"
        raise Unavailable(f"torch cannot be used under sandbox-exec ({reason})")

"""The zygote: a clean process that imports torch, never computes, and forks all the others.

Run by its path, `python -I -S -B zygote.py START CONTROL JUDGE POLICY SCRATCH FOLDER...`: no
site-packages, no environment, no current folder. START is "fork", or "spawn" where a fork is unsafe
(see `spawn`): then torch is imported by each child. CONTROL and JUDGE are inherited sockets: the
session holds the other end of CONTROL, sends nothing, and closes it to end everything; JUDGE is
handed to the judge, the first child. POLICY is a pipe from which a `policy.Policy` comes while
torch is imported. SCRATCH is a folder to be made, for the submissions' own ones; FOLDERs are where
torch and numpy are installed. `grader` is not imported here: nothing of the judging side reaches a
submission.

It never computes because children of a process that has run a parallel operation or a backward
pass hang. Each fork is tested where it matters: the judge, forked like every submission, computes
before it answers anything, and a session whose judge stays silent is reported as our fault.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib.util
import json
import os
import select
import signal
import socket
import stat
import sys
import time
from collections.abc import Iterator
from os import _exit  # by this name: a submission may replace the one in os
from types import ModuleType
from typing import Any, NoReturn

HERE = os.path.dirname(os.path.abspath(__file__))
PREFIX = "drill_zygote"
KILLED = "the judge was killed by signal"  # the last line of the log, then the signal
STRAYS_AGAIN = 20  # milliseconds until what would not die at once is killed again
IN_PASSING = 0o711  # a submission's own user passes through it to its folder, and lists nothing
SPAWNED = "spawned"
SLOW_MODULES = ("torch._dynamo", "torch.nn.attention.flex_attention", "torch.optim")


def load_by_path(name: str, path: str) -> ModuleType:
    """Import one of our modules or packages without its package being on the path."""
    locations = [os.path.dirname(path)] if path.endswith("__init__.py") else None
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=locations)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def die_with_socket(sock: socket.socket, wish: bool) -> None:
    """While torch is imported nobody polls: let the kernel's SIGIO end us when the session goes."""
    fcntl.fcntl(sock, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(sock, fcntl.F_GETFL)
    fcntl.fcntl(sock, fcntl.F_SETFL, flags | os.O_ASYNC if wish else flags & ~os.O_ASYNC)


class Zygote:
    """Forks on the judge's request, reaps, and leaves no process behind.

    `folders` are those that each child puts on its path where it is spawned, not forked.
    """

    def __init__(
        self,
        forks: bool,
        control: socket.socket,
        judge: socket.socket,
        scratch: str,
        folders: list[str],
    ) -> None:
        self.forks = forks
        self.folders = folders
        self.control = control
        self.judge_socket = judge
        self.policy: dict[str, Any] = {}
        self.scratch = scratch
        self.launches: socket.socket
        self.judge = 0
        self.children: dict[int, int] = {}  # pid -> the judge's number for it
        self.strays = False  # whether some were left
        self.wake_read, self.wake_write = socket.socketpair()
        self.messages = load_by_path(f"{PREFIX}.control", os.path.join(HERE, "control.py"))
        self.clear = load_by_path(f"{PREFIX}.clear", os.path.join(HERE, "clear.py"))
        self.waits = load_by_path(f"{PREFIX}.waits", os.path.join(HERE, "waits.py"))
        self.host: Any = None
        self.spawn: Any = None
        if not forks:
            self.spawn = load_by_path(f"{PREFIX}.spawn", os.path.join(HERE, "spawn.py"))

    def prepare(self, policy: int) -> None:
        """Import what every child needs, without computing. `policy`: the pipe."""
        load_by_path("drill_child", os.path.join(HERE, "child", "__init__.py"))
        if self.forks:
            self.host = importlib.import_module("drill_child.host")
        importlib.import_module("drill_child.sandbox").prctl(36, 1)  # strays come to us
        importlib.import_module("drill_child.sandbox").prctl(4, 0)  # nobody attaches
        with open(policy, "rb") as pipe:
            self.policy = json.load(pipe)
        self.wake_write.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wake_write.fileno(), warn_on_full_buffer=False)

    def start_judge(self) -> None:
        """Start the trusted child. It alone will import the packages of the judging side."""
        self.open_scratch()
        self.launches, far = socket.socketpair()
        parent = os.getpid()
        if self.forks:
            gc.freeze()  # a collection in a child would copy every page that it visits
            self.judge = os.fork()
            if self.judge == 0:
                self.become_judge(parent, far)
        else:
            session, launches = self.judge_socket.fileno(), far.fileno()
            order = {
                "folders": self.folders,
                "session": session,
                "launches": launches,
                "parent": parent,
                "scratch": self.scratch,
                "policy": {**self.policy, "wrap": ()},
            }
            self.judge = self.spawn.spawn(self.spawn.JUDGE, order, (session, launches), ())
        far.close()
        self.judge_socket.close()

    def become_judge(self, parent: int, launches: socket.socket) -> NoReturn:
        try:
            self.leave_zygote()
            self.control.close()
            self.launches.close()
            sys.modules["drill_child.sandbox"].die_with_parent(parent)
            main = load_by_path("drill_judge", os.path.join(HERE, "judge_main.py"))
            root = os.path.dirname(os.path.dirname(HERE))
            main.main(self.judge_socket, launches, self.scratch, root, self.policy)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            _exit(1)

    def leave_zygote(self) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.wake_read.close()
        self.wake_write.close()

    def serve(self) -> None:
        """Until the session or the judge goes away."""
        poll = select.poll()
        for sock in (self.control, self.launches, self.wake_read):
            poll.register(sock, select.POLLIN)
        while True:
            if self.strays:
                self.strays = not self.end_strays(0.0)
            for descriptor, _ in poll.poll(STRAYS_AGAIN if self.strays else None):
                if descriptor == self.wake_read.fileno():
                    self.wake_read.recv(4096)
                    if not self.reap():
                        return
                elif descriptor == self.control.fileno():
                    return
                else:
                    received = self.messages.receive(self.launches)
                    if received is None:
                        self.mourn()
                        return
                    self.obey(*received)

    def obey(self, message: Any, descriptors: list[int]) -> None:
        """One message of the judge."""
        if message.kind == self.messages.FORK:
            self.start(message, descriptors)
        elif self.forks and message.kind == self.messages.WARM:
            warm()
        elif self.forks and message.kind == self.messages.INTERPRET:
            importlib.import_module("drill_child.interpreter").prepare()
            gc.freeze()

    def start(self, message: Any, descriptors: list[int]) -> None:
        """A submission's child: it gets an interpreter that knows torch, and nothing else."""
        channel, output = descriptors
        order = {
            "channel": channel,
            "output": output,
            "parent": os.getpid(),
            "scratch": os.path.join(self.scratch, str(message.d)),
            "memory_bytes": message.a,
            "file_bytes": message.b,
            "groups": self.messages.groups_of(message.c),
            "policy": self.policy,
        }
        try:
            self.open_scratch()
            pid = os.fork() if self.forks else self.spawn_submission(order)
        except OSError:  # no process to be had, or no folder
            self.messages.send(
                self.launches, self.messages.Message(self.messages.FORKED, message.child)
            )
            pid = -1
        if pid == 0:
            try:
                self.leave_zygote()
                self.host.run(**order)
            except BaseException:  # of the set-up alone: what a submission raises is an answer
                sys.excepthook(*sys.exc_info())
            finally:
                _exit(1)
        os.close(channel)
        os.close(output)
        if pid < 0:
            return
        self.children[pid] = message.child
        handle = _pidfd(pid)
        answer = self.messages.Message(self.messages.FORKED, message.child, pid)
        self.messages.send(self.launches, answer, handle)
        for descriptor in handle:
            os.close(descriptor)

    def spawn_submission(self, order: dict[str, Any]) -> int:
        wrap = self.spawn.wrap(self.policy, order["scratch"])
        order = {**order, "folders": self.folders, "policy": {**self.policy, "wrap": ()}}
        descriptors = order["channel"], order["output"]
        return int(self.spawn.spawn(self.spawn.SUBMISSION, order, descriptors, wrap))

    def open_scratch(self) -> None:
        """The folder may be gone: submissions could remove it, or put something in its place."""
        with contextlib.suppress(FileNotFoundError):
            status = os.lstat(self.scratch)
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
                os.chmod(self.scratch, IN_PASSING)
                return
            self.clear.remove(self.scratch)
        os.mkdir(self.scratch)
        os.chmod(self.scratch, IN_PASSING)

    def reap(self) -> bool:
        """Report each dead submission once its whole process group is gone. False: no judge."""
        for pid, child in list(self.children.items()):
            end = self.waits.reap(pid)
            if end is None:
                continue
            del self.children[pid]
            self.strays = not self.end_strays(0.3)
            answer = self.messages.Message(
                self.messages.EXITED, child, end.status, end.resident_kib, seconds=end.cpu_seconds
            )
            with contextlib.suppress(OSError):
                self.messages.send(self.launches, answer)
        return self.judge_lives()

    def judge_lives(self) -> bool:
        """Whether it does; one that a submission stopped goes on."""
        if self.waits.is_stopped(self.judge):
            os.kill(self.judge, signal.SIGCONT)
        killed = self.waits.ended_by(self.judge)
        if killed:
            print(f"{KILLED} {killed}", file=sys.stderr)
        return killed is None

    def mourn(self) -> None:
        """The judge has closed its socket: it is dead or dying. Log why, if it was killed."""
        deadline = time.monotonic() + 0.2
        while self.judge_lives() and time.monotonic() < deadline:
            time.sleep(0.001)

    def end_strays(self, patience: float) -> bool:
        """Kill and reap what a submission left: as a subreaper we inherit its orphans.

        False: some are not gone yet.
        """
        deadline = time.monotonic() + patience
        while True:
            strays = [pid for pid in _own_children() if pid not in (self.judge, *self.children)]
            if not strays:
                return True
            for pid in strays:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            if time.monotonic() > deadline:
                return False
            time.sleep(0.0005)

    def end(self) -> None:
        """Kill every process of this session and remove its scratch folder."""
        for pid in self.children:
            self.waits.kill_group(pid)
        # One that was spawned just now leads no group yet, and not every system shows us ours.
        for pid in (*self.children, self.judge):
            if pid and self.waits.ended_by(pid) is None:
                os.kill(pid, signal.SIGKILL)
        self.children.clear()
        self.judge = 0
        self.end_strays(2.0)
        # A submission can make more files than can be removed while someone waits. Here a fork is
        # safe on every system: where others are spawned, this process has no torch and no threads.
        if not self.clear.remove(self.scratch, 0.3) and os.fork() == 0:
            os.setsid()
            self.clear.remove(self.scratch)


def warm() -> None:
    """Import what torch imports at first use, seconds of it, so that no submission pays for it."""
    for name in SLOW_MODULES:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.freeze()


def _own_children() -> Iterator[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            yield from map(int, file.read().split())
    except OSError:  # no /proc: macOS, or a kernel without this file
        return


def _pidfd(pid: int) -> tuple[int, ...]:
    try:
        return (os.pidfd_open(pid),)
    except (AttributeError, OSError):
        return ()


def main(arguments: list[str]) -> None:
    """See the module's description."""
    if arguments[0] == SPAWNED:
        role, order = arguments[1:]
        spawn = load_by_path("drill_spawn", os.path.join(HERE, "spawn.py"))
        spawn.main(role, json.loads(order), load_by_path)
        _exit(0)
    forks = arguments[0] == "fork"
    numbers = [int(number) for number in arguments[1:4]]
    for number in numbers:  # they came by being inherited, and go no further so
        os.set_inheritable(number, False)
    control, judge = (socket.socket(fileno=number) for number in numbers[:2])
    scratch, *folders = arguments[4:]
    if forks:
        die_with_socket(control, True)
        if select.select([control], [], [], 0)[0]:
            return  # the session was gone before the kernel knew that we care
    sys.path.extend(folders)
    zygote = Zygote(forks, control, judge, scratch, folders)
    zygote.prepare(numbers[2])
    if forks:
        die_with_socket(control, False)
    try:
        zygote.start_judge()
        if forks:
            sys.modules["drill_child.forbidden"].prepare()
        zygote.serve()
    finally:
        zygote.end()
    _exit(0)  # an orderly end of an interpreter with torch takes 0.15 s


if __name__ == "__main__":
    main(sys.argv[1:])

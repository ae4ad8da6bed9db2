"""External engines as child processes that exchange lines with Tengen and can neither hang nor flood it.

The engine runs in its own process group (session), so that killing the group also kills its children. Children that
have left the group are found by a marker in their environment. A thread reads the engine's output into a bounded queue
of lines of bounded length. Every wait has a deadline, and every kind of misbehaviour has its own `EngineFault`. Windows
does not have these process groups: children are found by the marker alone, and suspending has no effect.
"""

from __future__ import annotations

import atexit
import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
import uuid
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import psutil

from tengen.core.marked_processes import find_marked, kill_marked
from tengen.errors import EngineError, EngineFault
from tengen.protocols.pipe import MAX_LINE, LineSplitter, TrafficLog

MAX_BACKLOG_LINES = 10_000
"""Maximum number of unread lines."""
MAX_LINES = 1_000_000
"""Maximum number of lines since the last command."""
MAX_BYTES = 256 * 2**20
"""Maximum number of bytes since the last command."""

_IS_POSIX = os.name == "posix"
if sys.platform == "win32":
    _CREATION_FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP
else:
    _CREATION_FLAGS = 0
_MARK = "TENGEN_ENGINE"
_CHUNK = 65_536
_INTERPRETER = re.compile(
    r"(python|pypy|node|java|mono|dotnet|wine|ruby|perl|lua|bash|sh)[\d.]*(64)?(\.exe)?", re.IGNORECASE
)
"""Programs that run the engine named in their arguments."""
_MAX_STDERR_BYTES = 2**20
_POLL_S = 0.1
"""Interval at which a waiting manager checks whether the engine is still alive."""
_MEMORY_EVERY_S = 0.2
_EXIT_GRACE_S = 0.5
_KILL_S = 5.0

_running: weakref.WeakSet[EngineProcess] = weakref.WeakSet()


class EngineProcess:
    """One run of an engine program, from its start to `kill`."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        log: TrafficLog | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        """Start the program; raises `EngineError` if it cannot be started. Without a log, its stderr is discarded."""
        self._name = program_name(argv)
        self._log = log
        self.memory_bytes = memory_bytes
        """Memory limit for the engine and its children; None for no limit."""
        self._mark = uuid.uuid4().hex
        self._process = _spawn(argv, cwd, self._mark, captures_stderr=log is not None)
        self._changed = threading.Condition()
        self._lines: deque[str] = deque()
        self._line_count = 0
        self._byte_count = 0
        self._next_memory_check = 0.0
        self._is_at_end = False
        self._fault: EngineError | None = None
        self._is_suspended = False
        self._is_killed = False
        self._sending = threading.Lock()
        self._wake_reader, self._wake_writer = os.pipe()
        if _IS_POSIX and self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)
        self._reader = threading.Thread(target=self._read, name=f"reader of {self._name}", daemon=True)
        self._reader.start()
        _running.add(self)

    @property
    def pid(self) -> int:
        """The id of the process, which is also the id of its group."""
        return self._process.pid

    # -- communication -------------------------------------------------------------------------------------------------

    @property
    def output_size(self) -> tuple[int, int]:
        """Number of lines and bytes that the engine has written since the last command."""
        with self._changed:
            return self._line_count, self._byte_count

    def send(
        self, lines: Sequence[str], deadline: float, *, clears_output: bool = True, line_end: str = "\r\n"
    ) -> None:
        """Send lines, each with the line end. Unread engine output is discarded unless `clears_output` is False.

        Raises `EngineError` if the engine has exited or does not read its input before the deadline.
        """
        data = "".join(f"{line}{line_end}" for line in lines).encode("ascii", "replace")
        with self._changed:
            if clears_output:
                self._lines.clear()
            self._line_count = self._byte_count = 0
        with self._sending:
            if self._log is not None:
                for line in lines:
                    self._log.write("->", line)
            self._write(data, deadline)

    def close_input(self) -> None:
        """Close the engine's stdin, so that it reads the end of its input."""
        with self._sending:
            if self._process.stdin is not None:
                with suppress(OSError):
                    self._process.stdin.close()
                self._process.stdin = None

    def receive(self, deadline: float) -> str | None:
        """Return the next line of output; None if no line arrives before the deadline.

        Raises `EngineError` if the engine exits, floods or closes its output, or uses too much memory.
        """
        while True:
            with self._changed:
                if self._fault is not None:
                    raise self._fault
                if self._lines:
                    return self._lines.popleft()
                now = time.monotonic()
                if not self._is_at_end:
                    if now >= deadline:
                        return None
                    self._changed.wait(min(_POLL_S, deadline - now))
                    if self._lines or self._fault is not None:
                        continue
            self._check_alive()
            self.check_memory()

    def check_memory(self) -> None:
        """Raise `EngineError` if the engine and its children use more memory than allowed.

        Finding the children takes a few milliseconds, so fast games are not checked at every move.
        """
        now = time.monotonic()
        if self.memory_bytes is None or now < self._next_memory_check:
            return
        self._next_memory_check = now + _MEMORY_EVERY_S
        # RSS includes shared pages. If it is too high, measure again with USS, which is exact but slower.
        used = self._used_bytes("rss")
        if used > self.memory_bytes:
            used = self._used_bytes("uss")
        if used <= self.memory_bytes:
            return
        raise EngineError(
            f"engine {self._name!r} uses {used / 2**20:.0f} MB; the limit is {self.memory_bytes / 2**20:.0f} MB",
            EngineFault.MEMORY,
        )

    # -- process control -----------------------------------------------------------------------------------------------

    @property
    def is_alive(self) -> bool:
        """Whether the process is running and its pipes are open."""
        return not self._is_killed and not self._is_at_end and self._fault is None and self._exit_text() is None

    def suspend(self) -> None:
        """Suspend the process and its children until `resume`, so that it cannot think on the opponent's time."""
        if _IS_POSIX and not self._is_suspended and not self._is_killed:
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGSTOP)
                self._is_suspended = True

    def resume(self) -> None:
        """Resume a suspended process."""
        if self._is_suspended:
            self._is_suspended = False
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGCONT)

    def wait_for_exit(self, timeout_s: float) -> bool:
        """Wait for the process to exit; return whether it did before the timeout."""
        deadline = time.monotonic() + timeout_s
        while self._exit_text() is None:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.005)
        return True

    def count_survivors(self) -> int:
        """Return the number of other processes that the engine has started and that are still running."""
        return sum(process.pid != self.pid for process in find_marked(_MARK, self._mark))

    def kill(self) -> None:
        """Kill the process, its group and its children, and close the pipes. Further calls do nothing."""
        if self._is_killed:
            return
        self._is_killed = True
        _running.discard(self)
        if _IS_POSIX:
            # The leader has not been reaped yet, so its id cannot belong to another process.
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
        kill_marked(_MARK, self._mark)
        with suppress(OSError):
            self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_KILL_S)
        self._close_pipes()

    def _close_pipes(self) -> None:
        os.close(self._wake_writer)
        self._reader.join(_KILL_S)
        with self._sending:
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
        os.close(self._wake_reader)

    def _used_bytes(self, measure: str) -> int:
        return sum(_memory_of(process, measure) for process in self._process_tree())

    def _process_tree(self) -> list[psutil.Process]:
        try:
            leader = psutil.Process(self.pid)
            return [leader, *leader.children(recursive=True)]
        except psutil.Error:
            return []

    def _exit_text(self) -> str | None:
        """Describe how the process exited; None while it is running. Avoids reaping it where possible (see `kill`)."""
        if sys.platform == "linux" and self._process.returncode is None:
            try:
                ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return "the process no longer exists"
            if ended is None:
                return None
            return _describe_exit(ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status)
        code = self._process.poll()
        return None if code is None else _describe_exit(code)

    def _check_alive(self) -> None:
        """Raise `EngineError` if the engine has exited or closed its output."""
        if not self._is_at_end and self._exit_text() is None:
            return
        # The output may end slightly before the process exits, or the other way round.
        deadline = time.monotonic() + _EXIT_GRACE_S
        while time.monotonic() < deadline and not (self._is_at_end and self._exit_text()):
            with self._changed:
                if self._lines:
                    return
                self._changed.wait(0.01)
        with self._changed:
            if self._lines:
                return
        exit_text = self._exit_text()
        if exit_text is not None:
            raise EngineError(f"engine {self._name!r} exited: {exit_text}", EngineFault.CRASH)
        raise EngineError(f"engine {self._name!r} closed its output but is still running", EngineFault.CLOSED)

    # -- pipes ---------------------------------------------------------------------------------------------------------

    def _write(self, data: bytes, deadline: float) -> None:
        if self._is_killed or self._process.stdin is None:
            raise EngineError(f"engine {self._name!r} is not running", EngineFault.CRASH)
        descriptor = self._process.stdin.fileno()
        while data:
            try:
                data = data[os.write(descriptor, data) :]
            except BlockingIOError:
                if not _wait_writable(descriptor, deadline):
                    raise EngineError(f"engine {self._name!r} is not reading its input", EngineFault.TIMEOUT) from None
            except OSError:
                self.wait_for_exit(_EXIT_GRACE_S)
                exit_text = self._exit_text()
                if exit_text is not None:
                    raise EngineError(f"engine {self._name!r} exited: {exit_text}", EngineFault.CRASH) from None
                raise EngineError(
                    f"engine {self._name!r} closed its input but is still running", EngineFault.CLOSED
                ) from None

    def _read(self) -> None:
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        stderr = self._process.stderr.fileno() if self._process.stderr is not None else None
        splitters = {output: LineSplitter(MAX_LINE), stderr: LineSplitter(MAX_LINE)}
        stderr_bytes = 0
        open_pipes = {pipe for pipe in (output, stderr) if pipe is not None}
        while output in open_pipes and self._fault is None:
            for pipe in _wait_readable(open_pipes, self._wake_reader):
                if pipe == self._wake_reader:
                    return
                data = _read_some(pipe)
                lines = splitters[pipe].feed(data) if data else splitters[pipe].flush()
                if not data:
                    open_pipes.discard(pipe)
                if pipe == output:
                    self._enqueue(lines, len(data))
                elif stderr_bytes < _MAX_STDERR_BYTES:
                    stderr_bytes += len(data)
                    self._log_lines("!!", lines)
        with self._changed:
            self._is_at_end = True
            self._changed.notify_all()

    def _enqueue(self, lines: list[str], size: int) -> None:
        """Queue lines of output. If the engine floods, reading stops, and the engine blocks on its full pipe."""
        self._log_lines("<-", lines)
        with self._changed:
            self._lines.extend(lines)
            self._line_count += len(lines)
            self._byte_count += size
            for count, limit, what in (
                (len(self._lines), MAX_BACKLOG_LINES, "unread lines"),
                (self._line_count, MAX_LINES, "lines"),
                (self._byte_count, MAX_BYTES, "bytes"),
            ):
                if count > limit and self._fault is None:
                    message = f"engine {self._name!r} floods: more than {limit} {what} since the last command"
                    self._fault = EngineError(message, EngineFault.FLOOD)
            self._changed.notify_all()

    def _log_lines(self, mark: str, lines: list[str]) -> None:
        if self._log is not None:
            for line in lines:
                self._log.write(mark, line)


@atexit.register
def _kill_all() -> None:
    for process in list(_running):
        process.kill()


def program_name(argv: Sequence[str]) -> str:
    """Return the name of the engine in messages: the program, or the script or module that an interpreter runs.

    >>> program_name(["./pbrain-x", "--fast"]), program_name(["/usr/bin/python3.11", "-S", "engines/x.py"])
    ('./pbrain-x', 'x.py')
    >>> program_name(["java", "-jar", "x.jar"]), program_name(["python", "-m", "mine.brain", "--fast"])
    ('x.jar', 'mine.brain')
    """
    if _INTERPRETER.fullmatch(os.path.basename(argv[0])) is None:
        return argv[0]
    for place, word in enumerate(argv[1:], start=1):
        if word == "-c":
            break
        if word == "-m":
            return argv[place + 1] if place + 1 < len(argv) else argv[0]
        if not word.startswith("-"):
            return os.path.basename(word) or argv[0]
    return argv[0]


def _spawn(argv: Sequence[str], cwd: str | None, mark: str, *, captures_stderr: bool) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if captures_stderr and _IS_POSIX else subprocess.DEVNULL,
            bufsize=0,
            cwd=cwd,
            env={**os.environ, _MARK: mark},
            start_new_session=_IS_POSIX,
            creationflags=_CREATION_FLAGS,
        )
    except (OSError, ValueError) as error:
        raise EngineError(f"cannot start engine {' '.join(argv)!r}: {error}", EngineFault.START) from None


def _wait_readable(pipes: set[int], wake: int) -> list[int]:
    if not _IS_POSIX:
        return list(pipes)
    poll = select.poll()
    for pipe in (*pipes, wake):
        poll.register(pipe, select.POLLIN)
    ready = [pipe for pipe, _ in poll.poll()]
    return [wake] if wake in ready else ready


def _wait_writable(pipe: int, deadline: float) -> bool:
    poll = select.poll()
    poll.register(pipe, select.POLLOUT)
    return bool(poll.poll(max(0.0, 1000 * (deadline - time.monotonic()))))


def _read_some(pipe: int) -> bytes:
    try:
        return os.read(pipe, _CHUNK)
    except OSError:
        return b""


def _memory_of(process: psutil.Process, measure: str) -> int:
    try:
        info = process.memory_info() if measure == "rss" else process.memory_full_info()
        return int(getattr(info, measure))
    except psutil.Error:
        return 0


def _describe_exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"

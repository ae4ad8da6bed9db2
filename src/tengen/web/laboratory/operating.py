"""Start, stop and resume training runs and tournaments as separate processes.

Each operation has a folder with its order and its log (see `managed`). These folders are below `--data`, which only
the server writes to, because an order is carried out without further checks. The processes outlive the server. On
startup, the server detects live processes by their locks and restarts those that were killed.

A browser can choose only names, numbers and allowed agents; nothing that it sends is used as a path or a command.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from tengen.core.contracts import Ruleset
from tengen.core.files import open_regular, write_text
from tengen.errors import BusyError, InputError, NotDueError, NotFoundError, TengenError
from tengen.learning.run.reading import CONFIG_FILE, RunReader, finite
from tengen.web.games.players import AllowedAgents, NamedAgent
from tengen.web.laboratory.folders import Lab
from tengen.web.laboratory.managed import (
    LOG_FILE,
    ORDER_FILE,
    STOP_FILE,
    Order,
    command,
    free_bytes,
    is_alive,
    read_ending,
)
from tengen.web.laboratory.training_choices import SETTINGS, check_choice
from tengen.web.messages.operations import (
    OperatingInfo,
    OperationInfo,
    OperationKind,
    OperationState,
    ResumeOperation,
    StartTournament,
    StartTraining,
)

_TOURNAMENT_FILE = "tournament.toml"
_MAX_RESTARTS = 3
"""Maximum number of automatic restarts of a killed process; after that, a person must resume it."""
_MAX_OPERATIONS = 200
_MAX_LISTED = 50
_SHOWN_LOG = 1500
"""Maximum number of bytes shown from the end of the log."""
_NO_AGENTS = frozenset({"self", "past"})
"""Opponents in training that are not agents."""
_RESERVED = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")
"""Names that Windows reserves for devices."""


@dataclass(frozen=True, kw_only=True)
class OperatingLimits:
    """Limits for the processes that browsers start."""

    max_processes: int = 2
    max_games: int = 2000
    """Maximum number of games in a tournament."""
    memory_mb: int = 4096
    """Memory limit per process, including its descendants; at most half of the machine's memory."""
    min_free_mb: int = 1024
    """Free disk space needed to start a process. A running process ends when less than half of this is left."""


class Operations:
    """The operations of one server. All methods may be called from any thread."""

    def __init__(
        self,
        root: Path,
        data: Path,
        lab: Lab,
        agents: AllowedAgents,
        limits: OperatingLimits,
        why_not: str = "",
    ) -> None:
        """`root` is the folder for new runs and tournaments; `why_not` is the reason if the laboratory is read-only."""
        self._root = root.absolute()
        digest = hashlib.sha256(str(self._root).encode("utf-8", "replace")).hexdigest()[:12]
        self._orders_root = data.absolute() / "laboratory" / digest
        self._lab = lab
        self._agents = agents
        self._limits = limits
        self._why_not = why_not
        self._lock = threading.Lock()
        self._started: dict[Path, subprocess.Popen[bytes]] = {}
        """Processes that this server started and has not yet seen end."""

    @property
    def why_not(self) -> str:
        """Why the laboratory is read-only; empty if it can be operated."""
        return self._why_not

    # -- status ------------------------------------------------------------------------------------------------------

    def info(self) -> OperatingInfo:
        """Return whether the laboratory can be operated, its limits, and the operations, newest first."""
        found: list[OperationInfo] = []
        if not self._why_not:
            with self._lock:  # without it, a process that is starting would look killed
                found = [self._describe(folder, order) for folder, order in self._orders()]
            found.sort(key=lambda one: one.started_at, reverse=True)
        return OperatingInfo(
            is_enabled=not self._why_not,
            why_not=self._why_not,
            max_processes=self._limits.max_processes,
            max_games=self._limits.max_games,
            operations=found[:_MAX_LISTED],
        )

    def _orders(self) -> Iterator[tuple[Path, Order]]:
        """Yield the folder and the order of each operation; skips orders that cannot be read."""
        for path in sorted(self._orders_root.glob(f"*/{ORDER_FILE}")):
            with suppress(InputError):
                yield path.parent, Order.read(path.parent)

    def _describe(self, folder: Path, order: Order) -> OperationInfo:
        state, message = self._state(folder)
        return OperationInfo(
            kind=OperationKind(order.kind),
            name=order.name,
            state=state,
            is_shown=self._shown_file(order).exists(),
            started_at=_time_text(order.started_at),
            deadline=_time_text(order.deadline),
            memory_mb=order.memory_mb,
            message=message or _end_of_log(folder),
        )

    def _shown_file(self, order: Order) -> Path:
        if order.kind == OperationKind.TRAINING:
            return Path(order.path) / CONFIG_FILE
        return self._root / f"{order.name}.db"

    def _state(self, folder: Path) -> tuple[OperationState, str]:
        if self._is_live(folder):
            is_stopping = (folder / STOP_FILE).exists()
            return (OperationState.STOPPING if is_stopping else OperationState.RUNNING), ""
        ended = read_ending(folder)
        return (OperationState.KILLED, "") if ended is None else (OperationState(ended[0].value), ended[1])

    def _is_live(self, folder: Path) -> bool:
        process = self._started.get(folder)
        if process is None:
            return is_alive(folder)
        return process.poll() is None or is_alive(folder)  # a running one may not hold its lock yet

    # -- starting ----------------------------------------------------------------------------------------------------

    def start_training(self, request: StartTraining) -> OperationInfo:
        """Start a training run in a new folder."""
        settings = check_choice(request.algorithm, request.preset, request.settings)
        with self._lock:
            path = self._new_path(request.name)
            return self._start(
                self._order(OperationKind.TRAINING, request.name, path, request.max_minutes),
                algorithm=request.algorithm,
                preset=request.preset,
                settings=settings,
                seed=request.seed,
            )

    def start_tournament(self, request: StartTournament, ruleset: Ruleset) -> OperationInfo:
        """Start a tournament, whose file is written next to the runs. The agents must support the ruleset."""
        agents = [self._agents.named(text) for text in request.players]
        if len({agent.shown for agent in agents}) < len(agents):
            raise InputError("the same player is listed twice; change one of them")
        games = request.rounds * len(agents) * (len(agents) - 1)
        if games > self._limits.max_games:
            raise InputError(
                f"{games} games exceed this server's maximum of {self._limits.max_games}; play fewer rounds"
            )
        if request.time_ms is None and request.nodes is None and request.simulations is None:
            raise InputError("the players need a limit: time, nodes or simulations per move")
        limits = {"time_ms": request.time_ms, "nodes": request.nodes, "simulations": request.simulations}
        table: dict[str, Any] = {
            "name": request.name,
            "rules": ruleset.name,
            "rounds": request.rounds,
            "seed": request.seed,
            "database": str(self._root / f"{request.name}.db"),
        }
        players = [_entrant(agent) for agent in agents]
        with self._lock:
            self._new_path(request.name)
            self._check_room(self._root)
            path = self._orders_folder(OperationKind.TOURNAMENT, request.name) / _TOURNAMENT_FILE
            write_text(path, _tournament_toml(table, players, limits))
            self._root.mkdir(parents=True, exist_ok=True)
            return self._start(self._order(OperationKind.TOURNAMENT, request.name, path, request.max_minutes))

    def _new_path(self, name: str) -> Path:
        """Return the path for a new run or tournament. Raises `NotDueError` if the name is taken."""
        if _RESERVED.fullmatch(name):
            raise InputError(f"{name!r} is a reserved name; choose another one")
        path = self._root / name
        taken = any(os.path.lexists(self._root / f"{name}{ending}") for ending in ("", ".db", ".sqlite"))
        if taken or any(self._orders_folder(kind, name).exists() for kind in OperationKind):
            raise NotDueError(f"there is already a run or tournament {name!r}; choose another name")
        return path

    def _order(self, kind: OperationKind, name: str, path: Path, max_minutes: float) -> Order:
        now = time.time()
        memory_mb = min(self._limits.memory_mb, psutil.virtual_memory().total >> 21)
        return Order(
            kind=kind.value,
            name=name,
            path=str(path.absolute()),
            started_at=now,
            deadline=now + 60 * max_minutes,
            memory_mb=memory_mb,
            output=str(path.absolute() if kind is OperationKind.TRAINING else self._root),
            min_free_mb=self._limits.min_free_mb // 2,
        )

    def _start(self, order: Order, **more: Any) -> OperationInfo:
        order = replace(order, **more)
        folder = self._orders_folder(OperationKind(order.kind), order.name)
        if self._is_live(folder):
            raise NotDueError(f"{order.name} is running")
        self._check_room(Path(order.output))
        order.write(folder)
        self._launch(folder)
        return self._describe(folder, order)

    def _orders_folder(self, kind: OperationKind, name: str) -> Path:
        """Return the folder for the order of a run or tournament; the names of runs may contain slashes."""
        plain = re.sub(r"[^a-z0-9-]", "_", name.lower())[:60]
        digest = "" if plain == name else f"-{hashlib.sha256(name.encode('utf-8')).hexdigest()[:8]}"
        return self._orders_root / f"{kind.value}-{plain}{digest}"

    def _check_room(self, output: Path) -> None:
        """Raise `NotDueError` if no further process that writes to `output` may start."""
        folders = [folder for folder, _ in self._orders()]
        live = sum(map(self._is_live, folders))
        if live >= self._limits.max_processes:
            raise NotDueError(
                f"this server is already running its maximum of {self._limits.max_processes} processes;"
                " wait for one to finish, or stop one"
            )
        if len(folders) >= _MAX_OPERATIONS:
            raise NotDueError(
                f"{self._orders_root} already has {_MAX_OPERATIONS} operations, the maximum; delete old folders in it"
            )
        if free_bytes(output) < self._limits.min_free_mb << 20:
            raise NotDueError(f"less than {self._limits.min_free_mb} MB of disk space is free; delete some files")

    def _launch(self, folder: Path) -> None:
        """Start the process. It does not belong to the server's terminal or process group, and outlives the server."""
        apart: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
        try:
            with open(folder / LOG_FILE, "ab") as log:
                self._started[folder] = subprocess.Popen(
                    command(folder.absolute()), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, **apart
                )
        except OSError as error:
            raise BusyError(f"the process cannot be started: {error.strerror or error}") from None

    # -- stopping and resuming ---------------------------------------------------------------------------------------

    def stop(self, kind: OperationKind, name: str) -> OperationInfo:
        """Stop a process. A run can be resumed from its last checkpoint, a tournament from its last complete game."""
        folder = self._orders_folder(kind, name)
        with self._lock:
            if not (folder / ORDER_FILE).is_file() or not self._is_live(folder):
                raise NotDueError(f"{name} was not started here, or it has ended")
            write_text(folder / STOP_FILE, "")
            return self._describe(folder, Order.read(folder))

    def resume(self, kind: OperationKind, name: str, request: ResumeOperation) -> OperationInfo:
        """Resume a run or tournament, or extend a run."""
        with self._lock:
            if kind is OperationKind.TOURNAMENT:
                return self._resume_tournament(name, request)
            return self._resume_run(name, request)

    def _resume_tournament(self, name: str, request: ResumeOperation) -> OperationInfo:
        folder = self._orders_folder(OperationKind.TOURNAMENT, name)
        try:
            path = Path(Order.read(folder).path)
        except InputError:
            raise NotFoundError(
                f"tournament {name!r} was not started here; resume it with `tengen tournament FILE.toml --resume`"
            ) from None
        return self._start(self._order(OperationKind.TOURNAMENT, name, path, request.max_minutes))

    def _resume_run(self, name: str, request: ResumeOperation) -> OperationInfo:
        runs = self._lab.run_folders()
        if name not in runs:
            raise NotFoundError(f"there is no run {name!r}")
        run = RunReader.open(runs[name])
        if run.is_running():
            raise NotDueError(f"{name} is running")
        self._check_run(run)
        extension = _extension(run, request)
        if run.is_finished() and not extension:
            raise NotDueError(f"{name} is finished; extend it by minutes or iterations")
        return self._start(
            self._order(OperationKind.TRAINING, name, run.folder, request.max_minutes),
            algorithm=run.header.algorithm,
            preset=run.header.preset,
            config_sha256=run.config_sha256,
            extension=extension,
        )

    def _check_run(self, run: RunReader) -> None:
        """Raise `InputError` if a run could execute code that is not part of Tengen."""
        if run.header.algorithm not in SETTINGS:
            raise InputError(f"runs of {run.header.algorithm} cannot be resumed from a browser; use `tengen train`")
        self._check_agents(run.config_table)

    def _check_agents(self, table: Mapping[str, Any]) -> None:
        """Raise `InputError` if a configuration could run code through an agent or a network in a Python file."""
        net = table.get("net")
        kind = net.get("kind", "") if isinstance(net, Mapping) else ""
        if not isinstance(kind, str) or not re.fullmatch(r"[a-z0-9-]*", kind):
            raise InputError(f"this run cannot be resumed from a browser: its network {kind!r:.80} is not built in")
        try:
            agents = list(_agents_in(table))
        except RecursionError:
            raise InputError(
                "this run cannot be resumed from a browser: its configuration is nested too deeply"
            ) from None
        for text in agents:
            if text in _NO_AGENTS:
                continue
            try:
                self._agents.named(text)
            except TengenError as error:
                raise InputError(f"this run cannot be resumed from a browser: {error}") from None

    def recover(self) -> None:
        """Resume the processes that were killed, for example by a reboot. Live processes are left alone."""
        if self._why_not:
            return
        with self._lock:
            for folder, order in list(self._orders()):
                is_over = self._is_live(folder) or read_ending(folder) is not None or (folder / STOP_FILE).exists()
                if is_over or time.time() >= order.deadline or order.restarts >= _MAX_RESTARTS:
                    continue
                try:
                    self._check_room(Path(order.output))
                    checksum = ""
                    if (Path(order.path) / CONFIG_FILE).exists():
                        run = RunReader.open(Path(order.path))
                        self._check_run(run)
                        checksum = run.config_sha256
                    replace(order, restarts=order.restarts + 1, config_sha256=checksum).write(folder)
                    self._launch(folder)
                except (TengenError, OSError):
                    continue  # the operation stays listed as killed


def _entrant(agent: NamedAgent) -> dict[str, Any]:
    """Describe a player for a tournament file. The random player has rating 0, as in the ladder of the levels."""
    anchor = {"anchor": 0.0} if agent.text == "random" else {}
    return {"agent": agent.text, "name": agent.shown, **anchor}


def _agents_in(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the agent specifications in a configuration."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _agents_in(value)
        elif key in ("anchor", "opponents"):
            yield from map(str, value if isinstance(value, list) else [value])


def _extension(run: RunReader, request: ResumeOperation) -> dict[str, float]:
    """Return the new limits of a run. Raises `InputError` if the request extends a limit that the run does not have."""
    budget = run.budget
    last = run.last_metrics() or {}
    if request.more_minutes is not None:
        if not budget.minutes:
            raise InputError("this run has no time limit; extend it by iterations")
        used = finite(last.get("seconds")) / 60
        return {"minutes": max(budget.minutes, used) + request.more_minutes}
    if request.more_iterations is not None:
        if budget.minutes or budget.cpu_minutes:
            raise InputError("this run has a time limit; extend it by minutes")
        return {"iterations": budget.iterations + request.more_iterations}
    return {}


def _tournament_toml(table: Mapping[str, Any], players: list[dict[str, Any]], limits: Mapping[str, int | None]) -> str:
    # All values are strings and numbers, which look the same in JSON and TOML.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()]
    lines.append("players = [")
    for player in players:
        fields = ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in player.items())
        lines.append(f"  {{ {fields} }},")
    lines += ["]", "", "[limits]"]
    lines += [f"{key} = {value}" for key, value in limits.items() if value is not None]
    return "\n".join(lines) + "\n"


def _end_of_log(folder: Path) -> str:
    try:
        with open_regular(folder / LOG_FILE, within=folder) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _SHOWN_LOG))
            return file.read(_SHOWN_LOG).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _time_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")

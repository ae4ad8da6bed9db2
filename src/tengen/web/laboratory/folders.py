"""The laboratory: training runs, tournaments, models and papers, read from the folders the server was started with.

A name that a browser sends is looked up in a listing of those folders and never used as a path.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tengen.arena.export import game_record
from tengen.arena.report import tables
from tengen.arena.standings import collect
from tengen.arena.store import GameStore
from tengen.core.shipped import shipped_folder
from tengen.errors import InputError, NotFoundError
from tengen.learning.run.reading import (
    CONFIG_FILE,
    Metrics,
    RunReader,
    RunState,
    find_run_folders,
    is_number,
    strength_curve,
)
from tengen.nets.models import model_names
from tengen.search.critic import CRITIC_FILE
from tengen.web.games.players import network_agent, run_agent
from tengen.web.games.records import record_of
from tengen.web.messages.lab import (
    GameRow,
    GameRows,
    ModelInfo,
    ModelMatch,
    PaperInfo,
    RunDetail,
    RunSummary,
    Series,
    StrengthPoint,
    TableInfo,
    TournamentDetail,
    TournamentSummary,
)
from tengen.web.messages.records import Record

_NETWORK_FILES = ("model.onnx", CRITIC_FILE)
_STORE_ENDINGS = (".sqlite", ".db")
_DEPTH = 3
"""Depth below a folder at which tournaments are still found."""
_MAX_FOUND = 500
_MAX_POINTS = 400
"""Maximum number of points of a curve."""
_MAX_TEXT_BYTES = 1 << 20
_LIVE_S = 120
"""Age of the last game up to which an unfinished tournament counts as live."""


@dataclass(frozen=True, kw_only=True)
class Lab:
    """The folders that are shown. Everything is read on request, so live runs are up to date."""

    runs: tuple[Path, ...] = ()
    papers: Path | None = None

    # -- training runs ---------------------------------------------------------------------------------------------

    def list_runs(self) -> list[RunSummary]:
        """Return all training runs, newest first."""
        found: list[RunSummary] = []
        for name, folder in self.run_folders().items():
            with suppress(InputError):  # its configuration is damaged
                run = RunReader.open(folder)
                found.append(_summarise_run(name, run, run.readable_metrics()))
        return sorted(found, key=lambda run: run.updated_at, reverse=True)

    def run(self, name: str) -> RunDetail:
        """Return a training run with its curves."""
        run = RunReader.open(_named(self.run_folders(), name, "run"))
        metrics = run.readable_metrics()
        return RunDetail(
            summary=_summarise_run(name, run, metrics),
            config=_read_text(run.folder / CONFIG_FILE),
            series=list(_series(metrics)),
            strength=[
                StrengthPoint(
                    step=point.iteration, elo=point.elo, low=point.elo - point.error, high=point.elo + point.error
                )
                for point in strength_curve(metrics)
            ],
            game_files=[path.name for path in reversed(run.game_files())][:_MAX_FOUND],
        )

    def run_game_file(self, name: str, file: str) -> Path:
        """Return a game file of a run by its name in the listing."""
        run = RunReader.open(_named(self.run_folders(), name, "run"))
        files = {path.name: path for path in run.game_files()}
        return _named(files, file, "game file")

    def run_folders(self) -> dict[str, Path]:
        """Return the folders of the training runs by name: the path below the folder, as in `tengen runs`."""
        found: dict[str, Path] = {}
        for root in self.runs:
            for folder in find_run_folders(root):
                inside = folder.relative_to(root).as_posix()
                name = root.resolve().name if inside == "." else inside
                if name in found:
                    name = f"{root.resolve().name}/{name}"
                if len(found) < _MAX_FOUND:
                    found.setdefault(name, folder)
        return found

    # -- tournaments -----------------------------------------------------------------------------------------------

    def list_tournaments(self) -> list[TournamentSummary]:
        """Return all tournaments, newest first."""
        found: list[TournamentSummary] = []
        for name, path in self._store_files().items():
            with suppress(InputError), GameStore(path, is_writer=False) as store:
                found.append(_summarise_store(name, path, store))
        return sorted(found, key=lambda one: one.updated_at, reverse=True)

    def tournament(self, name: str) -> TournamentDetail:
        """Return a tournament with all its tables."""
        path = _named(self._store_files(), name, "tournament")
        with GameStore(path, is_writer=False) as store:
            standings = collect([store])
            return TournamentDetail(
                summary=_summarise_store(name, path, store),
                tables=[
                    TableInfo(
                        title=table.title,
                        columns=list(table.columns),
                        rows=[list(row) for row in table.rows],
                        note=table.note,
                        left=table.left,
                        is_detail=table.is_detail,
                    )
                    for table in tables(standings)
                ],
            )

    def tournament_games(self, name: str, limit: int, offset: int) -> GameRows:
        """Return the games of a tournament, newest first."""
        with GameStore(_named(self._store_files(), name, "tournament"), is_writer=False) as store:
            players = store.players()
            games = sorted(store.games(), key=lambda one: (one.ended_at, one.game.number), reverse=True)
            rows = []
            for stored in games[offset : offset + limit]:
                names = [players[stored.game.first].name, players[stored.game.second].name]
                black = stored.result.black_seat
                rows.append(
                    GameRow(
                        number=stored.game.number,
                        black=names[black],
                        white=names[1 - black],
                        outcome=stored.result.outcome,
                        ending=stored.result.ending.value,
                        moves=len(stored.result.moves),
                        ended_at=stored.ended_at,
                    )
                )
            return GameRows(total=len(games), games=rows)

    def tournament_game(self, name: str, number: int) -> Record:
        """Return one game of a tournament with times and values."""
        with GameStore(_named(self._store_files(), name, "tournament"), is_writer=False) as store:
            for stored in store.games():
                if stored.game.number == number:
                    return record_of(game_record(stored, store.players(), name))
        raise NotFoundError(f"tournament {name} has no game {number}")

    def _store_files(self) -> dict[str, Path]:
        """Return the tournament files by name; if a name is taken, the folder is put before it."""
        found: dict[str, Path] = {}
        for root in self.runs:
            for path in _find(root, lambda path: path.suffix in _STORE_ENDINGS):
                name = path.stem if path.stem not in found else f"{path.parent.name}.{path.stem}"
                if len(found) < _MAX_FOUND:
                    found.setdefault(name, path)
        return found

    # -- models and papers -----------------------------------------------------------------------------------------

    @staticmethod
    def model_names() -> list[str]:
        """Return the names of the shipped networks."""
        return list(model_names())

    def list_models(self) -> list[ModelInfo]:
        """Return the shipped networks and critics with their cards."""
        return [_model(path.parent) for path in sorted(shipped_folder("models").glob("*/card.json"))]

    def list_papers(self) -> list[PaperInfo]:
        """Return the reproduced papers."""
        if self.papers is None or not self.papers.is_dir():
            return []
        folders = sorted(path.parent for path in self.papers.glob("*/README.md"))
        return [_paper(folder) for folder in folders[:_MAX_FOUND]]


# ---- Finding --------------------------------------------------------------------------------------------------------


def _find(root: Path, is_wanted: Any, depth: int = _DEPTH) -> Iterator[Path]:
    """Yield files below a folder, at most `depth` levels deep; unreadable folders are skipped."""
    with suppress(OSError):
        for path in sorted(root.iterdir()):
            if path.is_file() and is_wanted(path):
                yield path
            elif depth and path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
                yield from _find(path, is_wanted, depth - 1)


def _named(found: Mapping[str, Path], name: str, what: str) -> Path:
    if name not in found:
        raise NotFoundError(f"there is no {what} {name}")
    return found[name]


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_TEXT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _time_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


# ---- Runs -----------------------------------------------------------------------------------------------------------


def _summarise_run(name: str, run: RunReader, metrics: Metrics) -> RunSummary:
    last = dict(_numbers(metrics[-1])) if metrics else {}
    return RunSummary(
        name=name,
        algorithm=run.header.algorithm,
        rules=str(run.config_table.get("ruleset", "")),
        is_live=run.state() is RunState.RUNNING,
        updated_at=_time_text(run.updated_at()),
        steps=int(last.get("iteration", 0)),
        last=last,
        games=int(last.get("games", 0)),
        agent=run_agent(run.header.algorithm, name, run.folder),
    )


def _numbers(line: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield all numbers of a line of metrics; a number in a table is named `table.key`."""
    for key, value in line.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{key}.")
        elif is_number(value):
            yield f"{prefix}{key}", float(value)


def _series(metrics: Metrics) -> Iterator[Series]:
    curves: dict[str, tuple[list[float], list[float]]] = {}
    for line in metrics:
        for name, value in _numbers(line):
            steps, values = curves.setdefault(name, ([], []))
            steps.append(line["iteration"])
            values.append(value)
    for name, (steps, values) in curves.items():
        stride = -(-len(steps) // _MAX_POINTS)
        # Thin out from the end, so that the newest value is kept.
        yield Series(name=name, steps=steps[::-stride][::-1], values=values[::-stride][::-1])


# ---- Tournaments and papers -----------------------------------------------------------------------------------------


def _summarise_store(name: str, path: Path, store: GameStore) -> TournamentSummary:
    description = store.setting("tournament") or {}
    changed_at = max(_changed_at(path), _changed_at(path.with_name(f"{path.name}-wal")))
    games, planned = len(store), int(store.setting("games") or 0)
    return TournamentSummary(
        name=name,
        title=str(description.get("name", name)),
        games=games,
        games_planned=max(games, planned),
        players=[player.name for player in store.players()],
        is_live=games < planned and time.time() - changed_at < _LIVE_S,
        updated_at=_time_text(changed_at),
    )


def _model(folder: Path) -> ModelInfo:
    card = json.loads(_read_text(folder / "card.json"))
    run, strength = card.get("run") or {}, card.get("strength") or {}
    algorithm = str(run.get("algorithm", ""))
    return ModelInfo(
        name=folder.name,
        agent=network_agent(algorithm, "model", folder.name),
        algorithm=algorithm,
        rules=str(card["ruleset"]),
        weights=card["weights"],
        bytes=next(file.stat().st_size for name in _NETWORK_FILES if (file := folder / name).is_file()),
        games=run.get("games", 0),
        cpu_minutes=run.get("cpu_minutes", 0.0),
        command=str(card.get("command", "")).strip(),
        elo=strength.get("elo"),
        elo_error=strength.get("error"),
        matches=[_match(match) for match in card.get("matches", ())],
        card=_read_text(folder / "card.md"),
    )


def _match(match: Mapping[str, Any]) -> ModelMatch:
    wins, draws, losses = match["all"]
    return ModelMatch(
        against=match["against"],
        games=match["games"],
        wins=wins,
        draws=draws,
        losses=losses,
        conditions=match["conditions"],
    )


def _paper(folder: Path) -> PaperInfo:
    readme = _read_text(folder / "README.md")
    heading = next((line for line in readme.splitlines() if line.startswith("# ")), f"# {folder.name}")
    return PaperInfo(
        name=folder.name,
        title=heading.removeprefix("# ").strip(),
        readme=readme,
        results=sorted(path.name for path in (folder / "results").glob("*") if path.is_file()),
    )

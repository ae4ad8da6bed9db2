"""The laboratory: training runs, tournaments, models and papers, read from the folders the server was started with.

A name that a browser sends is looked up in a listing of those folders and never used as a path. Every run, tournament
and model is read separately, so a damaged one does not hide the others; it is listed with its error. Links that lead
out of the folders are not followed. Lists are returned page by page, newest first.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tengen.agents.registry import network_player
from tengen.arena.export import game_record
from tengen.arena.report import tables
from tengen.arena.standings import collect
from tengen.arena.store import GameStore
from tengen.core.files import is_within, open_regular
from tengen.core.shipped import shipped_folder
from tengen.errors import NotFoundError, RecordError, TengenError
from tengen.learning.run.reading import (
    CONFIG_FILE,
    LeftOut,
    RunReader,
    RunState,
    find_run_folders,
    is_number,
    strength_point,
    updated_at,
)
from tengen.learning.run.reading import (
    StrengthPoint as Measurement,
)
from tengen.nets.models import NETWORK_FILE, model_names
from tengen.search.critic import CRITIC_FILE
from tengen.web.games.players import run_agent
from tengen.web.games.records import record_of
from tengen.web.messages.lab import (
    Document,
    GameRow,
    GameRows,
    ModelInfo,
    ModelMatch,
    PaperInfo,
    RunDetail,
    RunList,
    RunSummary,
    Series,
    StrengthPoint,
    TableInfo,
    TournamentDetail,
    TournamentList,
    TournamentSummary,
)
from tengen.web.messages.records import Record

_NETWORK_FILES = ("model.onnx", CRITIC_FILE)
_STORE_ENDINGS = (".sqlite", ".db")
_DEPTH = 3
"""Maximum depth of the search for tournaments below a folder."""
_MAX_FILES = 500
"""Maximum number of game files or papers that are listed."""
_MAX_POINTS = 400
"""Maximum number of points per curve."""
_MAX_SERIES = 200
_MAX_MILESTONES = 16
"""Maximum number of milestone networks of a run that evaluate a position."""
_ZERO = "random"
"""Player whose rating is 0 on the ladder that rates the levels."""
_FIGURES = {".svg": "image/svg+xml", ".png": "image/png"}
_MAX_FIGURE_BYTES = 4 << 20
_MAX_DOCUMENTS = 20
_MAX_TEXT_BYTES = 1 << 20
_MAX_PROBLEM = 300
_PACE_GAMES = 30
"""Number of newest games from which the pace of a tournament is estimated."""
_LIVE_S = 120
"""Maximum time since the last change, in seconds, for an unfinished tournament to count as live."""


@dataclass(frozen=True, kw_only=True)
class Lab:
    """The folders shown in the laboratory. Everything is read on request, so live runs are up to date."""

    runs: tuple[Path, ...] = ()
    papers: Path | None = None

    # -- training runs ---------------------------------------------------------------------------------------------

    def list_runs(self, limit: int, offset: int) -> RunList:
        """Return a page of the training runs, newest first."""
        found = sorted(self.run_folders().items(), key=lambda item: updated_at(item[1]), reverse=True)
        return RunList(total=len(found), runs=[_summarise_run(*item) for item in found[offset : offset + limit]])

    def run(self, name: str) -> RunDetail:
        """Return a training run with its curves."""
        folder = _named(self.run_folders(), name, "run")
        summary = _summarise_run(name, folder)
        try:
            run = RunReader.open(folder)
            left_out = LeftOut()
            curves, strength, anchor = _curves(run, left_out)
        except TengenError:  # `summary` contains the reason
            return RunDetail(
                summary=summary, config="", series=[], strength=[], anchor="", game_files=[], game_file_count=0
            )
        files = run.game_files()
        return RunDetail(
            summary=summary.model_copy(update={"problem": str(left_out) or summary.problem}),
            config=_read_text(run.folder / CONFIG_FILE),
            series=[Series(name=key, steps=curve.steps, values=curve.values) for key, curve in curves.items()],
            strength=strength,
            anchor=anchor,
            game_files=[path.name for path in reversed(files[-_MAX_FILES:])],
            game_file_count=len(files),
        )

    def read_run_game(self, name: str, file: str, max_bytes: int) -> bytes:
        """Return the content of one of a run's game files, given its name in the listing."""
        run = RunReader.open(_named(self.run_folders(), name, "run"))
        path = _named({path.name: path for path in run.game_files()}, file, "game file")
        try:
            with open_regular(path, within=run.folder) as opened:
                data = opened.read(max_bytes + 1)
        except OSError as error:
            raise RecordError(f"cannot read {file}: {error.strerror or error}") from None
        if len(data) > max_bytes:
            raise RecordError(f"{file} is larger than {max_bytes} bytes, too large to show in the browser")
        return data

    def networks_over_time(self, name: str) -> list[tuple[int | None, Path]]:
        """Return evenly spaced milestone networks of a run, oldest first, then its newest network (iteration None)."""
        run = RunReader.open(_named(self.run_folders(), name, "run"))
        kept = [folder for folder in run.milestone_folders() if is_within(folder / NETWORK_FILE, run.folder)]
        stride = -(-len(kept) // _MAX_MILESTONES) or 1
        newest = [(None, run.folder)] if is_within(run.folder / NETWORK_FILE, run.folder) else []
        return [*((int(folder.name), folder) for folder in kept[::stride]), *newest]

    def run_folders(self) -> dict[str, Path]:
        """Return the folders of the training runs by name: the path relative to `--runs`, as in `tengen runs`."""
        found: dict[str, Path] = {}
        for root in self.runs:
            for folder in find_run_folders(root):
                inside = folder.relative_to(root).as_posix()
                name = root.resolve().name if inside == "." else inside
                if name in found:
                    name = f"{root.resolve().name}/{name}"
                found.setdefault(name, folder)
        return found

    # -- tournaments -----------------------------------------------------------------------------------------------

    def list_tournaments(self, limit: int, offset: int) -> TournamentList:
        """Return a page of the tournaments, newest first."""
        found = sorted(self._store_files().items(), key=lambda item: _changed_at(item[1]), reverse=True)
        page = [_summarise_tournament(*item) for item in found[offset : offset + limit]]
        return TournamentList(total=len(found), tournaments=page)

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
        """Return a page of a tournament's games, newest first."""
        with GameStore(_named(self._store_files(), name, "tournament"), is_writer=False) as store:
            names = [player.name for player in store.players()]
            games = [
                GameRow(
                    number=game.number,
                    black=names[game.black],
                    white=names[game.white],
                    outcome=game.outcome,
                    ending=game.ending.value,
                    moves=game.stones,
                    ended_at=game.ended_at,
                )
                for game in store.newest_games(limit, offset)
            ]
            return GameRows(total=len(store), games=games)

    def tournament_game(self, name: str, number: int) -> Record:
        """Return one game from a tournament with the times and evaluations of its moves."""
        with GameStore(_named(self._store_files(), name, "tournament"), is_writer=False) as store:
            stored = store.game(number)
            if stored is None:
                raise NotFoundError(f"tournament {name} has no game {number}")
            return record_of(game_record(stored, store.players(), name))

    def _store_files(self) -> dict[str, Path]:
        """Return the tournament files by name. If a name occurs twice, the second one gets its folder as a prefix."""
        found: dict[str, Path] = {}
        for root in self.runs:
            for path in _find_stores(root):
                name = path.stem if path.stem not in found else f"{path.parent.name}.{path.stem}"
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

    def figure(self, kind: str, name: str, file: str) -> tuple[bytes, str]:
        """Return a picture of a paper (`papers`) or a model (`models`), and its media type."""
        if kind == "models":
            folders = {path.parent.name: path.parent for path in shipped_folder("models").glob("*/card.json")}
        else:
            folders = {folder.name: folder / "results" for folder in self._paper_folders()}
        folder = _named(folders, name, kind.removesuffix("s"))
        path = _named({path.name: path for path in _figures(folder)}, file, "figure")
        try:
            with open_regular(path, within=folder) as opened:
                return opened.read(_MAX_FIGURE_BYTES), _FIGURES[path.suffix]
        except OSError as error:
            raise RecordError(f"cannot read {file}: {error.strerror or error}") from None

    def _paper_folders(self) -> list[Path]:
        if self.papers is None or not self.papers.is_dir():
            return []
        return sorted(path.parent for path in self.papers.glob("*/README.md"))

    def list_papers(self) -> list[PaperInfo]:
        """Return the reproduced papers."""
        return [_paper(folder) for folder in self._paper_folders()[:_MAX_FILES]]


# ---- Files ----------------------------------------------------------------------------------------------------------


def _find_stores(root: Path) -> Iterator[Path]:
    """Yield the tournament files below a folder, except links to files outside it."""
    for path in _walk(root, _DEPTH):
        if path.suffix in _STORE_ENDINGS and (not path.is_symlink() or is_within(path, root)):
            yield path


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    """Yield regular files, at most `depth` levels deep; hidden, linked and unreadable folders are skipped."""
    entries: list[os.DirEntry[str]] = []
    with suppress(OSError), os.scandir(folder) as found:
        entries += sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        with suppress(OSError):
            if entry.is_file():
                yield Path(entry.path)
            elif depth and entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield from _walk(Path(entry.path), depth - 1)


def _named(found: Mapping[str, Path], name: str, what: str) -> Path:
    if name not in found:
        raise NotFoundError(f"there is no {what} {name!r}")
    return found[name]


def _read_text(path: Path) -> str:
    try:
        with open_regular(path, within=path.parent) as file:
            return file.read(_MAX_TEXT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def _changed_at(path: Path) -> float:
    """Return when a database last changed, in seconds since the epoch."""
    changed_at = 0.0
    for file in (path, path.with_name(f"{path.name}-wal")):
        with suppress(OSError):
            changed_at = max(changed_at, file.stat().st_mtime)
    return changed_at


def _reason(error: Exception, path: Path, name: str) -> str:
    """Return an error message with the path on the server replaced by the public name."""
    return str(error).replace(str(path.resolve()), name).replace(str(path), name)


def _time_text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


# ---- Runs -----------------------------------------------------------------------------------------------------------


def _summarise_run(name: str, folder: Path) -> RunSummary:
    """Summarise a run from its configuration and the end of its metrics."""
    changed_at = _time_text(updated_at(folder))
    left_out = LeftOut()
    try:
        run = RunReader.open(folder)
        line = run.last_metrics(left_out)
    except TengenError as error:
        return RunSummary(
            name=name,
            algorithm="",
            rules="",
            is_live=False,
            state=RunState.STOPPED,
            updated_at=changed_at,
            steps=0,
            fraction=0.0,
            seconds_left=None,
            milestones=[],
            has_time_limit=False,
            last={},
            games=0,
            agent=None,
            problem=_reason(error, folder, name),
        )
    last = dict(itertools.islice(_numbers(line or {}), _MAX_SERIES))
    state = run.state()
    fraction = _fraction(run, last) if state is not RunState.FINISHED else 1.0
    return RunSummary(
        name=name,
        algorithm=run.header.algorithm,
        rules=str(run.config_table.get("ruleset", "")),
        is_live=state is RunState.RUNNING,
        state=state,
        updated_at=changed_at,
        steps=int(last.get("iteration", 0)),
        fraction=fraction,
        seconds_left=_run_seconds_left(run, last, fraction) if state is RunState.RUNNING else None,
        milestones=[int(path.name) for path in run.milestone_folders()[-_MAX_FILES:]],
        has_time_limit=bool(run.budget.minutes or run.budget.cpu_minutes),
        last=last,
        games=int(last.get("games", 0)),
        agent=run_agent(run.header.algorithm, name, run.folder),
        problem=str(left_out) or None,
    )


def _fraction(run: RunReader, last: Mapping[str, float]) -> float:
    """Return the fraction of the run that is done after its last iteration."""
    done = run.budget.fraction_used(
        int(last.get("iteration", 0)), last.get("seconds", 0.0), last.get("cpu_seconds", 0.0)
    )
    return min(1.0, max(0.0, done))


def _run_seconds_left(run: RunReader, last: Mapping[str, float], fraction: float) -> float | None:
    """Estimate the remaining time of a run, in seconds, from the time it has taken so far."""
    if not fraction or "seconds" not in last:
        return None
    since = max(0.0, time.time() - run.updated_at())
    return max(0.0, last["seconds"] * (1 / fraction - 1) - since)


def _numbers(line: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield the name and value of every number in a line of metrics; nested names are `table.key`."""
    for key, value in line.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{key}.")
        elif is_number(value):
            yield f"{prefix}{key}", float(value)


@dataclass(slots=True)
class _Curve:
    """A curve of at most `_MAX_POINTS` points: every n-th value and the last one; n doubles as the curve grows."""

    _steps: list[float] = field(default_factory=list)
    _values: list[float] = field(default_factory=list)
    _stride: int = 1
    _count: int = 0
    _last: tuple[float, float] = (0.0, 0.0)

    def add(self, step: float, value: float) -> None:
        """Add a point."""
        self._last = (step, value)
        if self._count % self._stride == 0:
            self._steps.append(step)
            self._values.append(value)
            if len(self._steps) >= _MAX_POINTS:
                del self._steps[1::2], self._values[1::2]
                self._stride *= 2
        self._count += 1

    @property
    def steps(self) -> list[float]:
        """X coordinates of the points."""
        return self._with_last(self._steps, 0)

    @property
    def values(self) -> list[float]:
        """Y coordinates of the points."""
        return self._with_last(self._values, 1)

    def _with_last(self, kept: list[float], place: int) -> list[float]:
        is_kept = (self._count - 1) % self._stride == 0
        return kept if is_kept else [*kept, self._last[place]]


def _curves(run: RunReader, left_out: LeftOut) -> tuple[dict[str, _Curve], list[StrengthPoint], str]:
    """Read the metrics in one pass and return the curves, the measured ratings, and the player that is rated 0.

    That player is `random` if every measurement included it, otherwise the anchor of the run.
    """
    curves: dict[str, _Curve] = {}
    measured: list[Measurement] = []
    for line in run.readable_metrics(left_out):
        for name, value in _numbers(line):
            if name in curves or len(curves) < _MAX_SERIES:
                curves.setdefault(name, _Curve()).add(line["iteration"], value)
        point = strength_point(line)
        if point is not None:
            measured.append(point)
    has_zero = all(_ZERO in point.opponents for point in measured)
    table = run.config_table.get("strength")
    anchor = str(table.get("anchor", "")) if isinstance(table, Mapping) else ""
    strength = [_above(point, point.opponents[_ZERO][0] if has_zero else 0.0) for point in _thinned(measured)]
    return curves, strength, _ZERO if has_zero else anchor


def _above(point: Measurement, zero: float) -> StrengthPoint:
    elo = point.elo - zero
    return StrengthPoint(step=point.iteration, elo=elo, low=elo - point.error, high=elo + point.error)


def _thinned(points: Sequence[Measurement]) -> list[Measurement]:
    """Return at most `_MAX_POINTS` points, including the last."""
    stride = -(-len(points) // _MAX_POINTS) or 1
    return list(points[::-stride][::-1])


# ---- Tournaments and papers -----------------------------------------------------------------------------------------


def _summarise_tournament(name: str, path: Path) -> TournamentSummary:
    try:
        with GameStore(path, is_writer=False) as store:
            return _summarise_store(name, path, store)
    except TengenError as error:
        return TournamentSummary(
            name=name,
            title=name,
            games=0,
            games_planned=0,
            players=[],
            is_live=False,
            seconds_left=None,
            updated_at=_time_text(_changed_at(path)),
            problem=_reason(error, path, path.name),
        )


def _summarise_store(name: str, path: Path, store: GameStore) -> TournamentSummary:
    changed_at = _changed_at(path)
    games, planned = len(store), store.games_planned()
    is_live = games < planned and time.time() - changed_at < _LIVE_S
    return TournamentSummary(
        name=name,
        title=str(store.description().get("name", name)),
        games=games,
        games_planned=max(games, planned),
        players=[player.name for player in store.players()],
        is_live=is_live,
        seconds_left=_tournament_seconds_left(store, planned - games) if is_live else None,
        updated_at=_time_text(changed_at),
    )


def _tournament_seconds_left(store: GameStore, games_left: int) -> float | None:
    """Estimate the remaining time of a tournament, in seconds, from the end times of its newest games."""
    ends: list[float] = []
    with suppress(ValueError):
        ends += (datetime.fromisoformat(game.ended_at).timestamp() for game in store.newest_games(_PACE_GAMES, 0))
    return (max(ends) - min(ends)) / (len(ends) - 1) * games_left if len(ends) > 1 else None


def _model(folder: Path) -> ModelInfo:
    """Describe a network using its card. A damaged card is reported in `problem`."""
    try:
        return _described_model(folder, json.loads(_read_text(folder / "card.json")))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, StopIteration, RecursionError) as error:
        return ModelInfo(
            name=folder.name,
            agent=None,
            algorithm="",
            rules="",
            weights=0,
            bytes=0,
            games=0,
            cpu_minutes=0.0,
            command="",
            elo=None,
            elo_error=None,
            matches=[],
            card="",
            problem=f"the model card is damaged: {type(error).__name__} {error}"[:_MAX_PROBLEM],
        )


def _described_model(folder: Path, card: Mapping[str, Any]) -> ModelInfo:
    run, strength = card.get("run") or {}, card.get("strength") or {}
    algorithm = str(run.get("algorithm", ""))
    return ModelInfo(
        name=folder.name,
        agent=f"{network_player(algorithm, 'model')}:model={folder.name}",
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
        conditions=match["conditions"].replace("`", ""),  # text of the card, which is Markdown
    )


def _paper(folder: Path) -> PaperInfo:
    readme = _read_text(folder / "README.md")
    heading = next((line for line in readme.splitlines() if line.startswith("# ")), f"# {folder.name}")
    return PaperInfo(
        name=folder.name,
        title=heading.removeprefix("# ").strip(),
        source=_source(readme),
        readme=readme,
        documents=[
            Document(name=path.name, text=_read_text(path))
            for path in sorted((folder / "results").glob("*.md"))[:_MAX_DOCUMENTS]
        ],
        figures=[path.name for path in _figures(folder / "results")],
    )


def _source(readme: str) -> str:
    """Return the paragraph "Source: …" of a paper's page without Markdown and without the address at its end."""
    paragraphs = (" ".join(paragraph.split()) for paragraph in readme.split("\n\n"))
    found = next((text for text in paragraphs if text.startswith("Source: ")), "")
    return found.removeprefix("Source: ").partition(", <")[0].replace("*", "")


def _figures(folder: Path) -> list[Path]:
    """Return the pictures in a folder; an SVG file replaces the PNG file of the same name."""
    found = sorted(path for path in folder.glob("*") if path.suffix in _FIGURES and path.is_file())
    return [path for path in found if path.suffix == ".svg" or path.with_suffix(".svg") not in found]

"""Tournaments: files, resuming, sequential tests, kills, hostile engines."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest

from tengen.arena import openings
from tengen.arena.adjudication import Adjudication, ProofTrust
from tengen.arena.entrant import Entrant
from tengen.arena.match import Ending, TimeControl
from tengen.arena.schedule import TournamentFormat
from tengen.arena.sprt import EloModel, Hypothesis, Sprt
from tengen.arena.standings import collect
from tengen.arena.store import GameStore
from tengen.arena.tournament import OpeningSettings, Progress, Tournament, describe, play
from tengen.arena.tournament_file import load
from tengen.core.contracts import Agent, Outcome, Ruleset
from tengen.core.position import Position
from tengen.errors import AgentError, InputError
from tests.arena import killing
from tests.protocols.engines import engine_text

NINE = Ruleset.parse("9x9:5:freestyle")


def make_tournament(*agents: str, **options: object) -> Tournament:
    players = tuple(Entrant(agent=agent) for agent in agents)
    return Tournament(rules=(NINE,), players=players, **options)  # type: ignore[arg-type]


# -- files -----------------------------------------------------------------------------------------------------------

FULL = """
name = "All of it"
rules = ["15x15:5:renju", "9x9"]
format = "gauntlet"
challengers = 2
rounds = 7
games = 20
seed = 5
concurrency = 2
affinity = true
database = "games/here.db"
report = "report"
players = [
  "random",
  { agent = "alphabeta", name = "engine", anchor = 1500, memory_mb = 300, limits = { nodes = 1000, threads = 2 } },
  { agent = "naive:level=1" },
]

[limits]
time_ms = 1000
match_ms = 60000
increment_ms = 10
tolerance_ms = 200

[openings]
file = "openings.txt"
files = { "9x9:5:freestyle" = "small.txt" }
shuffle = true
transform = true

[adjudication]
proofs = "both"
max_moves = 200
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "cup.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_can_set_every_key(tmp_path: Path) -> None:
    tournament, run = load(write(tmp_path, FULL))
    assert tournament == Tournament(
        name="All of it",
        rules=(Ruleset.parse("15x15:5:renju"), NINE),
        format=TournamentFormat.GAUNTLET,
        challengers=2,
        rounds=7,
        games=20,
        seed=5,
        players=(
            Entrant(agent="random"),
            Entrant(
                agent="alphabeta",
                name="engine",
                anchor=1500.0,
                memory_mb=300,
                limits=TimeControl(nodes=1000, threads=2),
            ),
            Entrant(agent="naive:level=1"),
        ),
        limits=TimeControl(time_ms=1000, match_ms=60000, increment_ms=10, tolerance_ms=200),
        openings=OpeningSettings(
            file=tmp_path / "openings.txt",
            files={"9x9:5:freestyle": tmp_path / "small.txt"},
            shuffle=True,
            transform=True,
        ),
        adjudication=Adjudication(proofs=ProofTrust.BOTH, max_moves=200),
    )
    assert (run.concurrency, run.affinity) == (2, True)
    assert (run.database, run.report) == (tmp_path / "games" / "here.db", tmp_path / "report")
    assert tournament.names() == ["random", "engine", "naive:level=1"]


def test_a_short_file(tmp_path: Path) -> None:
    tournament, run = load(
        write(tmp_path, 'rules = "9x9"\nplayers = ["random", "random"]\n[sprt]\nelo0 = 0\nelo1 = 5\n')
    )
    assert tournament.names() == ["random", "random (2)"]
    assert tournament.sprt == Sprt(elo0=0, elo1=5)
    assert run.database == tmp_path / "cup.db"
    assert len(tournament.schedule()) == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('rule = "9x9"\nplayers = []', "unknown key rule .*did you mean 'rules'"),
        ('players = ["random", "chains"]', "rules is missing"),
        ('rules = "9x9"\nplayers = ["random"]', "two players, not 1"),
        ('rules = "9x99"\nplayers = ["random", "chains"]', r"rules\[0\]: .*99"),
        ('rules = "9x9"\nplayers = ["random", {name = "x"}]', r"players\[1\].agent is missing"),
        ('rules = "9x9"\nplayers = ["random", {agent = "chains", elo = 3}]', r"unknown key players\[1\].elo"),
        ('rules = "9x9"\nplayers = ["random", "chains"]\nrounds = "3"', "rounds = '3' is not an integer"),
        ('rules = "9x9"\nplayers = ["random", "chains"]\nrounds = true', "rounds = True is not an integer"),
        ('rules = "9x9"\nplayers = ["random", "chains"]\naffinity = 1', "affinity = 1 is not true or false"),
        ('rules = "9x9"\nplayers = ["random", "chains"]\nformat = "cup"', "format = 'cup' is not one of round-robin"),
        ('rules = "9x9"\nplayers = ["random", "chains"]\nlimits = 3', "limits = 3 is not a table"),
        ('rules = "9x9"\nplayers = ["random", "chains"]\n[limits]\ntime = 3', "unknown key limits.time .*time_ms"),
        (
            'rules = "9x9"\nplayers = ["random", "chains"]\n[limits]\ntime_ms = 0',
            "limits: limit time_ms must be at least 1",
        ),
        ('rules = "9x9"\nplayers = ["random", "chains"]\nconcurrency = 0', "concurrency must be at least 1, not 0"),
        ('rules = "9x9"\nplayers = ["random", "chains"]\nrounds = -1', "rounds must be at least 1, not -1"),
        ('rules = "9x9"\nplayers = ["random", "chains"]\ngames = 0', "games must be at least 1, not 0"),
        ('rules = "9x9"\nplayers = ["random", "chains"]\ngames = -3', "games must be at least 1, not -3"),
        (
            'rules = "9x9"\nplayers = ["random", "chains"]\n[openings]\nstones = -1',
            "openings: stones must be at least 0, not -1",
        ),
        (
            'rules = "9x9"\nplayers = ["random", {agent = "chains", memory_mb = 0}]',
            r"players\[1\]: memory_mb must be at least 1",
        ),
        ('rules = ["9x9", "9x9"]\nplayers = ["random", "chains"]', "listed only once"),
        ('rules = "9x9"\nplayers = ["a", "b", "c"]\n[sprt]\nelo0 = 0\nelo1 = 5', "exactly two players, not 3"),
        (
            'rules = "9x9"\nplayers = [{agent = "a", name = "x"}, {agent = "b", name = "x"}]',
            "two players are called 'x'",
        ),
        ("rules = ", "Invalid value"),
        pytest.param("rules = " + 100_000 * "[", "nested too deeply", id="deep"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=words) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        load(tmp_path / "none.toml")
    large = write(tmp_path, "#" * (1 << 20) + "#")
    with pytest.raises(InputError, match="larger than"):
        load(large)


# -- playing ---------------------------------------------------------------------------------------------------------


def test_a_tournament_is_played_and_kept(tmp_path: Path) -> None:
    tournament = make_tournament("random", "rule-based", "chains", rounds=2)
    heard: list[int] = []
    with GameStore(tmp_path / "games.db") as store:
        progress = play(tournament, store, concurrency=2, on_result=lambda now: heard.append(now.tally.games))
        assert (progress.total, progress.played_now, len(store)) == (12, 12, 12)
        assert heard == list(range(1, 13))
        assert store.setting("games") == 12
        meetings = {(score.first, score.second) for score in store.scores()}
        assert meetings == {(a, b) for a in range(3) for b in range(3) if a != b}
        standings = collect([store])
        # Playing again finds nothing to do.
        assert play(tournament, store).played_now == 0
    assert standings.names == ["random", "rule-based", "chains"]
    assert standings.tally.of(0).losses == 8
    assert standings.ratings[NINE.name].elo.argmin() == 0
    assert all(times.moves > 0 for times in standings.times)


def test_only_missing_games_are_played(tmp_path: Path) -> None:
    tournament = make_tournament("naive", "chains", rounds=4)
    with GameStore(tmp_path / "whole.db") as whole, GameStore(tmp_path / "part.db") as part:
        play(tournament, whole)
        kept = [stored for stored in whole.games() if stored.game.number in (1, 4, 5)]
        for stored in kept:
            part.add(stored.game, stored.result)
        assert play(tournament, part).played_now == 5
        assert [(s.game, s.result.moves) for s in part.games()] == [(s.game, s.result.moves) for s in whole.games()]


def test_another_tournament_is_not_mixed_in(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        play(make_tournament("random", "chains"), store)
        with pytest.raises(InputError, match=r"changed settings: name, seed \(name was tournament\).*`tengen ratings`"):
            play(make_tournament("random", "chains", rounds=2, seed=1, name="other"), store)
        with pytest.raises(InputError, match=r"changed settings: players \(player 2 was chains\)"):
            play(make_tournament("random", "naive", "chains"), store)


def test_added_players_and_rounds_play_only_their_games(tmp_path: Path) -> None:
    def grow(*agents: str, **options: object) -> list[tuple[int, int, int]]:
        with GameStore(tmp_path / "cup.db") as store:
            before = {stored.game.number: stored for stored in store.games()}
            progress = play(make_tournament(*agents, **options), store)
            after = {stored.game.number: stored for stored in store.games()}
            assert progress.total == len(after) == store.games_planned()
            assert progress.played_now == len(after) - len(before)
            assert {number: after[number] for number in before} == before
            assert [player.name for player in store.players()] == list(agents)
            assert play(make_tournament(*agents, **options), store).played_now == 0
            return [(one.game.round, one.game.first, one.game.second) for one in after.values()]

    grow("random", "chains", rounds=1)
    grow("random", "chains", rounds=2)
    grow("random", "chains", "naive", rounds=2)
    grow("random", "chains", "naive", rounds=3)
    played = grow("random", "chains", "naive", "rule-based", rounds=4)
    everyone = range(4)
    assert sorted(played) == [(r, a, b) for r in range(4) for a in everyone for b in everyone if a != b]
    with GameStore(tmp_path / "cup.db") as store:
        openings = {stored.game.round: set[object]() for stored in store.games()}
        for stored in store.games():
            openings[stored.game.round].add(stored.game.opening)
        assert all(len(one) == 1 for one in openings.values())  # added players play the openings of the others
        for smaller in (
            make_tournament("random", "chains", "naive", "rule-based", rounds=3),
            make_tournament("random", "chains", "naive", rounds=4),
            make_tournament("random", "chains", "naive", "rule-based", rounds=4, games=10),
        ):
            with pytest.raises(InputError, match="can only grow"):
                play(smaller, store)


def test_an_interrupted_tournament_can_grow(tmp_path: Path) -> None:
    with GameStore(tmp_path / "cup.db") as store:
        with pytest.raises(StopHereError):
            play(make_tournament("random", "chains", rounds=3), store, on_result=_stop)
        assert play(make_tournament("random", "chains", "naive", rounds=3), store).total == 18
        assert store.numbers() == set(range(18))


def _stop(_: Progress) -> None:
    raise StopHereError


def test_a_swiss_tournament_gets_more_rounds_but_no_players(tmp_path: Path) -> None:
    swiss = {"format": TournamentFormat.SWISS}
    with GameStore(tmp_path / "cup.db") as store:
        play(make_tournament("random", "chains", "naive", "rule-based", rounds=1, **swiss), store)
        assert (
            play(make_tournament("random", "chains", "naive", "rule-based", rounds=2, **swiss), store).played_now == 4
        )
        with pytest.raises(InputError, match=r"changed settings: players.*in a Swiss tournament, only rounds"):
            play(make_tournament("random", "chains", "naive", "rule-based", "uct:playouts=9", rounds=2, **swiss), store)


def test_a_store_without_games_is_taken_by_any_tournament(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        with pytest.raises(AgentError, match="nobody"):
            play(make_tournament("random", "nobody", "naive"), store)
        assert store.setting("tournament") is None
        store.set_players([Entrant(name=name, agent=name) for name in ("naive", "random", "chains")])
        store.set_setting("tournament", describe(make_tournament("naive", "random", "chains", seed=7)))
        assert play(make_tournament("random", "chains"), store).played_now == 2
        assert [player.name for player in store.players()] == ["random", "chains"]


def test_openings_are_known_by_their_stones_and_not_by_their_folder(tmp_path: Path) -> None:
    here, there = tmp_path / "here" / "openings.txt", tmp_path / "there" / "openings.txt"
    for path in (here, there):
        path.parent.mkdir()
        path.write_text("9/freestyle/e5e6\n9/freestyle/e5f6\n")
    tournament = make_tournament("random", "chains", rounds=2, openings=OpeningSettings(file=here))
    moved = replace(tournament, openings=OpeningSettings(file=there))
    with GameStore(tmp_path / "whole.db") as whole, GameStore(tmp_path / "cut.db") as cut:
        play(tournament, whole)
        assert play(moved, whole).played_now == 0
        cut.set_players(whole.players())
        for name in ("tournament", "opening_files"):
            cut.set_setting(name, whole.setting(name))
        first = next(whole.games())
        cut.add(first.game, first.result)
        there.write_text("9/freestyle/e5e6\n9/freestyle/e5g6\n")
        with pytest.raises(InputError, match="contains games from different openings"):
            play(moved, cut)
        assert play(tournament, cut).played_now == 3


def count_judgements(monkeypatch: pytest.MonkeyPatch) -> list[Position]:
    """Return a list to which every judged candidate for an opening is added from now on."""
    judged: list[Position] = []
    judge = openings._is_decided

    def counting(agent: Agent, position: Position) -> bool:
        judged.append(position)
        return judge(agent, position)

    monkeypatch.setattr(openings, "_is_decided", counting)
    return judged


class StopHereError(Exception):
    pass


def test_openings_are_made_when_they_are_needed_and_never_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tournament = make_tournament("random", "chains", rounds=12, openings=OpeningSettings(transform=True))
    monkeypatch.setattr("tengen.arena.openings._BATCH", 2)
    judged = count_judgements(monkeypatch)
    needed: list[int] = []

    def stop_after(progress: Progress, games: int) -> None:
        if progress.played_now == games:
            raise StopHereError

    with GameStore(tmp_path / "whole.db") as whole:
        play(tournament, whole)
        unbroken = [(stored.game, stored.result.moves) for stored in whole.games()]
        candidates = len(judged)
    for games in (5, 9, None):
        judged.clear()
        with GameStore(tmp_path / "cut.db") as cut:
            if games is None:
                play(tournament, cut)
            else:
                with pytest.raises(StopHereError):
                    play(tournament, cut, on_result=partial(stop_after, games=games))
            needed.append(len(judged))
            made = len(cut.openings(NINE))
            # A worker holds a few games in advance, and openings are made in batches.
            assert made <= 12 if games is None else made <= (len(cut) + 5) // 2 + 1
    with GameStore(tmp_path / "cut.db") as cut:
        assert [(stored.game, stored.result.moves) for stored in cut.games()] == unbroken
    assert sum(needed) == candidates
    assert all(needed)


def test_a_store_of_an_earlier_version_is_resumed(tmp_path: Path) -> None:
    tournament = make_tournament("random", "chains", rounds=3)
    with GameStore(None) as whole, GameStore(tmp_path / "old.db") as old:
        play(tournament, whole)
        first = next(whole.games())
        old.set_players(whole.players())
        old.set_setting("tournament", whole.setting("tournament"))
        old.add(first.game, first.result)
        old.set_setting("openings", "0123456789abcdef")
        with pytest.raises(InputError, match="contains games from different openings"):
            play(tournament, old)
        old.set_setting("openings", tournament.schedule().digest_openings())
        assert play(tournament, old).played_now == 5
        assert [stored.game for stored in old.games()] == [stored.game for stored in whole.games()]


def test_openings_of_a_tournament_without_games_are_forgotten(tmp_path: Path) -> None:
    with GameStore(tmp_path / "games.db") as store:
        before = make_tournament("random", "chains", rounds=2, seed=1)
        assert [game.opening for game in before.schedule(store)]
        tournament = make_tournament("random", "chains", rounds=2, seed=2)
        play(tournament, store)
        assert [stored.game for stored in store.games()] == list(tournament.schedule())


def test_players_are_checked_before_the_first_game(tmp_path: Path) -> None:
    with GameStore(None) as store:
        with pytest.raises(AgentError, match="does not play 7x7:6"):
            play(Tournament(rules=(Ruleset(7, 7, 6),), players=(Entrant(agent="alphabeta"),) * 2), store)
        with pytest.raises(AgentError, match="nobody"):
            play(make_tournament("nobody", "random", seed=3), GameStore(None))
        for missing_player in (
            "brain:cmd=./none",
            f"brain:cmd={os.devnull}",
            "alphazero:run=nowhere",
            "alphabeta:weights=nowhere",
        ):
            with pytest.raises(AgentError) as caught:
                play(make_tournament("random", missing_player), store)
            assert str(caught.value).endswith(f"; paths in agent specifications are relative to {Path.cwd()}")
        with pytest.raises(AgentError, match="refused 'START 9'"):
            play(make_tournament("random", engine_text("refuses_start")), store)
        assert len(store) == 0
    missing = OpeningSettings(file=tmp_path / "none.txt")
    with pytest.raises(InputError, match=r"none\.txt"):
        play(make_tournament("random", "chains", openings=missing), GameStore(None))


def test_a_sequential_test_stops_the_match(tmp_path: Path) -> None:
    tournament = make_tournament("rule-based", "random", rounds=500, sprt=Sprt(elo0=0, elo1=200))
    path = tmp_path / "games.db"
    with GameStore(path) as store:
        progress = play(tournament, store, concurrency=2)
        assert progress.accepted is Hypothesis.H1
        assert 10 < progress.tally.games < 200
        # Pairs are complete, and the verdict is stored.
        assert 2 * sum(progress.tally.pairs_of(0, 1)) == progress.tally.games
    with GameStore(path) as store:
        again = play(tournament, store)
        assert (again.accepted, again.played_now) == (Hypothesis.H1, 0)


def test_a_decided_test_still_completes_its_pairs(tmp_path: Path) -> None:
    tournament = make_tournament("rule-based", "random", rounds=500, sprt=Sprt(elo0=0, elo1=200))
    with GameStore(None) as store:
        play(tournament, store)
        games = list(store.games())
        verdict = store.setting("verdict")
    with GameStore(tmp_path / "games.db") as store:
        for stored in games[:-1]:
            store.add(stored.game, stored.result)
        store.set_setting("verdict", verdict)
        assert play(tournament, store).played_now == 1
        assert store.numbers() == {stored.game.number for stored in games}


def test_own_limits_of_a_player() -> None:
    shallow = Entrant(agent="alphabeta:hash-mb=1", limits=TimeControl(nodes=100), name="shallow")
    deep = Entrant(agent="alphabeta:hash-mb=1")
    tournament = Tournament(rules=(NINE,), players=(shallow, deep), limits=TimeControl(nodes=2000))
    with GameStore(None) as store:
        play(tournament, store)
        standings = collect([store])
    assert 0 < 5 * standings.times[0].mean_nodes < standings.times[1].mean_nodes


def test_descriptions_are_plain_data() -> None:
    sprt = Sprt(elo0=0, elo1=5, model=EloModel.NORMALISED)
    found = describe(make_tournament("random", "chains", sprt=sprt, openings=OpeningSettings(file=Path("a/x.txt"))))
    assert found["rules"] == ["9x9:5:freestyle"]
    assert found["sprt"] == {"elo0": 0, "elo1": 5, "alpha": 0.05, "beta": 0.05, "model": "normalised"}
    assert found["openings"]["file"] == "x.txt"


# -- failures --------------------------------------------------------------------------------------------------------


def test_kills_lose_no_game_and_repeat_none(tmp_path: Path) -> None:
    """`python -m tests.arena.killing` is a longer version."""
    outcome = killing.play_through(tmp_path, kills=2, rounds=4, players=killing.PLAYERS[:2])
    assert outcome.kills >= 1
    assert outcome.games == outcome.planned == 8
    assert set(outcome.meetings.values()) == {1}
    assert len(outcome.meetings) == 8
    assert outcome.is_sound
    assert outcome.survivors == 0


def test_an_interrupt_leaves_games_and_no_process(tmp_path: Path) -> None:
    path = killing.write_tournament(tmp_path, 50)
    process = subprocess.Popen(killing.command(path), stderr=subprocess.PIPE, text=True)
    while killing.count_games(path.with_suffix(".db")) == 0:
        assert process.poll() is None
        time.sleep(0.01)
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=killing.PATIENCE_S)
    assert process.returncode == 130
    assert "pass --resume to continue" in message
    assert psutil.wait_procs(children, timeout=killing.PATIENCE_S)[1] == []
    assert killing.count_games(path.with_suffix(".db")) > 0


SOON = {"tolerance_ms": 300}
HOSTILE = {
    engine_text("crash_at_start"): Ending.CRASH,
    engine_text("crash_at_move", 2): Ending.CRASH,
    engine_text("killed_by_signal"): Ending.CRASH,
    engine_text("silent", **SOON): Ending.TIMEOUT,
    engine_text("off_board"): Ending.ILLEGAL,
    engine_text("occupied"): Ending.ILLEGAL,
    engine_text("two_squares"): Ending.PROTOCOL,
    engine_text("flood"): Ending.FLOOD,
    engine_text("closes_stdout"): Ending.CLOSED,
    engine_text("memory_hog"): Ending.MEMORY,
    engine_text("forks_children"): Ending.CRASH,
}
GOOD = (engine_text("random_mover", 1), engine_text("garbage"))


def test_hostile_engines_lose_and_the_tournament_goes_on() -> None:
    engines = (GOOD[0], GOOD[1], *HOSTILE)
    players = tuple(Entrant(agent=engine, memory_mb=100 if "memory_hog" in engine else None) for engine in engines)
    control = TimeControl(time_ms=300, tolerance_ms=30_000)
    tournament = Tournament(
        rules=(Ruleset.parse("15x15:5:freestyle"),),
        players=players,
        format=TournamentFormat.GAUNTLET,
        limits=control,
        adjudication=Adjudication(max_moves=40),
    )
    here = psutil.Process(os.getpid())
    with GameStore(None) as store:
        descriptors = here.num_fds()
        progress = play(tournament, store, concurrency=2)
        assert here.num_fds() <= descriptors + 3  # multiprocessing starts its resource tracker once
        assert progress.tally.games == 24
        for stored in store.games():
            opponent = stored.game.second if stored.game.first == 0 else stored.game.first
            expected = HOSTILE.get(engines[opponent])
            if expected is None:
                assert not stored.result.ending.is_forfeit, stored.result.detail
                continue
            assert stored.result.ending is expected, (engines[opponent], stored.result.detail)
            assert stored.result.winner_seat == stored.game.players.index(0)
    assert marked_engines() == []


def marked_engines() -> list[psutil.Process]:
    """Return the fake engines that are still running."""
    found = []
    for process in psutil.process_iter():
        try:
            is_engine = process.environ().get("TENGEN_WORKER") and process.status() != psutil.STATUS_ZOMBIE
            if is_engine and any("tests/fake_engines" in word for word in process.cmdline()):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def test_outcomes_of_forfeits_are_losses() -> None:
    with GameStore(None) as store:
        progress: Progress = play(make_tournament("random", engine_text("crash_at_start")), store)
        assert {score.outcome for score in store.scores()} == {Outcome.BLACK, Outcome.WHITE}
    assert progress.tally.forfeits == {(1, Ending.CRASH): 2}

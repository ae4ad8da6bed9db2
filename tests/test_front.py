"""The functions of `tengen` itself: cheap to import, rulesets as text, players as objects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tengen
from tengen.arena.match import play_game
from tengen.core.contracts import Decision
from tengen.core.opening_procedure import OpeningState
from tengen.errors import AgentNameError, InputError, NotationError, RecordError, RulesetError
from tengen.records import GameRecord, load, save

WIN = "h8a1i8a2j8a3"


def first(position: tengen.Position) -> tengen.Point:
    return position.legal_points()[0]


def test_the_front_is_imported_on_first_use() -> None:
    code = "import sys, tengen; print('tengen.front' in sys.modules, 'tengen.records' in sys.modules); tengen.threats"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
    assert set(tengen.__all__) <= set(dir(tengen))
    with pytest.raises(AttributeError, match="has no attribute 'analyze'"):
        tengen.analyze  # noqa: B018


def test_rulesets_can_be_text() -> None:
    assert tengen.Position.start("9x9").ruleset == tengen.Ruleset(9, 9)
    assert tengen.Position.start().ruleset == tengen.Ruleset()
    assert tengen.Position.from_stones("renju", black=["h8"]).ruleset.rule == "renju"
    assert tengen.Position.from_moves("6x6:4", "a1b1").stones == 2
    assert tengen.Position.parse(str(tengen.Position.start("5x5:4")), "5x5:4:standard").ruleset.rule == "standard"
    assert OpeningState.start("15x15:5:freestyle:swap2").position.ruleset.opening == "swap2"
    agents = (tengen.make_agent("random"), tengen.make_agent("naive"))
    assert play_game("9x9", agents).outcome.value in ("black", "white", "draw")
    with pytest.raises(NotationError, match="not a ruleset: 'reversi'"):
        tengen.Position.start("reversi")


def test_a_game_yields_its_positions(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    moves = [tengen.Point(name) for name in ("h8", "i9", "h9")]
    save(path, [GameRecord.from_points(tengen.Ruleset(), moves), GameRecord.from_points(tengen.Ruleset(), moves[:1])])
    game = tengen.load_game(path)
    assert [position.last_move for position in game] == [None, *moves]
    assert tengen.load_game(path, number=2).position().stones == 1
    assert load(path, ruleset="15x15")[0].position().stones == 3
    save(path, game)
    assert len(load(path)) == 1
    for number in (3, 0, -1):
        with pytest.raises(RecordError, match=rf"has no game {number}"):
            tengen.load_game(path, number=number)


def test_positions_and_games_draw_themselves() -> None:
    position = tengen.Position.from_moves("15x15", WIN)
    assert position._repr_svg_() == position.to_svg()
    assert position.to_svg().count("<circle") == 6 + 5 + 1
    assert ">6</text>" in position.to_svg(numbers=True, coordinates=False)
    assert position.to_png().startswith(b"\x89PNG")
    game = GameRecord.from_points(position.ruleset, position.moves)
    assert game._repr_svg_() == position.to_svg(numbers=True)
    assert game.to_png() == position.to_png(numbers=True)


def test_analyse_streams_and_ends() -> None:
    position = tengen.Position.from_moves("15x15", WIN)
    depths = [snapshot.depth for snapshot in tengen.analyse(position, depth=3)]
    assert depths == sorted(depths)
    running = tengen.analyse(position, "rule-based", lines=2)
    assert "makes an open four" in running.final().lines[0].reason
    with pytest.raises(InputError, match="the analysis has ended"):
        running.final()
    assert tengen.analyse(position, first).final().lines[0].move == "b1"
    with pytest.raises(AgentNameError, match="unknown agent"):
        tengen.analyse(position, "nobody").final()


AGENTS = ["random", "chains", "alphabeta", "fudan:depth=1", "uct:playouts=50", "hmcts:playouts=50", "adp",
          "alphazero:model=9x9,simulations=8", "policy:model=9x9"]  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_analyses(agent: str) -> None:
    position = tengen.Position.from_moves("9x9", "e5d5")
    last = tengen.analyse(position, agent, nodes=500, depth=2).final()
    assert position.is_legal(last.lines[0].move)


def test_threats_and_wins() -> None:
    position = tengen.Position.from_moves("15x15", WIN)
    assert "open three h8-i8-j8" in str(tengen.threats(position))
    win = tengen.find_win(position)
    assert win is not None
    assert win.attacker == "black"
    assert tengen.find_win(tengen.Position.start("15x15"), time_ms=200) is None
    assert tengen.find_win(position, for_side="white", time_ms=200) is None
    with pytest.raises(RulesetError, match="win length must be 4 or 5"):
        tengen.threats(tengen.Position.start("3x3:3"))


def test_a_match_has_elo_an_interval_and_games() -> None:
    result = tengen.play_match("naive:level=3", "random", rules="9x9", games=10, seed=1)
    assert (result.wins, result.draws, result.losses, result.score) == (10, 0, 0, 1)
    low, high = result.elo_interval
    assert low < result.elo <= high
    assert result.elo > 100
    assert len(result.games) == 10
    assert result.games[0].ruleset == tengen.Ruleset(9, 9)
    assert "naive:level=3 against random, 9x9:5:freestyle, 10 games" in str(result)
    again = tengen.play_match("naive:level=3", "random", rules="9x9", games=10, seed=1)
    assert [game.moves() for game in again.games] == [game.moves() for game in result.games]


def test_objects_play_matches() -> None:
    class Last(tengen.Agent):
        closed = 0

        def choose(self, position: tengen.Position, limits: tengen.Limits) -> Decision:
            return Decision(move=position.legal_points()[-1])

        def close(self) -> None:
            Last.closed += 1

    mine = Last()
    result = tengen.play_match(mine, first, rules="9x9", games=2)
    assert (result.a, result.b) == ("Last", "first")
    assert result.wins + result.losses == 2
    assert Last.closed == 0
    tengen.play_match(Last, "random", rules="9x9", games=2)
    assert Last.closed > 0


def test_worker_processes_play_a_match_of_functions() -> None:
    result = tengen.play_match(first, "random", rules="9x9", games=2, concurrency=1)
    assert result.wins + result.draws + result.losses == 2


def test_ratings_are_relative_to_the_anchor() -> None:
    rated = tengen.rate(["random", "naive:level=3", first], rules="9x9", games=6, anchor="random")
    assert rated[0].name == "naive:level=3"
    assert next(one.elo for one in rated if one.name == "random") == 0
    assert {one.games for one in rated} == {12}
    assert str(rated).splitlines()[0].startswith("naive:level=3")
    with pytest.raises(InputError, match="the anchor 'chains' is not one of the players"):
        tengen.rate(["random", "naive"], anchor="chains")


def test_training_from_python(tmp_path: Path) -> None:
    settings = {"iterations": 1, "self_play.games": 4, "self_play.parallel": 4, "search.simulations": 4,
                "net.channels": 8, "net.blocks": 1, "learner.batch": 16, "strength.every": 0}  # fmt: skip
    folder = tmp_path / "run"
    run = tengen.train("alphazero", "6x6x4", run=folder, settings=settings, minutes=0, quiet=True)
    assert run.agent == f'alphazero:run="{folder}"'
    assert run.is_finished()
    longer = tengen.train(run=folder, settings={"iterations": 2}, resume=True, quiet=True)
    assert longer.metrics()[-1]["iteration"] == 2
    with pytest.raises(InputError, match=r"unknown key net\.chanels"):
        tengen.train("alphazero", "6x6x4", run=tmp_path / "other", settings={"net.chanels": 8})

"""Games of the engine against itself: legal, reproducible, and resumed without mixing runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tengen import _native
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError, RecordError
from tengen.search.weights import save_weights, weights_for
from tengen.tuning.engine_games import EngineGame, EngineGamesConfig, generate_games, read_games

FREESTYLE = Ruleset(9, 9)
RENJU = Ruleset.parse("9x9:5:renju")


def replay(game: EngineGame) -> Position:
    position = Position.start(game.ruleset)
    for move in game.moves:
        position = position.play(move)
    return position


@pytest.mark.parametrize("text", ["9x9:5:freestyle", "9x9:5:renju", "6x6:4:freestyle", "8x11:5:caro"])
def test_games_are_legal_and_have_values(tmp_path, text):
    path = tmp_path / "games.jsonl"
    config = EngineGamesConfig(ruleset=Ruleset.parse(text), games=4, nodes=50)
    assert generate_games(path, config) == 0
    games = list(read_games(path))
    assert [game.number for game in games] == [0, 1, 2, 3]
    for game in games:
        end = replay(game)
        assert 1 <= game.first < len(game.moves)
        assert len(game.values) == len(game.moves) - game.first
        assert game.outcome is not Outcome.ONGOING
        if end.is_over:
            assert end.outcome is game.outcome
        elif game.outcome is not Outcome.DRAW:
            # The last search proved it.
            mover = end.to_move.opponent
            assert _native.is_proved(game.values[-1])
            assert game.outcome.winner is (mover if game.values[-1] > 0 else mover.opponent)


def test_games_can_be_played_to_the_end(tmp_path):
    proved, ended, noisy = (tmp_path / name for name in ("proved.jsonl", "ended.jsonl", "noisy.jsonl"))
    config = EngineGamesConfig(ruleset=FREESTYLE, games=6, nodes=40)
    generate_games(proved, config)
    generate_games(ended, replace(config, to_the_end=True, begun=proved))
    for begun, game in zip(read_games(proved), read_games(ended), strict=True):
        assert game.moves[: len(begun.moves)] == begun.moves
        assert game.first == begun.first
        end = replay(game)
        assert end.is_over or game.outcome is Outcome.DRAW
        assert len(game.values) == len(game.moves) - game.first
    generate_games(noisy, replace(config, to_the_end=True, noise=1.0))
    assert [game.moves for game in read_games(noisy)] != [game.moves for game in read_games(ended)]
    with pytest.raises(InputError, match="only be played to the end"):
        replace(config, begun=proved)
    with pytest.raises(InputError, match=r"9x9:5:freestyle, not 9x9:5:renju"):
        generate_games(tmp_path / "other.jsonl", replace(config, ruleset=RENJU, to_the_end=True, begun=proved))


def test_a_run_goes_on_where_it_was(tmp_path):
    config = EngineGamesConfig(ruleset=FREESTYLE, games=5, nodes=40)
    whole, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    generate_games(whole, config)
    generate_games(cut, replace(config, games=2))
    # A killed run leaves part of a line behind.
    with open(cut, "ab") as file:
        file.write(b'{"game":2,"rule')
    heard = []
    assert generate_games(cut, config, on_game=lambda game: heard.append(game.number)) == 2
    assert heard == [2, 3, 4]
    assert cut.read_bytes() == whole.read_bytes()
    assert generate_games(cut, config) == 5


def test_workers_play_the_same_games(tmp_path):
    config = EngineGamesConfig(ruleset=FREESTYLE, games=5, nodes=40)
    alone, together = tmp_path / "alone.jsonl", tmp_path / "together.jsonl"
    generate_games(alone, config)
    generate_games(together, config, workers=2)
    assert sorted(alone.read_bytes().splitlines()) == sorted(together.read_bytes().splitlines())


def test_another_seed_gives_other_games(tmp_path):
    paths = [tmp_path / f"{seed}.jsonl" for seed in (1, 2)]
    for seed, path in enumerate(paths, 1):
        generate_games(path, EngineGamesConfig(ruleset=FREESTYLE, games=2, nodes=40, seed=seed))
    assert [game.moves for game in read_games(paths[0])] != [game.moves for game in read_games(paths[1])]


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ({"nodes": 41}, "nodes 40, not 41"),
        ({"seed": 9}, "seed 1, not 9"),
        ({"to_the_end": True}, "end None, not True"),
        ({"noise": 0.5}, "noise None, not 0.5"),
        ({"max_opening_value": 300}, "opening None, not 300"),
    ],
)
def test_runs_are_not_mixed(tmp_path, setting, named):
    config = EngineGamesConfig(ruleset=FREESTYLE, games=1, nodes=40)
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    generate_games(first, config)
    with pytest.raises(InputError, match=named):
        generate_games(first, replace(config, games=2, **setting))
    generate_games(second, replace(config, **setting))
    with pytest.raises(InputError, match=f"{named.split()[0]} .*, not "):
        generate_games(second, replace(config, games=2))


def test_games_of_another_network_are_not_gone_on_with(tmp_path):
    path, whole, linear = tmp_path / "games.jsonl", tmp_path / "whole.npz", tmp_path / "linear.npz"
    weights = weights_for(FREESTYLE)
    assert weights.net is not None
    save_weights(whole, weights)
    save_weights(linear, _native.Weights(weights.points, weights.threats, weights.attack, weights.defence))
    config = EngineGamesConfig(ruleset=FREESTYLE, games=1, nodes=40)
    generate_games(path, config)
    assert generate_games(path, replace(config, weights=whole)) == 1
    with pytest.raises(InputError, match="played with weights"):
        generate_games(path, replace(config, weights=linear))


def test_games_of_another_beginning_are_not_gone_on_with(tmp_path):
    begun, ended = tmp_path / "begun.jsonl", tmp_path / "ended.jsonl"
    config = EngineGamesConfig(ruleset=FREESTYLE, games=1, nodes=40)
    generate_games(begun, config)
    generate_games(ended, replace(config, to_the_end=True, begun=begun))
    begun.unlink()
    generate_games(begun, replace(config, seed=2))
    with pytest.raises(InputError, match="line 1 does not continue the game"):
        generate_games(ended, replace(config, to_the_end=True, begun=begun))


def test_a_folder_that_is_not_there_is_found_out_before_a_game(tmp_path):
    with pytest.raises(InputError, match=r"cannot write .*games\.jsonl: No such file"):
        generate_games(
            tmp_path / "none" / "games.jsonl",
            EngineGamesConfig(ruleset=FREESTYLE, games=1, nodes=40),
            on_game=lambda _: pytest.fail("a game was played"),
        )


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("nonsense", "line 1 is not a valid engine game"),
        ('{"game":0,"ruleset":"9x9:5:freestyle","first":1,"moves":"e5e6","values":[1,2],"outcome":"draw"}', "2 values"),
        ('{"game":0,"ruleset":"9x9:5:freestyle","first":0,"moves":"","values":[],"outcome":"lost"}', "lost"),
        ("[" * 10_000, "line 1 is not a valid engine game"),
        (
            '{"game":0,"ruleset":"9x9:5:freestyle","first":0,"moves":"e5k1","values":[1,2],"outcome":"draw"}',
            "k1 is not",
        ),
        (
            '{"game":0,"ruleset":"9x9:5:freestyle","first":0,"moves":"e5e5","values":[1,2],"outcome":"draw"}',
            "two moves",
        ),
        ('{"game":0,"ruleset":"9x9:5:freestyle","first":0,"moves":"e5","values":[1e300],"outcome":"draw"}', "a value"),
        (
            '{"game":0,"ruleset":"9x9:5:freestyle","first":0,"moves":"e5","values":[Infinity],"outcome":"draw"}',
            "line 1",
        ),
        ('{"game":0,"ruleset":"9x9:5:freestyle","first":0,"moves":["e5"],"values":[1],"outcome":"draw"}', "line 1"),
    ],
)
def test_damaged_lines_are_refused(tmp_path, line, named):
    path = tmp_path / "games.jsonl"
    path.write_text(line + "\n", encoding="ascii")
    with pytest.raises(RecordError, match=named):
        list(read_games(path))


def test_bad_settings_are_refused(tmp_path):
    with pytest.raises(InputError, match="3x3:3:freestyle"):
        EngineGamesConfig(ruleset=Ruleset(3, 3, 3), games=1)
    with pytest.raises(InputError, match="at least 1"):
        EngineGamesConfig(ruleset=FREESTYLE, games=0)
    with pytest.raises(RecordError, match="nowhere"):
        list(read_games(tmp_path / "nowhere.jsonl"))

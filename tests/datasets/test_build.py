"""From games of every format to a data set: what is kept, what is skipped, and who is told."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tengen.core.contracts import Outcome, Ruleset
from tengen.core.geometry import Point, parse_points
from tengen.core.position import Position
from tengen.core.symmetry import transform_point
from tengen.datasets.build import BuildConfig, build_dataset
from tengen.datasets.dataset import UNKNOWN, Dataset, Split
from tengen.errors import InputError
from tengen.records import GameRecord, save
from tests.conftest import ROOT

NINE = Ruleset(9, 9)
FIVE = "a1a2b1b2c1c2d1d2e1"


def random_games(count: int, seed: int = 3, ruleset: Ruleset = NINE) -> list[list[Point]]:
    rng = np.random.default_rng(seed)
    games = []
    for _ in range(count):
        position = Position.start(ruleset)
        while not position.is_over and position.stones < 20:
            points = position.legal_points()
            position = position.play(points[int(rng.integers(len(points)))])
        games.append(list(position.moves))
    return games


def write_games(path, games, ruleset: Ruleset = NINE, **header) -> None:
    save(path, [GameRecord.from_points(ruleset, moves, **header) for moves in games])


def points(dataset: Dataset, game: int) -> list[Point]:
    begin, end = dataset.starts[game : game + 2]
    return [Point.from_index(int(index), dataset.ruleset.width) for index in dataset.moves[begin:end]]


@pytest.mark.parametrize("name", ["games.sgf", "games.jsonl", "games.pos", "games.json", "games.jsonl.gz"])
def test_every_format_gives_the_same_games(tmp_path, name):
    games = random_games(6)
    write_games(tmp_path / name, games)
    config = BuildConfig(ruleset=NINE, keeps_duplicates=True)
    dataset = build_dataset([tmp_path / name], tmp_path / "set", config)
    assert [points(dataset, game) for game in range(6)] == games
    assert len(dataset) == sum(map(len, games))
    assert dataset.description["skipped"] == {}


def test_a_folder_of_psq_games(tmp_path):
    games = random_games(4)
    folder = tmp_path / "gomocup"
    folder.mkdir()
    for number, moves in enumerate(games):
        write_games(folder / f"{number}.psq", [moves])
    (folder / "readme.md").write_text("no game")
    dataset = build_dataset([folder], tmp_path / "set", BuildConfig(ruleset=NINE))
    assert [points(dataset, game) for game in range(4)] == games


def test_a_database_of_renjunet(tmp_path):
    ruleset = Ruleset.parse("15x15:5:renju")
    source = ROOT / "tests" / "records" / "samples" / "database.rif"
    config = BuildConfig(ruleset=ruleset, keeps_duplicates=True)
    dataset = build_dataset([source], tmp_path / "set", config)
    assert ["".join(points(dataset, game)) for game in range(2)] == ["h8h9i8g8g9f7e6", "h8i9"]
    assert dataset.results.tolist() == [1, UNKNOWN]
    assert dataset.description["skipped"] == {
        "games without moves": 1,
        "duplicate games": 1,
        "games with invalid moves": 2,
        "games with other rules": 1,
    }
    assert dataset.description["keeps_duplicates"] is True


def test_what_cannot_be_used_is_counted_and_passed_over(tmp_path):
    good = random_games(2)
    lines = [
        *(json.dumps({"ruleset": "9x9:5:freestyle", "moves": "".join(moves)}) for moves in good),
        "no JSON at all",
        json.dumps({"ruleset": "9x9:5:freestyle", "moves": "e5e6e5"}),
        json.dumps({"ruleset": "9x9:5:freestyle", "moves": ""}),
        json.dumps({"ruleset": "9x9:5:freestyle", "moves": f"{FIVE}i9"}),
        json.dumps({"ruleset": "15x15:5:renju", "moves": "h8i9"}),
        json.dumps({"ruleset": "9x9:5:freestyle", "moves": "e5--f6"}),
        json.dumps({"size": 9, "rule": "freestyle", "black": ["e5"], "white": [], "to_move": "white", "moves": "f6"}),
    ]
    path = tmp_path / "games.jsonl"
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "broken.sgf").write_text("(;FF[4]GM[4]SZ[9];B[aa")
    dataset = build_dataset([path, tmp_path / "broken.sgf"], tmp_path / "set", BuildConfig(ruleset=NINE))
    assert [points(dataset, game) for game in range(2)] == good
    assert dataset.description["skipped"] == {
        "damaged lines": 2,
        "games without moves": 1,
        "games with an illegal move": 1,
        "games with other rules": 1,
        "games with passes or set-up stones": 2,
        "damaged files": 1,
    }
    assert any("line 3" in note for note in dataset.description["notes"])
    (damaged,) = dataset.description["damaged_files"]
    assert damaged.startswith(str(tmp_path / "broken.sgf"))


def test_the_games_before_the_damage_of_a_collection_are_used(tmp_path):
    path = tmp_path / "games.sgf"
    path.write_text("(;SZ[9];B[aa];W[bb])\n(;SZ[9];B[aa];W[cc])\n(;SZ[9];B[aa];W[aa])\n(;SZ[9];B[dd])")
    dataset = build_dataset([path], tmp_path / "set", BuildConfig(ruleset=NINE))
    assert [points(dataset, game) for game in range(len(dataset.starts) - 1)] == [["a9", "b8"], ["a9", "c7"]]
    (damaged,) = dataset.description["damaged_files"]
    assert "games.sgf: line 3, column 14: white plays a9" in damaged
    assert damaged.endswith("(games read before the damage: 2)")


def test_nothing_usable_is_an_error_that_says_why(tmp_path):
    (tmp_path / "games.pos").write_text("e5e5\n")
    with pytest.raises(InputError, match=r"no usable 9x9:5:freestyle game .*skipped damaged lines: 1"):
        build_dataset([tmp_path / "games.pos"], tmp_path / "set", BuildConfig(ruleset=NINE))
    (tmp_path / "broken.sgf").write_text("(;FF[4]GM[4]SZ[9];B[aa")
    with pytest.raises(InputError, match=r"damaged files: 1; .*broken\.sgf: "):
        build_dataset([tmp_path / "broken.sgf"], tmp_path / "set", BuildConfig(ruleset=NINE))


def test_a_source_that_does_not_exist_is_an_error(tmp_path):
    write_games(tmp_path / "games.sgf", random_games(2))
    with pytest.raises(InputError, match=r"missing\.sgf does not exist"):
        build_dataset([tmp_path / "games.sgf", tmp_path / "missing.sgf"], tmp_path / "set", BuildConfig(ruleset=NINE))
    assert not (tmp_path / "set").exists()


def test_a_foul_at_the_end_is_cut_off_and_elsewhere_spoils_the_game(tmp_path):
    ruleset = Ruleset.parse("15x15:5:renju")
    # The last stone makes two open threes.
    fouled = "h8a1i8a3j9a5j10a7j8"
    (tmp_path / "games.pos").write_text(f"15/renju/{fouled}\n15/renju/{fouled}o15\n")
    dataset = build_dataset([tmp_path / "games.pos"], tmp_path / "set", BuildConfig(ruleset=ruleset))
    assert [points(dataset, 0)] == [list(parse_points(fouled))[:-1]]
    assert dataset.description["skipped"] == {"games with an illegal move": 1}


def test_reflected_samples_are_duplicates(tmp_path):
    moves = list(parse_points("e5e6d4c3f7b2h8"))
    reflected = [[transform_point(point, symmetry, NINE) for point in moves] for symmetry in range(8)]
    # The same stones in another order are the same position.
    exchanged = [moves[2], moves[1], moves[0], *moves[3:]]
    write_games(tmp_path / "games.sgf", [*reflected, exchanged])
    config = BuildConfig(ruleset=NINE)
    dataset = build_dataset([tmp_path / "games.sgf"], tmp_path / "set", config)
    # Of the last game only the first three samples, where the order still shows, are new.
    assert len(dataset) == len(moves) + 3
    assert dataset.description["duplicates_removed"] == 9 * len(moves) - len(dataset)
    kept = BuildConfig(ruleset=NINE, keeps_duplicates=True)
    assert len(build_dataset([tmp_path / "games.sgf"], tmp_path / "all", kept)) == 9 * len(moves)


def test_games_are_split_whole_and_by_shares(tmp_path):
    write_games(tmp_path / "games.sgf", random_games(40))
    dataset = build_dataset([tmp_path / "games.sgf"], tmp_path / "set", BuildConfig(ruleset=NINE, seed=5))
    assert np.bincount(dataset.splits).tolist() == [32, 4, 4]
    found = [dataset.find(split) for split in Split]
    assert sorted(np.concatenate(found).tolist()) == list(range(len(dataset)))
    other = build_dataset([tmp_path / "games.sgf"], tmp_path / "other", BuildConfig(ruleset=NINE, seed=6))
    assert not np.array_equal(dataset.splits, other.splits)


def test_openings_are_marked_or_left_out(tmp_path):
    games = random_games(5)
    write_games(tmp_path / "games.sgf", games)
    marked = build_dataset([tmp_path / "games.sgf"], tmp_path / "a", BuildConfig(ruleset=NINE, opening_moves=4))
    parts = [sum(len(marked.find(split, openings=openings)) for split in Split) for openings in (True, False, None)]
    assert parts[0] + parts[1] == parts[2] == len(marked)
    config = BuildConfig(ruleset=NINE, opening_moves=4, skips_openings=True)
    assert len(build_dataset([tmp_path / "games.sgf"], tmp_path / "b", config)) == parts[1]


def test_stones_that_the_engine_was_given_are_no_samples(tmp_path):
    line = {
        "game": 0,
        "ruleset": "9x9:5:freestyle",
        "first": 3,
        "moves": "e5e6d5d6c4",
        "values": [1, 2],
        "outcome": "draw",
    }
    (tmp_path / "games.jsonl").write_text(json.dumps(line) + "\n")
    dataset = build_dataset([tmp_path / "games.jsonl"], tmp_path / "set", BuildConfig(ruleset=NINE, shares=(1, 0, 0)))
    assert dataset.samples.tolist() == [3, 4]
    assert dataset.results.tolist() == [0]


def test_filters(tmp_path):
    games = random_games(3)
    save(
        tmp_path / "games.jsonl",
        [
            GameRecord.from_points(NINE, games[0], black="Ann", white="Bob", result=Outcome.BLACK),
            GameRecord.from_points(NINE, games[1], black="Cid", white="Ann", result=Outcome.WHITE),
            GameRecord.from_points(NINE, games[2][:5], black="Bob", white="Cid"),
        ],
    )

    def build(number, **settings) -> Dataset:
        return build_dataset([tmp_path / "games.jsonl"], tmp_path / str(number), BuildConfig(ruleset=NINE, **settings))

    assert build(0).results.tolist() == [1, -1, UNKNOWN]
    assert len(build(1, player="ann").results) == 2
    assert build(2, results=("white",)).results.tolist() == [-1]
    assert len(build(3, min_moves=6).results) == 2
    with pytest.raises(InputError, match="won"):
        build(4, results=("won",))
    with pytest.raises(InputError, match="already"):
        build(0)

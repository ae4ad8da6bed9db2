"""Reports: tables, Markdown, HTML, JSON, pictures, and the live view."""

from __future__ import annotations

import errno
import io
import json
import os
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from tengen.arena import report
from tengen.arena.entrant import Entrant
from tengen.arena.live import LiveView
from tengen.arena.match import Ending, GameResult, Turn
from tengen.arena.match_report import match_lines, match_report
from tengen.arena.pictures import rating_figure
from tengen.arena.ratings import rate_tally
from tengen.arena.render import print_tables, to_html, to_markdown, write_report
from tengen.arena.schedule import ScheduledGame
from tengen.arena.sprt import Hypothesis, Sprt
from tengen.arena.standings import Standings, Times, collect
from tengen.arena.store import GameStore, Score
from tengen.arena.tally import Tally, Wdl
from tengen.arena.tournament import Progress, Tournament
from tengen.core.contracts import Outcome, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.plots import save_figure
from tengen.errors import InputError

NINE = Ruleset.parse("9x9:5:freestyle")
NAMES = ("Ann", "B|b <b>", "$Carl$")


def fill(store: GameStore, names: tuple[str, ...] = NAMES, rounds: int = 3, description: object = None) -> None:
    """Store games in which the earlier player wins as black and draws as white; the last game is a forfeit."""
    store.set_players([Entrant(name=name, agent=f"agent-{place}") for place, name in enumerate(names)])
    meetings = [(a, b) for _ in range(rounds) for a in range(len(names)) for b in range(a + 1, len(names))]
    store.set_setting("games", 2 * len(meetings))
    store.set_setting("tournament", description or {"name": "The cup"})
    for pair, (one, other) in enumerate(meetings):
        is_last = pair == len(meetings) - 1
        for half, (first, second) in enumerate(((one, other), (other, one))):
            game = ScheduledGame(
                number=2 * pair + half,
                ruleset=NINE,
                first=first,
                second=second,
                round=0,
                opening=parse_points("e5"),
                opening_number=0,
                seed=0,
            )
            outcome, ending = (Outcome.BLACK, Ending.FIVE) if half == 0 else (Outcome.DRAW, Ending.FULL_BOARD)
            if is_last and half == 1:
                outcome, ending = Outcome.WHITE, Ending.CRASH
            result = GameResult(
                outcome=outcome,
                ending=ending,
                detail="exit code <7>\nmore" if ending.is_forfeit else "",
                black_seat=0,
                moves=parse_points("e5e6e7"),
                turns=(Turn(2.0, 0.5, 100, 3), Turn(4.0, -0.5, 300, 5)),
            )
            store.add(game, result)


@pytest.fixture
def standings() -> Standings:
    with GameStore(None) as store:
        fill(store)
        return collect([store])


def test_standings_count_everything(standings: Standings) -> None:
    assert (standings.name, standings.names, standings.tally.games, standings.games_planned) == (
        "The cup",
        list(NAMES),
        18,
        18,
    )
    assert str(standings.tally.of(0)) == "+6 =6 -0"
    assert str(standings.tally.as_white(2)) == "+0 =0 -6"
    # White plays the second stone, black the third; each is at the board 12 times, half of them with white.
    assert [times.moves for times in standings.times] == [12, 12, 12]
    assert standings.times[0].mean_ms == 3.0
    assert standings.times[0].longest_ms == 4.0
    assert (standings.times[0].mean_nodes, standings.times[0].mean_depth) == (200, 4)
    (fault,) = standings.faults
    assert (fault.player, fault.opponent, fault.game, fault.detail) == (2, 1, 18, "exit code <7>")
    assert standings.by_strength(NINE.name) == [0, 1, 2]


def test_a_report_of_many_players_compares_the_strongest(standings: Standings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MAX_COMPARED", 2)
    found = {table.title.removesuffix(f", {NINE.name}"): table for table in report.tables(standings)}
    assert len(found["Ratings"].rows) == len(found["Colours"].rows) == 3
    for title in ("Crosstable", "Likelihood of superiority", "score(i, j)"):
        assert len(found[title].rows) == 2
        assert len(found[title].columns) == 3
        assert found[title].note.endswith("Only the strongest 2 of 3 players are shown.")
    ruleset = report.as_json(standings)["rulesets"][NINE.name]
    assert (len(ruleset["ratings"]), ruleset["players_compared"], len(ruleset["meetings"])) == (3, 2, 2)
    assert len(rating_figure(standings, NINE.name).axes[0].get_yticks()) == 2


def test_the_cells_of_a_report_grow_no_faster_than_the_players(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratings of many players look at no more pairs of players than the tables show."""
    looked_up = 0
    of = Tally.of

    def counting(self: Tally, player: int, other: int | None = None, ruleset: str | None = None) -> Wdl:
        nonlocal looked_up
        looked_up += 1
        return of(self, player, other, ruleset)

    monkeypatch.setattr(Tally, "of", counting)
    counts = []
    for players in (100, 200, 400):
        tally = Tally()
        for game in range(players):
            tally.add(Score(game, NINE.name, game, (game + 1) % players, 0, Outcome.BLACK, Ending.FIVE))
        names = [f"player {number}" for number in range(players)]
        times = [Times() for _ in names]
        ratings = {NINE.name: rate_tally(tally, players)}
        many = Standings("many", names, names, tally, times, [], ratings, {})
        looked_up = 0
        report.tables(many)
        report.as_json(many)
        counts.append(looked_up)
    assert counts[2] - counts[1] <= 2.1 * (counts[1] - counts[0])


def test_stores_are_joined_by_name() -> None:
    with GameStore(None) as one, GameStore(None) as other:
        fill(one, ("Ann", "Bob"))
        fill(other, ("Bob", "Carl"), description={"name": "Second", "players": [{"anchor": 1000.0}, {}]})
        standings = collect([one, other])
        assert standings.names == ["Ann", "Bob", "Carl"]
        assert standings.tally.of(1).games == 12
        assert standings.anchors == {1: 1000.0}
        assert standings.ratings[NINE.name].elo[1] == 1000
        assert sum(standings.tally.pairs_of(0, 1)) == sum(standings.tally.pairs_of(1, 2)) == 3
        assert collect([one, other], {"Ann": 2000.0}).anchors == {0: 2000.0, 1: 1000.0}
        with pytest.raises(InputError, match="no player is called 'Dan'"):
            collect([one], {"Dan": 1.0})


def test_split_pairs_are_not_pairs_of_draws() -> None:
    tally = Tally()
    # Pairs of games between players 0 and 1: black wins both, two draws, player 0 wins both, and half of another pair.
    for number, outcome in enumerate("bbddbwb"):
        first, second = (0, 1) if number % 2 == 0 else (1, 0)
        result = {"b": Outcome.BLACK, "w": Outcome.WHITE, "d": Outcome.DRAW}[outcome]
        tally.add(Score(number, NINE.name, first, second, 0, result, Ending.FIVE))
    assert tally.pairs_of(0, 1) == [0, 0, 2, 0, 1]
    assert tally.split_pairs_of(0, 1) == 1


def test_ratings_do_not_mix_limits() -> None:
    hundred = {"name": "fast", "limits": {"time_ms": 100, "threads": 1, "tolerance_ms": 1000}}
    thousand = {"name": "slow", "limits": {"time_ms": 1000, "tolerance_ms": 5}}
    own = {"name": "own", "limits": {"time_ms": 9}, "players": [{"limits": {"time_ms": 100}}, {}]}
    with GameStore(None) as fast, GameStore(None) as slow, GameStore(None) as other, GameStore(None) as more:
        fill(fast, ("Ann", "Bob"), description=hundred)
        fill(slow, ("Bob", "Carl"), description=thousand)
        fill(other, ("Carl", "Dan"), description=hundred | {"limits": {"time_ms": 100, "tolerance_ms": 7}})
        fill(more, ("Ann", "Eve"), description=own)
        with pytest.raises(InputError, match=r"'Bob' played with time_ms=100 in .* and with time_ms=1000 in"):
            collect([fast, slow])
        assert collect([fast, slow], mixes_limits=True).tally.of(1).games == 12
        assert collect([fast, other, more]).names == ["Ann", "Bob", "Carl", "Dan", "Eve"]  # Ann has the same limits


def test_tables_say_what_happened(standings: Standings) -> None:
    found = {table.title: table for table in report.tables(standings)}
    ratings = found["Ratings, 9x9:5:freestyle"]
    assert [row[1] for row in ratings.rows] == list(NAMES)
    assert ratings.rows[0][4:] == ("12", "75.0 %", "6", "6", "0")
    cross = found["Crosstable, 9x9:5:freestyle"]
    assert cross.rows[0] == ("1 Ann", "·", "4.5", "4.5")
    assert cross.rows[2][1:3] == ("1.5", "1")
    assert cross.note == "Points of the row's player out of 6 games."
    assert found["Colours, 9x9:5:freestyle"].rows[0][1:] == ("+6 =0 -0", "100.0 %", "+0 =6 -0", "50.0 %")
    assert found["score(i, j), 9x9:5:freestyle"].rows[0] == ("1 Ann", "·", "+1.00", "+1.00")
    assert found["Time per move"].rows[0] == ("Ann", "12", "3", "4", "200", "4.0")
    assert found["Forfeits"].rows == (("$Carl$", "crash", "1"),)
    assert found["Forfeited games"].rows[0][4] == "exit code <7>"
    assert set(found["Endings"].rows) == {("five", "9"), ("full board", "8"), ("crash", "1")}
    assert report.summary(standings) == "18 games of 3 players, 3.0 stones per game."


def test_players_who_never_met_are_not_compared() -> None:
    with GameStore(None) as one, GameStore(None) as other:
        fill(one, ("Ann", "Bob"))
        fill(other, ("Carl", "Dan"))
        standings = collect([one, other])
    found = {table.title: table for table in report.tables(standings)}
    assert "2 groups" in found["Ratings, 9x9:5:freestyle"].note
    assert "?" in found["Likelihood of superiority, 9x9:5:freestyle"].rows[0]
    assert {"5/6", ""} < set(found["Crosstable, 9x9:5:freestyle"].rows[0])


class Cells(HTMLParser):
    """Collects the texts and tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_html_escapes_what_engines_say(standings: Standings) -> None:
    page = to_html(standings)
    cells = Cells()
    cells.feed(page)
    assert "b" not in cells.tags
    assert "B|b <b>" in cells.texts
    assert "exit code <7>" in cells.texts
    assert "src=" not in page
    assert "http" not in page


def test_markdown_tables_keep_their_columns(standings: Standings) -> None:
    text = to_markdown(standings, ["ratings.png"])
    assert "![ratings](ratings.png)" in text
    assert "B\\|b &lt;b>" in text
    for block in text.split("\n\n"):
        rows = [line.replace("\\|", "") for line in block.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


def test_the_terminal_shows_the_tables(standings: Standings) -> None:
    out = io.StringIO()
    print_tables(standings, Console(file=out, width=120))
    shown = out.getvalue()
    assert all(words in shown for words in ("The cup", "Ratings", "Crosstable", "B|b <b>", "Forfeits", " 4.5 "))
    assert "Likelihood" not in shown


def test_a_narrow_terminal_cuts_no_name_and_no_number() -> None:
    names = tuple(f"player-{place:02}-with-a-long-name" for place in range(12))
    with GameStore(None) as store:
        fill(store, names, rounds=1)
        narrow = collect([store])
    out = io.StringIO()
    print_tables(narrow, Console(file=out, width=60))
    shown = out.getvalue()
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 60
    assert "Crosstable, 9x9:5:freestyle (continued)" in shown
    cross = shown.partition("Crosstable")[2].partition("Colours")[0]
    assert cross.count("1.5") == 12 * 11 // 2 - 1  # all pairs except the one with the forfeit


def test_a_report_folder(standings: Standings, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "report"
    write_report(standings, folder)
    names = {path.name for path in folder.iterdir()}
    pictures = {f"{kind}-9x9-5-freestyle.{ending}" for kind in ("ratings", "crosstable") for ending in ("svg", "png")}
    assert names == {"report.md", "report.html", "report.json", *pictures}
    assert (folder / "ratings-9x9-5-freestyle.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "report.html").read_text(encoding="utf-8").count("<svg") == 2
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        write_report(standings, tmp_path / "file")


def test_a_full_disk_leaves_the_pictures_as_they_were(
    standings: Standings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = rating_figure(standings, str(NINE))
    save_figure(figure, tmp_path / "old")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(before) == {"old.png", "old.svg"}

    def fsync(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    for name in ("old", "new"):
        with pytest.raises(InputError, match=rf"cannot write .*{name}\.png: No space left on device"):
            save_figure(figure, tmp_path / name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_json_has_all_numbers(standings: Standings) -> None:
    found = json.loads(json.dumps(report.as_json(standings)))
    assert found["games"] == 18
    ann = found["players"][0]
    assert (ann["name"], ann["agent"], ann["wins"], ann["draws"], ann["losses"]) == ("Ann", "agent-0", 6, 6, 0)
    rules = found["rulesets"]["9x9:5:freestyle"]
    best = rules["ratings"][0]
    assert best["player"] == "Ann"
    assert best["elo_interval"][0] < best["elo"] < best["elo_interval"][1]
    assert best["as_black"] == {"games": 6, "wins": 6, "draws": 0, "losses": 0}
    meeting = rules["meetings"][0]
    assert (meeting["player"], meeting["against"], meeting["score_ij"]) == ("Ann", "B|b <b>", 1.0)
    assert 0.5 < meeting["likelihood_of_superiority"] <= 1
    assert found["faults"][0]["fault"] == "crash"


# -- matches ---------------------------------------------------------------------------------------------------------


def match_progress(**options: object) -> Progress:
    players = (Entrant(agent="random"), Entrant(agent="chains"))
    tournament = Tournament(rules=(NINE,), players=players, rounds=3, **options)  # type: ignore[arg-type]
    with GameStore(None) as store:
        fill(store, ("random", "chains"))
        tally = collect([store]).tally
    return Progress(tournament, 6, tally, played_now=6)


def test_the_json_of_a_match() -> None:
    found = json.loads(json.dumps(match_report(match_progress())))
    assert [found[key] for key in ("a", "b", "games", "wins", "draws", "losses")] == ["random", "chains", 6, 4, 2, 0]
    assert found["as_black"] == {"games": 3, "wins": 3, "draws": 0, "losses": 0}
    assert found["as_white"] == {"games": 3, "wins": 1, "draws": 2, "losses": 0}
    low, high = found["elo_interval"]
    assert low < found["elo"] < high
    assert found["pairs"] == [0, 0, 0, 2, 1]
    assert (found["draw_ratio"], found["pairs_ratio"], found["split_pairs"], found["split_share"]) == (
        0.3333,
        None,
        0,
        0.0,
    )
    assert found["forfeits"] == {"a": {}, "b": {"crash": 1}}
    assert "sprt" not in found
    progress = match_progress(sprt=Sprt(elo0=0, elo1=10))
    progress.accepted = Hypothesis.H1
    sprt = match_report(progress)["sprt"]
    assert (sprt["elo0"], sprt["elo1"], sprt["verdict"], sprt["bounds"]) == (0, 10, "H1", [-2.94, 2.94])
    assert sprt["llr"] > 0


def test_a_match_without_games_has_no_interval() -> None:
    players = (Entrant(agent="random"), Entrant(agent="chains"))
    tournament = Tournament(rules=(NINE,), players=players)
    with GameStore(None) as store:
        found = match_report(Progress(tournament, 2, collect([store]).tally))
    assert found["elo_interval"] == [None, None]
    assert found["normalised_elo"] is None


def test_a_match_of_one_pair_decides_little() -> None:
    tournament = Tournament(rules=(NINE,), players=(Entrant(agent="random"), Entrant(agent="chains")))
    with GameStore(None) as store:
        fill(store, ("random", "chains"), rounds=1)
        progress = Progress(tournament, 2, collect([store]).tally)
    found = json.loads(json.dumps(match_report(progress), allow_nan=False))
    assert (found["pairs"], found["likelihood_of_superiority"], found["normalised_elo"]) == (
        [0, 0, 0, 0, 1],
        0.775,
        None,
    )
    assert "likelihood of superiority 77.5 %" in "\n".join(match_lines(progress))


def test_the_lines_of_a_match() -> None:
    lines = match_lines(match_progress(sprt=Sprt(elo0=0, elo1=10)))
    text = "\n".join(lines)
    assert "random against chains, 9x9:5:freestyle, 6 games" in text
    assert "+4 =2 -0" in text
    assert "undecided" in text
    assert "chains: 1 by crash" in text
    assert "  draws     33.3 %" in lines
    assert "            3 won, 0 lost, ratio -; 0 split (0.0 %: each player won once)" in lines


def test_the_live_view_follows() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=150)
    with LiveView(console=console) as view:
        view.update(match_progress(sprt=Sprt(elo0=0, elo1=10)))
    assert "6 of 6 games" in out.getvalue()
    assert "LLR" in out.getvalue()
    silent = io.StringIO()
    with LiveView(console=Console(file=silent, force_terminal=True), is_quiet=True) as view:
        view.update(match_progress())
    assert silent.getvalue() == ""


def test_without_a_terminal_there_is_a_line_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr("tengen.arena.live.time.monotonic", lambda: clock[0])
    out = io.StringIO()
    with LiveView(console=Console(file=out, width=200)) as view:
        for clock[0] in (1000.0, 1030.0, 1061.0, 1062.0, 1122.0, 1123.0):
            view.update(match_progress())
    lines = out.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("6 of 6 games")

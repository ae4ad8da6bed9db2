"""Speed of playouts, alone and in a tree, against OpenSpiel's C++ MCTS; and the time per move of the paper's players.

Everything uses 15×15 freestyle and one thread, except where the name says otherwise. `playouts_*` plays games from the
empty board to the end; `uct_*` also grows the tree. OpenSpiel's `MCTSBot` with one random rollout per leaf is
equivalent to `uct_random_everywhere`: UCB1 over all points, from the empty board. The programs take turns, so that load
on the machine affects all of them. Figures are medians over the rounds, by processor time, which other programs affect
less than wall-clock time.

The presets `fudan` play on 20×20, the paper's board. The paper reports 29.1 s per move for HMCTS-10 and 1.49 s for
UCT-10.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from tengen.agents.registry import make_agent
from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.search.rollout import Hmcts, PlayoutPolicy, Uct, UctConfig, tally_playouts

ROUNDS = 7
SEED = 1
PAPER_SECONDS = {"hmcts": 29.1, "uct": 1.49}

Runner = Callable[[int], None]


def run() -> dict[str, float]:
    rules = Ruleset.parse("15x15:5:freestyle")
    empty = Position.start(rules)
    opened = Position.from_moves(rules, "h8i9")
    renju = Position.start(Ruleset.parse("15x15:5:renju"))
    everywhere = Uct(UctConfig(policy=PlayoutPolicy.RANDOM, radius=0, expand_after=1, solve=False))
    contenders: dict[str, tuple[Runner, int]] = {
        "playouts_random": (_playout_runner(empty, PlayoutPolicy.RANDOM), 20_000),
        "playouts_heuristic": (_playout_runner(empty, PlayoutPolicy.HEURISTIC), 20_000),
        "playouts_random_renju": (_playout_runner(renju, PlayoutPolicy.RANDOM), 5_000),
        "playouts_heuristic_renju": (_playout_runner(renju, PlayoutPolicy.HEURISTIC), 5_000),
        "uct_random": (_search_runner(Uct(UctConfig(policy=PlayoutPolicy.RANDOM)), opened), 20_000),
        "uct_heuristic": (_search_runner(Uct(), opened), 20_000),
        "uct_heuristic_two_threads": (_search_runner(Uct(), opened, threads=2), 20_000),
        "uct_random_everywhere": (_search_runner(everywhere, empty), 10_000),
        "hmcts_heuristic": (_search_runner(Hmcts(), opened), 10_000),
    }
    spiel = _spiel_runner()
    if spiel is not None:
        contenders["openspiel"] = (spiel, 1_000)
    seconds = _measure(contenders)
    figures = {f"{name}_per_cpu_second": 1 / statistics.median(each) for name, each in seconds.items()}
    if spiel is not None:
        figures["uct_to_openspiel_ratio"] = _ratio(seconds, "openspiel", "uct_random_everywhere")
    # Slowdown of two threads that share a tree; 1 means none.
    figures["two_threads_to_one_ratio"] = _ratio(seconds, "uct_heuristic", "uct_heuristic_two_threads")
    return figures | _paper_players()


def _measure(contenders: dict[str, tuple[Runner, int]]) -> dict[str, list[float]]:
    """Return the processor seconds per playout of each round, with the programs taking turns."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for runner, playouts in contenders.values():
        runner(playouts // 10)
    for _ in range(ROUNDS):
        for name, (runner, playouts) in contenders.items():
            started = time.process_time()
            runner(playouts)
            seconds[name].append((time.process_time() - started) / playouts)
    return seconds


def _ratio(seconds: dict[str, list[float]], slow: str, quick: str) -> float:
    return statistics.median(a / b for a, b in zip(seconds[slow], seconds[quick], strict=True))


def _playout_runner(position: Position, policy: PlayoutPolicy) -> Runner:
    def play(playouts: int) -> None:
        tally_playouts(position, policy, playouts, SEED)

    return play


def _search_runner(search: Uct | Hmcts, position: Position, threads: int = 1) -> Runner:
    def play(playouts: int) -> None:
        search.search(position, Limits(simulations=playouts, threads=threads), seed=SEED)

    return play


def _spiel_runner() -> Runner | None:
    """Create OpenSpiel's bot; None if OpenSpiel is not installed (it has no Windows wheels)."""
    try:
        import pyspiel
    except ImportError:
        return None
    game = pyspiel.load_game("gomoku(size=15)")
    state = game.new_initial_state()

    def play(playouts: int) -> None:
        evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=SEED)
        bot = pyspiel.MCTSBot(
            game,
            evaluator,
            uct_c=2**0.5,
            max_simulations=playouts,
            max_memory_mb=0,
            solve=False,
            seed=SEED,
            verbose=False,
        )
        bot.step(state)

    return play


def _paper_players() -> dict[str, float]:
    """Measure the time per move of the paper's players, in games against a player that stays close to the stones."""
    figures: dict[str, float] = {}
    rules = Ruleset.parse("20x20:5:freestyle")
    for kind, paper in PAPER_SECONDS.items():
        player, opponent = make_agent(f"{kind}:preset=fudan"), make_agent("chains")
        wall, processor, playouts = [], [], []
        for game in range(20):
            position = Position.start(rules)
            for agent in (player, opponent):
                agent.new_game(rules, game)
            while not position.is_over:
                if (position.stones + game) % 2 == 1:
                    position = position.play(opponent.choose(position, Limits()).move)
                    continue
                on_wall, on_processor = time.perf_counter(), time.process_time()
                decision = player.choose(position, Limits())
                wall.append(time.perf_counter() - on_wall)
                processor.append(time.process_time() - on_processor)
                playouts.append(decision.nodes)
                position = position.play(decision.move)
        figures[f"{kind}_fudan_ms_a_move"] = 1000 * statistics.mean(wall)
        figures[f"{kind}_fudan_cpu_ms_a_move"] = 1000 * statistics.mean(processor)
        figures[f"{kind}_fudan_playouts_a_move"] = statistics.mean(playouts)
        figures[f"{kind}_fudan_to_paper_ratio"] = paper / statistics.mean(wall)
    return figures

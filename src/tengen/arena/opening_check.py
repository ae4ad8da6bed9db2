"""Checks how balanced the openings in a file are: values, proofs, trial games and the share of split pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from tengen.agents.registry import check_plays, make_agent
from tengen.arena.balanced_openings import evaluate_opening
from tengen.arena.openings import Stones
from tengen.arena.trial_games import TrialResult, TrialSettings, play_trials
from tengen.core.contracts import Agent, Colour, Ruleset
from tengen.core.position import Position
from tengen.core.worker_pool import WorkerPool
from tengen.core.worker_process import CarryOut

FAR_FROM_EQUAL = 0.6
"""Absolute value beyond which an opening counts as far from equal."""
LOPSIDED_SHARE = 0.3
"""An opening is lopsided if one colour scores less than this share of the points in the trial games."""


class _Order(NamedTuple):
    number: int
    stones: Stones


@dataclass(frozen=True, slots=True)
class CheckedOpening:
    """Result of the search and the trial games for one opening."""

    number: int
    """Number in the file, from 1."""
    stones: Stones
    black_value: float
    """Value for black after the search, in [-1, 1]."""
    is_decided: bool
    """Whether the search proved the result."""
    points: tuple[float, ...]
    """Black's points in the trial games."""

    @property
    def trials(self) -> TrialResult:
        """The results of the trial games."""
        return TrialResult(self.points)

    @property
    def is_lopsided(self) -> bool:
        """Whether one colour scored less than `LOPSIDED_SHARE` of the points in the trial games."""
        return bool(self.points) and not LOPSIDED_SHARE <= self.trials.black_share <= 1 - LOPSIDED_SHARE


@dataclass(frozen=True, slots=True)
class OpeningReport:
    """The checked openings of a file, and the settings of the check."""

    ruleset: Ruleset
    agent: str
    nodes: int
    trials: TrialSettings
    openings: tuple[CheckedOpening, ...]

    @property
    def decided(self) -> int:
        """Number of openings whose result is proved."""
        return sum(opening.is_decided for opening in self.openings)

    @property
    def far_from_equal(self) -> int:
        """Number of openings valued beyond `FAR_FROM_EQUAL`, including openings with a proved result."""
        return sum(abs(opening.black_value) > FAR_FROM_EQUAL for opening in self.openings)

    @property
    def lopsided(self) -> int:
        """Number of lopsided openings."""
        return sum(opening.is_lopsided for opening in self.openings)

    @property
    def mean_size(self) -> float:
        """Mean absolute value of the openings."""
        return sum(abs(opening.black_value) for opening in self.openings) / len(self.openings)

    @property
    def split_share(self) -> float | None:
        """Share of split pairs among the pairs of trial games; None without trial games."""
        pairs = sum(opening.trials.pairs for opening in self.openings)
        return sum(opening.trials.split_pairs for opening in self.openings) / pairs if pairs else None

    @property
    def black_share(self) -> float | None:
        """Black's share of the points in all trial games; None without trial games."""
        points = [point for opening in self.openings for point in opening.points]
        return sum(points) / len(points) if points else None

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "ruleset": str(self.ruleset),
            "agent": self.agent,
            "nodes": self.nodes,
            "trials": asdict(self.trials),
            "decided": self.decided,
            "far_from_equal": self.far_from_equal,
            "lopsided": self.lopsided,
            "mean_absolute_value": self.mean_size,
            "black_share": self.black_share,
            "split_share": self.split_share,
            "openings": [
                {**asdict(opening), "stones": "".join(opening.stones), "split_pairs": opening.trials.split_pairs}
                for opening in self.openings
            ],
        }


def check_openings(
    ruleset: Ruleset,
    openings: Sequence[Stones],
    *,
    agent: str,
    nodes: int,
    trials: TrialSettings,
    seed: int = 0,
    workers: int = 1,
    on_progress: Callable[[int], None] | None = None,
) -> OpeningReport:
    """Search every opening and play its trial games. `on_progress` receives the number of checked openings."""
    orders = [_Order(number, stones) for number, stones in enumerate(openings, start=1)]
    open_checker = partial(_open_checker, ruleset, agent, nodes, trials, seed)
    checked: list[CheckedOpening] = []
    for opening in _check_all(orders, open_checker, workers):
        checked.append(opening)
        if on_progress is not None:
            on_progress(len(checked))
    checked.sort(key=lambda opening: opening.number)
    return OpeningReport(ruleset, agent, nodes, trials, tuple(checked))


Checker: TypeAlias = Callable[[_Order], CheckedOpening]


def _check_all(
    orders: Sequence[_Order], open_checker: Callable[[], AbstractContextManager[Checker]], workers: int
) -> Iterator[CheckedOpening]:
    """Yield the openings as they are checked. A single worker runs in this process."""
    if workers == 1:
        with open_checker() as check:
            yield from map(check, orders)
        return
    prepare = partial(_open_worker, open_checker)
    with WorkerPool[_Order, CheckedOpening](prepare, name="opening worker", workers=workers) as pool:
        for _, opening in pool.run(orders):
            yield opening


@contextmanager
def _open_checker(ruleset: Ruleset, agent: str, nodes: int, trials: TrialSettings, seed: int) -> Iterator[Checker]:
    with make_agent(agent) as judge:
        check_plays(judge, ruleset)
        yield lambda order: _check(judge, ruleset, order, nodes, trials, seed)


@contextmanager
def _open_worker(open_checker: Callable[[], AbstractContextManager[Checker]]) -> Iterator[CarryOut]:
    with open_checker() as check:
        yield lambda order, context: check(order)


def _check(
    judge: Agent, ruleset: Ruleset, order: _Order, nodes: int, trials: TrialSettings, seed: int
) -> CheckedOpening:
    position = Position.from_moves(ruleset, order.stones)
    value, is_decided = evaluate_opening(judge, position, nodes)
    points: tuple[float, ...] = ()
    for result in play_trials(judge, position, trials, f"{seed} {''.join(order.stones)}"):
        points = result.points
    black_value = value if position.to_move is Colour.BLACK else -value
    return CheckedOpening(order.number, order.stones, black_value, is_decided, points)


def report_lines(report: OpeningReport) -> list[str]:
    """Return the report as text: one line per opening, then the summary."""
    lines = ["  no.  value for black  proved  black's points  split pairs  opening"]
    for opening in report.openings:
        trials = opening.trials
        points = f"{sum(trials.points):g} of {len(trials.points)}" if trials.points else "-"
        split = f"{trials.split_pairs} of {trials.pairs}" if trials.points else "-"
        proved = "yes" if opening.is_decided else ""
        lines.append(
            f"{opening.number:5}  {opening.black_value:+15.3f}  {proved:6}  {points:>14}  {split:>11}"
            f"  {''.join(opening.stones)}"
        )
    count = len(report.openings)
    far = f"openings valued beyond ±{FAR_FROM_EQUAL}: {report.far_from_equal}"
    lines += [
        "",
        f"{count} openings for {report.ruleset}, judged by {report.agent} with {report.nodes:,} nodes each",
        f"openings with a proved result: {report.decided}",
        f"{far}; mean absolute value {report.mean_size:.3f}",
    ]
    if report.split_share is not None and report.black_share is not None:
        trials_text = f"{report.trials.games} trial games per opening, about {report.trials.nodes:,} nodes per move"
        lines += [
            f"{trials_text}: black scores {100 * report.black_share:.1f} %",
            f"openings in which one colour scores less than {100 * LOPSIDED_SHARE:.0f} %: {report.lopsided}",
            f"split pairs (both games won by the same colour, or drawn): {100 * report.split_share:.1f} %",
        ]
    return lines

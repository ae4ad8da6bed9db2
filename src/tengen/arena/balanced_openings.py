"""Selection of balanced openings: random stones, searches of growing length, and trial games.

Candidates are numbered. The judgement of a candidate depends only on its number, the ruleset, the seed and the
settings. Each judgement is appended to a journal, so an interrupted selection resumes with any number of workers.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import count as count_from
from pathlib import Path
from typing import Any, NamedTuple

from tengen.agents.registry import check_plays, make_agent
from tengen.arena.openings import Stones, canonical_key, random_stones
from tengen.arena.trial_games import TrialResult, TrialSettings, play_trials
from tengen.core.contracts import Agent, Decision, Limits, Ruleset
from tengen.core.geometry import parse_points
from tengen.core.line_files import append_line, complete_lines, cut_partial_line
from tengen.core.position import Position
from tengen.core.worker_pool import WorkerPool
from tengen.core.worker_process import CarryOut
from tengen.errors import AgentError, InputError, RecordError
from tengen.records import position_string

_SHORTEST_SEARCH = 2_000
"""Minimum node limit of the shortest search, unless a tenth of `nodes` is smaller."""
_SLACK = 1 / 3
"""The bound of a short search grows by this share of `max_value` each time its node limit is divided by ten."""
_DOUBT = 0.05
"""Significance level at which trial games stop early because a colour is unlikely to reach the minimum share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceSettings:
    """Conditions that an opening must meet to count as balanced."""

    agent: str = "alphabeta"
    """Agent that judges the openings; it must report a value with every move."""
    nodes: int = 20_000
    """Node limit of the longest search."""
    max_value: float = 0.15
    """Maximum absolute value of an opening."""
    min_stones: int = 3
    max_stones: int = 6
    reach: int = 3
    """Maximum distance from the centre to a stone, in lines."""
    trials: TrialSettings = field(default_factory=TrialSettings)
    min_share: float = 0.3
    """Minimum score of each colour in the trial games, as a fraction from 0 to 0.5 (a draw counts as half a win)."""

    def __post_init__(self) -> None:
        if not 0 < self.max_value <= 1:
            raise InputError(f"max_value must be above 0 and at most 1, not {self.max_value}")
        if not 1 <= self.min_stones <= self.max_stones:
            raise InputError(f"min_stones={self.min_stones} must be between 1 and max_stones={self.max_stones}")
        if self.nodes < 1 or self.reach < 1:
            raise InputError(f"nodes={self.nodes} and reach={self.reach} must be at least 1")
        if not 0 <= self.min_share <= 0.5:
            raise InputError(f"min_share must be between 0 and 0.5, not {self.min_share}")

    @property
    def short_searches(self) -> tuple[tuple[int, float], ...]:
        """Node limits and bounds of the searches before the longest one, shortest first.

        Each search has ten times as many nodes as the previous one. The last has a tenth of the nodes of the longest
        search and already has the bound `max_value`; shorter searches are less precise, so their bounds are wider.
        """
        limits = [max(1, self.nodes // 10)]
        while limits[-1] // 10 >= _SHORTEST_SEARCH:
            limits.append(limits[-1] // 10)
        return tuple((nodes, self.max_value * (1 + _SLACK * place)) for place, nodes in enumerate(limits))[::-1]


class Candidate(NamedTuple):
    """A numbered candidate: random stones, distinct from all earlier candidates under the symmetries of the board."""

    number: int
    stones: Stones


@dataclass(frozen=True, slots=True)
class Judgement:
    """Result of the searches and the trial games for one opening."""

    number: int
    stones: Stones
    value_to_move: float
    """Value of the last search; the searches stop at the first that rejects the opening."""
    black_share: float | None
    """Black's share of the points in the trial games played so far; None if no trial game was played."""
    is_balanced: bool


def judge_opening(agent: Agent, ruleset: Ruleset, candidate: Candidate, settings: BalanceSettings) -> Judgement:
    """Judge an opening, with the cheapest tests first: short searches, trial games, the longest search."""
    position = Position.from_moves(ruleset, candidate.stones)
    value, share = 0.0, None

    def judged(*, is_balanced: bool) -> Judgement:
        return Judgement(candidate.number, candidate.stones, value, share, is_balanced)

    for nodes, bound in settings.short_searches:
        value, is_decided = evaluate_opening(agent, position, nodes)
        if is_decided or abs(value) > bound:
            return judged(is_balanced=False)
    for result in play_trials(agent, position, settings.trials, "".join(candidate.stones)):
        share = result.black_share
        if _is_lopsided(result, settings):
            return judged(is_balanced=False)
    value, is_decided = evaluate_opening(agent, position, settings.nodes)
    return judged(is_balanced=not is_decided and abs(value) <= settings.max_value)


def evaluate_opening(agent: Agent, position: Position, nodes: int) -> tuple[float, bool]:
    """Search a position from scratch. Return its value for the side to move, and whether its result is proved."""
    agent.new_game(position.ruleset, 0)
    decision: Decision = agent.choose(position, Limits(nodes=nodes))
    if decision.value_to_move is None:
        raise AgentError(f"{agent.name} cannot evaluate openings: it returns no values for its moves")
    return decision.value_to_move, decision.proof is not None


def _is_lopsided(result: TrialResult, settings: BalanceSettings) -> bool:
    """Return whether a colour cannot reach the minimum share of the points any more, or is very unlikely to."""
    games, share = settings.trials.games, settings.min_share
    played = len(result.points)
    points = min(sum(result.points), played - sum(result.points))
    if points + games - played < share * games:
        return True
    # Probability of at most this many wins if the colour's chance of winning a game were exactly the minimum share.
    wins = range(math.ceil(points) + 1)
    at_most = sum(math.comb(played, won) * share**won * (1 - share) ** (played - won) for won in wins)
    return played < games and at_most < _DOUBT


def candidates(ruleset: Ruleset, seed: int, settings: BalanceSettings) -> Iterator[Candidate | None]:
    """Yield an endless stream of candidates, with None each time the random stones repeat an earlier candidate."""
    rng = random.Random(f"balanced {seed}")
    sources = [
        random_stones(ruleset, stones, rng, settings.reach)
        for stones in range(settings.min_stones, settings.max_stones + 1)
    ]
    seen: set[object] = set()
    numbers = count_from()
    while True:
        stones = next(rng.choice(sources))
        key = canonical_key(ruleset, stones)
        if key in seen:
            yield None
            continue
        seen.add(key)
        yield Candidate(next(numbers), stones)


def find_balanced(
    ruleset: Ruleset,
    count: int,
    seed: int,
    settings: BalanceSettings,
    *,
    max_tries: int,
    journal: Path | None = None,
    workers: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Judgement]:
    """Return the first `count` balanced openings.

    Raises `AgentError` after `max_tries` consecutive rejections. `journal` is the file that makes the selection
    resumable; its judgements are not repeated. `on_progress` receives the numbers of judged candidates and of balanced
    openings. The result does not depend on the number of workers.
    """
    log = _Journal(journal, ruleset, seed, settings)
    selection = _Selection(count, max_tries)
    todo = _draw(ruleset, seed, settings, log, selection)
    for judgement in _judge_all(ruleset, settings, todo, workers):
        log.add(judgement)
        selection.add(judgement)
        if on_progress is not None:
            on_progress(selection.judged, len(selection.found))
        if selection.is_over:
            break
    if len(selection.found) < count:
        raise AgentError(
            f"found only {len(selection.found)} of {count} openings for {ruleset}: the last {max_tries} candidates"
            " were all rejected; raise max_value, max_stones or reach"
        )
    return selection.found[:count]


class _Selection:
    """The balanced openings among the candidates, in order of candidate number."""

    def __init__(self, count: int, max_tries: int) -> None:
        self.found: list[Judgement] = []
        self.judged = 0
        """Number of candidates judged so far without a gap, starting with number 0."""
        self._count = count
        self._max_tries = max_tries
        self._misses = 0
        self._waiting: dict[int, Judgement] = {}
        """Judgements that arrived before the judgement of a lower-numbered candidate."""

    def add(self, judgement: Judgement) -> None:
        """Add a judgement. Judgements may arrive in any order."""
        self._waiting[judgement.number] = judgement
        while not self.is_over and (one := self._waiting.pop(self.judged, None)) is not None:
            self.judged += 1
            self._misses = 0 if one.is_balanced else self._misses + 1
            if one.is_balanced:
                self.found.append(one)

    def miss(self) -> None:
        """Record that the random stones repeated an earlier candidate."""
        self._misses += 1

    @property
    def is_over(self) -> bool:
        """Whether enough openings were found, or too many candidates in a row were rejected."""
        return len(self.found) >= self._count or self._misses >= self._max_tries


def _draw(
    ruleset: Ruleset, seed: int, settings: BalanceSettings, log: _Journal, selection: _Selection
) -> Iterator[Candidate]:
    """Yield the candidates missing from the journal; add the others to the selection."""
    for candidate in candidates(ruleset, seed, settings):
        if selection.is_over:
            return
        if candidate is None:
            selection.miss()
        elif (known := log.find(candidate)) is not None:
            selection.add(known)
        else:
            yield candidate


def _judge_all(
    ruleset: Ruleset, settings: BalanceSettings, todo: Iterable[Candidate], workers: int
) -> Iterator[Judgement]:
    """Yield the judgements as they are made. A single worker runs in this process."""
    if workers == 1:
        with _open_judge(ruleset, settings) as judge:
            for candidate in todo:
                yield judge(candidate)
        return
    prepare = partial(_open_worker, ruleset, settings)
    with WorkerPool[Candidate, Judgement](prepare, name="opening worker", workers=workers) as pool:
        for _, judgement in pool.run(todo):
            yield judgement


@contextmanager
def _open_judge(ruleset: Ruleset, settings: BalanceSettings) -> Iterator[Callable[[Candidate], Judgement]]:
    with make_agent(settings.agent) as agent:
        check_plays(agent, ruleset)
        yield lambda candidate: judge_opening(agent, ruleset, candidate, settings)


@contextmanager
def _open_worker(ruleset: Ruleset, settings: BalanceSettings) -> Iterator[CarryOut]:
    with _open_judge(ruleset, settings) as judge:
        yield lambda candidate, context: judge(candidate)


class _Journal:
    """The judgements so far, in a JSON Lines file whose first line contains the settings.

    Without a path, nothing is stored.
    """

    def __init__(self, path: Path | None, ruleset: Ruleset, seed: int, settings: BalanceSettings) -> None:
        """Read the file, or create it. Raises `InputError` if it was written with other settings."""
        self._path = path
        self._known: dict[int, Judgement] = {}
        if path is None:
            return
        conditions = {"ruleset": str(ruleset), "seed": seed, **asdict(settings)}
        if path.exists():
            self._read(path, conditions)
            cut_partial_line(path)
        if not path.exists() or path.stat().st_size == 0:
            append_line(path, _json_line(conditions))

    def find(self, candidate: Candidate) -> Judgement | None:
        """Return the judgement of a candidate; None if the file does not contain it."""
        known = self._known.get(candidate.number)
        if known is not None and known.stones != candidate.stones:
            raise RecordError(
                f"{self._path} was written by a different version of Tengen: candidate {candidate.number} is"
                f" {''.join(known.stones)} in the file, but this version generates {''.join(candidate.stones)};"
                " use a new file"
            )
        return known

    def add(self, judgement: Judgement) -> None:
        """Append a judgement."""
        if self._path is not None:
            fields = {**asdict(judgement), "stones": "".join(judgement.stones)}
            append_line(self._path, _json_line(fields))

    def _read(self, path: Path, conditions: dict[str, Any]) -> None:
        for number, line in complete_lines(path):
            try:
                fields = json.loads(line)
                if number == 1:
                    _check_conditions(path, fields, conditions)
                    continue
                judgement = Judgement(**{**fields, "stones": parse_points(fields["stones"])})
                _check_types(judgement)
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                if isinstance(error, InputError) and number == 1:
                    raise
                raise RecordError(f"{path}: line {number} is not a valid opening judgement: {error!r:.200}") from None
            self._known[judgement.number] = judgement


def _json_line(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode("ascii") + b"\n"


def _check_conditions(path: Path, found: Any, wanted: dict[str, Any]) -> None:
    if not isinstance(found, dict):
        raise TypeError("the settings are missing")
    for name in {**wanted, **found}:
        if found.get(name) != wanted.get(name):
            raise InputError(
                f"{path} was written with {name} {found.get(name)!r}, not {wanted.get(name)!r}; use another file or"
                " the same settings"
            )


def _check_types(judgement: Judgement) -> None:
    share = judgement.black_share
    if (
        type(judgement.number) is not int
        or type(judgement.is_balanced) is not bool
        or not -1 <= judgement.value_to_move <= 1
        or not (share is None or 0 <= share <= 1)
    ):
        raise ValueError("a field has an invalid value")


def format_openings(ruleset: Ruleset, openings: Sequence[Judgement], seed: int, settings: BalanceSettings) -> str:
    """Return an opening file: the command that generated it, then one position string per line."""
    trials = settings.trials
    command = (
        f"tengen openings generate --rules {ruleset} --count {len(openings)} --seed {seed} --agent {settings.agent}"
        f" --nodes {settings.nodes} --max-value {settings.max_value:g} --min-stones {settings.min_stones}"
        f" --max-stones {settings.max_stones} --reach {settings.reach} --games {trials.games}"
        f" --game-nodes {trials.nodes} --min-share {settings.min_share:g}"
    )
    largest = max((abs(opening.value_to_move) for opening in openings), default=0.0)
    lines = [
        f"# {len(openings)} balanced openings for {ruleset}, distinct under the symmetries of the board.",
        f"# A search of {settings.nodes} nodes values each at no more than {largest:.3f} (of 1) for either side.",
    ]
    if shares := [opening.black_share for opening in openings if opening.black_share is not None]:
        low, high = round(100 * min(shares)), round(100 * max(shares))
        lines.append(
            f"# In {trials.games} games of about {trials.nodes} nodes a move from each, black scored {low} to {high} %."
        )
    lines.append(f"# {command}")
    prefix = position_string.prefix_of(ruleset)
    lines += [prefix + "".join(opening.stones) for opening in openings]
    return "\n".join(lines) + "\n"

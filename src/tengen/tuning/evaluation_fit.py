"""Fits the weights of the alpha-beta engine to its own games (`tengen.tuning.engine_games`).

There are two convex fits, both by L-BFGS. The *evaluation* (value of a point by its shape code, value of the existing
threats) is a logistic regression; its target is a blend of the game's result and the search value. The *move ordering*
is a softmax over the candidate moves in a position; its target is the move played.

A code consists of four line shapes, and most codes are rare. The weight of a code is therefore the sum of parts that
codes share (one per shape and one per pair of shapes) and of its own part, which regularisation keeps small unless the
data supports it. The threat table is built from its bits in the same way. In renju each colour has its own tables.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from tengen import _native
from tengen.core.contracts import Colour, Outcome, Rule, Ruleset
from tengen.core.extras import needs_extra
from tengen.core.files import atomic_write, replace_file
from tengen.core.position import Position
from tengen.core.provenance import source_commit
from tengen.errors import InputError
from tengen.search.weights import save_weights
from tengen.tuning.engine_games import EngineGame, read_games

if TYPE_CHECKING:
    import numpy.typing as npt
    from _typeshed import DataclassInstance
    from scipy import sparse

    Report = TypeVar("Report", bound=DataclassInstance)

    Floats: TypeAlias = npt.NDArray[np.float64]
    Ints: TypeAlias = npt.NDArray[np.signedinteger[Any]]

ORDERING_UNIT = 32
"""Ordering scores per unit of log-odds. The scale of the search's history scores depends on it."""

_CODES = _native.SHAPE_CODES
_THREATS = 1 << _native.THREAT_BITS

# Factor for a code's own part. With a factor below 1, the fit prefers the shared parts, which are penalised less.
_OWN_CODE = 0.3
_OWN_THREAT = 0.5
# Ridge penalties relative to the mean loss. The shared parts have more data and need a smaller penalty.
_RIDGE_OWN = 1e-4
_RIDGE_SHARED = 2e-5
_RIDGE_THREAT_BITS = 1e-6
_RIDGE_ORDERING_OWN = 1e-5
_RIDGE_ORDERING_SHARED = 1e-7

_VALUE_LIMIT = 2000
"""Search values are clipped to this magnitude; beyond it, the game is practically decided."""
_ROWS_AT_ONCE = 1 << 20
"""Candidate moves per chunk of the ordering fit; bounds its memory."""


@dataclass(frozen=True, kw_only=True)
class FitConfig:
    """Settings for a fit."""

    result_weight: float = 0.5
    """Weight of the game's result in the target; the rest is the search value."""
    regularisation: float = 1.0
    """Factor applied to all ridge penalties."""
    by_colour: bool | None = None
    """Whether black and white have separate tables; None means only in renju."""
    validation: float = 0.05
    """Fraction of games held out for validation."""
    iterations: int = 150
    """Maximum number of L-BFGS iterations for the evaluation."""
    ordering_iterations: int = 60
    """Maximum number of L-BFGS iterations for the move ordering."""
    seed: int = 1
    """Seed for the choice of the validation games."""

    def __post_init__(self) -> None:
        if not 0 <= self.result_weight <= 1:
            raise InputError(f"the result weight must be between 0 and 1, not {self.result_weight}")
        if not 0 < self.validation < 1:
            raise InputError(f"the validation fraction must be above 0 and below 1, not {self.validation}")
        if self.regularisation < 0 or self.iterations < 1 or self.ordering_iterations < 1:
            raise InputError(
                f"regularisation={self.regularisation} must not be negative; iterations={self.iterations} and"
                f" ordering_iterations={self.ordering_iterations} must be at least 1"
            )


@dataclass(frozen=True, kw_only=True)
class FitLosses:
    """Mean losses in nats; `base` is the loss of a uniform prediction."""

    base: float
    train: float
    validation: float


@dataclass(frozen=True, kw_only=True)
class OrderingLosses:
    """Losses of the move ordering for one colour or both; `top` is the share of played moves that are ranked first."""

    colour: str
    base: float
    train: float
    validation: float
    top: float


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """Result of a fit, written next to the weights."""

    ruleset: str
    games: int
    positions: int
    candidates: int
    evaluation: FitLosses
    ordering: tuple[OrderingLosses, ...]


Say: TypeAlias = Callable[[str], None]


def fit_weights(
    games: Sequence[EngineGame], config: FitConfig, say: Say = lambda _: None
) -> tuple[_native.Weights, FitReport]:
    """Fit all tables to the games, which must share one rule and win length. `say` receives progress messages."""
    samples = collect_samples(games, config)
    say(f"{len(games):,} games, {len(samples):,} positions, {len(samples.own_codes):,} candidate moves")
    training, validation = samples.split(config)
    if not training.any() or not validation.any():
        raise InputError(f"{len(games)} games with {len(samples)} positions are too few; generate more games")
    points, threats, evaluation = _fit_evaluation(samples, training, validation, config)
    say(
        f"evaluation: loss {evaluation.train:.5f}, validation {evaluation.validation:.5f} (baseline: "
        f"{evaluation.base:.5f})"
    )
    attack, defence, ordering = [], [], []
    groups: Sequence[Colour | None] = (Colour.BLACK, Colour.WHITE) if samples.by_colour else (None,)
    for colour in groups:
        tables, losses = _fit_ordering(samples, training, validation, colour, config)
        attack.append(tables[0])
        defence.append(tables[1])
        ordering.append(losses)
        say(
            f"ordering ({losses.colour}): loss {losses.train:.4f}, validation {losses.validation:.4f} "
            f"(baseline: {losses.base:.4f}), played move ranked first in {losses.top:.1%}"
        )
    weights = _native.Weights(
        _quantise(points, _native.LOGISTIC_UNIT * _native.VALUE_UNIT, 8000),
        _quantise(threats, _native.LOGISTIC_UNIT, 3000),
        _quantise(np.stack(attack), ORDERING_UNIT, 4000),
        _quantise(np.stack(defence), ORDERING_UNIT, 4000),
    )
    report = FitReport(
        ruleset=rulesets_of(games),
        games=len(games),
        positions=len(samples),
        candidates=len(samples.own_codes),
        evaluation=evaluation,
        ordering=tuple(ordering),
    )
    return weights, report


def fit_files(paths: Sequence[Path], target: Path, config: FitConfig, say: Say = lambda _: None) -> FitReport:
    """Fit the weights to the games in these files. Write them to `target`, and a log with the suffix `.json`."""
    return write_fit(paths, target, config, lambda games: fit_weights(games, config, say))


def write_fit(
    paths: Sequence[Path],
    target: Path,
    config: DataclassInstance,
    fit: Callable[[list[EngineGame]], tuple[_native.Weights, Report]],
) -> Report:
    """Run `fit` on the games in these files. Write the weights to `target`, and the report with `config` next to it."""
    if target.suffix != ".npz":
        raise InputError(f"the weights file must end in .npz, not {target}")
    with needs_extra("fitting", "train"):
        import scipy  # noqa: F401
    games = [game for path in paths for game in read_games(path)]
    if not games:
        raise InputError(f"no games in {', '.join(map(str, paths))}")
    weights, report = fit(games)
    with atomic_write(target) as file:
        save_weights(file, weights)
    log = {
        **asdict(report),
        "config": asdict(config),
        "files": [path.name for path in paths],
        "commit": source_commit(),
    }
    replace_file(target.with_suffix(".json"), f"{json.dumps(log, indent=2)}\n".encode())
    return report


def rulesets_of(games: Sequence[EngineGame]) -> str:
    """Return the rulesets of the games for a report, such as `15x15:5:freestyle, 20x20:5:freestyle`."""
    return ", ".join(sorted({str(game.ruleset) for game in games}))


# -- samples ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FitSamples:
    """The positions of the games that the engine would evaluate (cpp/tools/features.h); P is their number.

    Arrays are indexed by position, except those for code pairs and for the M candidate moves.
    """

    by_colour: bool
    targets: Floats
    """Expected result for the side to move, from 0 to 1. [P]"""
    games: Ints
    colours: npt.NDArray[np.uint8]
    """Side to move: 0 black, 1 white. [P]"""
    threat_bits: Ints
    rows: sparse.csr_array[Any, tuple[int, int]]
    """Codes on empty points: +1 for the side to move, -1 for the opponent. [P, codes], or twice the codes by colour."""
    pair_starts: Ints
    """The code pairs of position p are pair_starts[p] … pair_starts[p + 1] - 1. [P + 1]"""
    pairs: Ints
    """Codes of both sides on empty points, encoded as own · codes + other."""
    pair_counts: Ints
    """Number of empty points with each pair, minus the number on the empty board."""
    move_starts: Ints
    """The candidates of position p are move_starts[p] … move_starts[p + 1] - 1. [P + 1]"""
    own_codes: Ints
    """Code of each candidate for the side to move. [M]"""
    other_codes: Ints
    """Code of each candidate for the opponent. [M]"""
    played: Ints
    """Index of the candidate that was played, -1 if the move played is not a candidate. [P]"""

    def __len__(self) -> int:
        return len(self.targets)

    def split(self, config: FitConfig) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return masks of the training and validation positions; all positions from a game are in the same part."""
        count = int(self.games.max(initial=-1)) + 1
        order = np.random.default_rng(config.seed).permutation(count)
        kept_out = np.zeros(count, dtype=np.bool_)
        kept_out[order[: max(1, round(config.validation * count))]] = True
        validation = kept_out[self.games]
        return ~validation, validation


def collect_samples(games: Sequence[EngineGame], config: FitConfig) -> FitSamples:
    """Extract the positions from the games. Board sizes may differ; rule and win length must not."""
    from scipy import sparse

    kinds = {(game.ruleset.rule, game.ruleset.win_length) for game in games}
    if len(kinds) != 1:
        raise InputError(f"all games must have the same rule and win length, not {rulesets_of(games) or 'no games'}")
    rule = games[0].ruleset.rule
    by_colour = rule is Rule.RENJU if config.by_colour is None else config.by_colour
    features = _native.PositionFeatures(by_colour)
    boards: dict[Ruleset, _native.Board] = {}
    for game in games:
        board = boards.setdefault(game.ruleset, Position.start(game.ruleset).native)
        features.add(board, game.moves, game.first)
    arrays = features.take()
    positions = len(arrays["games"])
    rows = sparse.csr_array(
        (arrays["counts"].astype(np.float64), arrays["columns"], arrays["row_starts"]),
        shape=(positions, _CODES * (2 if by_colour else 1)),
    )
    return FitSamples(
        by_colour=by_colour,
        targets=_targets(games, arrays["games"], arrays["move_indices"], arrays["colours"], config),
        games=arrays["games"],
        colours=arrays["colours"],
        threat_bits=arrays["threat_bits"],
        rows=rows,
        pair_starts=arrays["pair_starts"],
        pairs=arrays["pairs"],
        pair_counts=arrays["pair_counts"],
        move_starts=arrays["move_starts"],
        own_codes=arrays["own_codes"],
        other_codes=arrays["other_codes"],
        played=arrays["played"],
    )


def _targets(
    games: Sequence[EngineGame], game_of: Ints, move_of: Ints, colours: npt.NDArray[np.uint8], config: FitConfig
) -> Floats:
    """Return the blend of result and search value for the side to move in each sample, from 0 to 1."""
    black_scores = {Outcome.BLACK: 1.0, Outcome.WHITE: 0.0, Outcome.DRAW: 0.5}
    black = np.array([black_scores[game.outcome] for game in games])[game_of]
    results = np.where(colours == 0, black, 1 - black)
    values = np.fromiter(itertools.chain.from_iterable(game.values for game in games), np.float64)
    starts = np.concatenate(([0], np.cumsum([len(game.values) for game in games])[:-1]))
    firsts = np.array([game.first for game in games])
    clipped = np.clip(values[starts[game_of] + move_of - firsts[game_of]], -_VALUE_LIMIT, _VALUE_LIMIT)
    expected = _sigmoid(clipped / _native.LOGISTIC_UNIT)
    return config.result_weight * results + (1 - config.result_weight) * expected


def _sigmoid(values: Floats) -> Floats:
    # Unlike exp, tanh does not overflow.
    return 0.5 * (1 + np.tanh(0.5 * values))


# -- shared parts of the tables ---------------------------------------------------------------------------------------


def shape_parts() -> Floats:
    """Return how often each shape and each pair of shapes occurs in each code: float64 [codes, parts]."""
    codes = np.array(_native.shape_codes())
    shapes = int(codes.max()) + 1
    pairs = {pair: shapes + i for i, pair in enumerate(itertools.combinations_with_replacement(range(shapes), 2))}
    parts = np.zeros((len(codes), shapes + len(pairs)))
    for number, code in enumerate(codes):
        for shape in code:
            parts[number, shape] += 1
        for pair in itertools.combinations(sorted(int(shape) for shape in code), 2):
            parts[number, pairs[pair]] += 1
    return parts


def threat_parts() -> Floats:
    """Return a column of ones and the bits of each entry in the threat table: float64 [entries, 1 + bits]."""
    entries = np.arange(_THREATS)
    return np.stack([np.ones(_THREATS), *(entries >> bit & 1 for bit in range(_native.THREAT_BITS))], axis=1)


@dataclass(frozen=True)
class _Table:
    """`count` tables of one kind within a parameter vector: own parts [count, n], then shared ones [count, m].

    The table itself is own_share · own + parts @ shared. Sparse products use one thread; dense ones would use several
    and be slower at this size.
    """

    parts: sparse.csr_array[Any, tuple[int, int]]
    count: int
    own_share: float
    ridge_own: float
    ridge_shared: float

    @property
    def size(self) -> int:
        return self.count * sum(self.parts.shape)

    def _split(self, vector: Floats) -> tuple[Floats, Floats]:
        n, m = self.parts.shape
        return vector[: self.count * n].reshape(self.count, n), vector[self.count * n :].reshape(self.count, m)

    def expand(self, vector: Floats) -> Floats:
        """Return the tables [count, n] for a parameter vector."""
        own, shared = self._split(vector)
        return np.asarray(self.own_share * own + (self.parts @ shared.T).T, dtype=np.float64)

    def gradient(self, of_tables: Floats) -> Floats:
        """Convert the gradient of the tables [count, n] to the gradient of the parameters."""
        return np.concatenate((self.own_share * of_tables.ravel(), (self.parts.T @ of_tables.T).T.ravel()))

    def ridge(self) -> Floats:
        """Return the penalty for each parameter."""
        n, m = self.parts.shape
        return np.repeat((self.ridge_own, self.ridge_shared), (self.count * n, self.count * m))


def _minimise(loss: Callable[[Floats], tuple[float, Floats]], ridge: Floats, iterations: int) -> Floats:
    """Minimise loss + Σ ridge · parameter², starting from zero."""
    from scipy import optimize

    def penalised(vector: Floats) -> tuple[float, Floats]:
        value, gradient = loss(vector)
        return value + float(ridge @ vector**2), gradient + 2 * ridge * vector

    found = optimize.minimize(
        penalised, np.zeros(len(ridge)), jac=True, method="L-BFGS-B", options={"maxiter": iterations}
    )
    return np.asarray(found.x, dtype=np.float64)


def _quantise(tables: Floats, unit: int, limit: int) -> npt.NDArray[np.int16]:
    """Return the tables as integers [2, n] in the given unit; a single table is used for both colours."""
    whole = np.clip(np.rint(tables * unit), -limit, limit).astype(np.int16)
    return np.ascontiguousarray(np.broadcast_to(whole, (2, whole.shape[1])))


# -- the evaluation ---------------------------------------------------------------------------------------------------


def _fit_evaluation(
    samples: FitSamples, training: npt.NDArray[np.bool_], validation: npt.NDArray[np.bool_], config: FitConfig
) -> tuple[Floats, Floats, FitLosses]:
    """Return tables of points [1 or 2, codes] and threats [1 or 2, entries] in log-odds, and the losses."""
    from scipy import sparse

    colours = 2 if samples.by_colour else 1
    points = _Table(sparse.csr_array(shape_parts()), colours, _OWN_CODE, _RIDGE_OWN, _RIDGE_SHARED)
    threats = _Table(sparse.csr_array(threat_parts()), colours, _OWN_THREAT, _RIDGE_OWN, _RIDGE_THREAT_BITS)
    ridge = config.regularisation * np.concatenate((points.ridge(), threats.ridge()))
    entries = samples.threat_bits.astype(np.int64)
    if samples.by_colour:
        entries += _THREATS * samples.colours.astype(np.int64)

    def logits(vector: Floats, rows: sparse.csr_array[Any, tuple[int, int]], entry: Ints) -> Floats:
        codes = points.expand(vector[: points.size]).ravel()
        return np.asarray(rows @ codes + threats.expand(vector[points.size :]).ravel()[entry], dtype=np.float64)

    rows, transposed = samples.rows[training], samples.rows[training].T.tocsr()
    entry, target = entries[training], samples.targets[training]

    def loss(vector: Floats) -> tuple[float, Floats]:
        logit = logits(vector, rows, entry)
        error = (_sigmoid(logit) - target) / len(target)
        of_codes = np.asarray(transposed @ error).reshape(colours, -1)
        of_threats = _sums(entry, error, colours * _THREATS).reshape(colours, -1)
        return _cross_entropy(logit, target), np.concatenate((points.gradient(of_codes), threats.gradient(of_threats)))

    vector = _minimise(loss, ridge, config.iterations)
    kept_out = logits(vector, samples.rows[validation], entries[validation])
    losses = FitLosses(
        base=_cross_entropy(np.zeros(len(kept_out)), samples.targets[validation]),
        train=_cross_entropy(logits(vector, rows, entry), target),
        validation=_cross_entropy(kept_out, samples.targets[validation]),
    )
    return points.expand(vector[: points.size]), threats.expand(vector[points.size :]), losses


def _sums(places: Ints, amounts: Floats, count: int) -> Floats:
    """Sum the amounts by index: float64 [count]."""
    return np.asarray(np.bincount(places, amounts, count), dtype=np.float64)


def _cross_entropy(logits: Floats, targets: Floats) -> float:
    """Return the mean of -t log p - (1 - t) log (1 - p), where p is the logistic of the logit."""
    return float(np.mean(np.logaddexp(0, logits) - targets * logits))


# -- the move ordering ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Candidates:
    """Candidate moves in some positions: codes [m], start of each position [p], index of the move played [p]."""

    own: Ints
    other: Ints
    starts: npt.NDArray[np.intp]
    played: npt.NDArray[np.intp]

    def pieces(self) -> list[_Candidates]:
        """Split into pieces of about `_ROWS_AT_ONCE` moves."""
        steps = np.searchsorted(self.starts, np.arange(0, len(self.own), _ROWS_AT_ONCE))
        bounds = [*np.unique(steps), len(self.starts)]
        ends = np.append(self.starts, len(self.own))
        return [
            _Candidates(
                self.own[ends[a] : ends[b]],
                self.other[ends[a] : ends[b]],
                self.starts[a:b] - self.starts[a],
                self.played[a:b] - self.starts[a],
            )
            for a, b in itertools.pairwise(bounds)
        ]

    def probabilities(self, tables: Floats) -> tuple[Floats, Floats, npt.NDArray[np.intp]]:
        """Return the softmax over each position's moves [m], the scores [m], and the position of each move [m]."""
        scores = tables[0][self.own] + tables[1][self.other]
        lengths = np.diff(np.append(self.starts, len(self.own)))
        position = np.repeat(np.arange(len(self.starts)), lengths)
        scores -= np.maximum.reduceat(scores, self.starts)[position]
        exponentials = np.exp(scores)
        return exponentials / np.add.reduceat(exponentials, self.starts)[position], scores, position


def _gather(samples: FitSamples, chosen: npt.NDArray[np.bool_]) -> _Candidates:
    positions = np.flatnonzero(chosen & (samples.played >= 0))
    lengths = samples.move_starts[positions + 1] - samples.move_starts[positions]
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.intp)
    moves = np.repeat(samples.move_starts[positions] - starts, lengths) + np.arange(int(lengths.sum()))
    return _Candidates(
        own=samples.own_codes[moves],
        other=samples.other_codes[moves],
        starts=starts,
        played=starts + samples.played[positions],
    )


def _fit_ordering(
    samples: FitSamples,
    training: npt.NDArray[np.bool_],
    validation: npt.NDArray[np.bool_],
    colour: Colour | None,
    config: FitConfig,
) -> tuple[Floats, OrderingLosses]:
    """Fit tables [2, codes] in log-odds for the mover's and the opponent's codes, for one colour or both."""
    from scipy import sparse

    chosen = np.ones(len(samples), dtype=np.bool_)
    if colour is not None:
        chosen = samples.colours == (0 if colour is Colour.BLACK else 1)
    learned, kept_out = _gather(samples, chosen & training), _gather(samples, chosen & validation)
    if not len(learned.starts) or not len(kept_out.starts):
        raise InputError(f"too few games to fit the move ordering for {colour or 'both colours'}; generate more games")
    table = _Table(sparse.csr_array(shape_parts()), 2, 1.0, _RIDGE_ORDERING_OWN, _RIDGE_ORDERING_SHARED)
    pieces = learned.pieces()
    count = len(learned.starts)

    def loss(vector: Floats) -> tuple[float, Floats]:
        tables = table.expand(vector)
        gradient = np.zeros((2, _CODES))
        total = 0.0
        for piece in pieces:
            error, _, _ = piece.probabilities(tables)
            total -= float(np.log(np.maximum(error[piece.played], 1e-30)).sum())
            error[piece.played] -= 1
            gradient[0] += _sums(piece.own, error, _CODES)
            gradient[1] += _sums(piece.other, error, _CODES)
        return total / count, table.gradient(gradient / count)

    vector = _minimise(loss, config.regularisation * table.ridge(), config.ordering_iterations)
    tables = table.expand(vector)
    probabilities, scores, _ = kept_out.probabilities(tables)
    lengths = np.diff(np.append(kept_out.starts, len(kept_out.own)))
    return tables, OrderingLosses(
        colour=str(colour or "both"),
        base=float(np.log(lengths).mean()),
        train=loss(vector)[0],
        validation=float(-np.log(np.maximum(probabilities[kept_out.played], 1e-30)).mean()),
        # Scores are relative to the best move in the position.
        top=float((scores[kept_out.played] >= 0).mean()),
    )

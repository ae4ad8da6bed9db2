"""Sources of self-play games.

A `GameSource` plays games with the weights that are published to it. `LocalSelfPlay` uses threads of this process; the
same seed produces the same games. `tengen.cluster` has a source that plays on other machines. Both use `SelfPlayer`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy.typing as npt

from tengen.core.contracts import Ruleset
from tengen.errors import RunError
from tengen.learning.experience.self_play import FinishedGame, Games, State, make_samples
from tengen.learning.run.folder import iteration_rng
from tengen.nets.devices import Device
from tengen.nets.evaluators import OnnxEvaluator, OpenVinoEvaluator
from tengen.nets.models import Backend
from tengen.search.puct_config import PuctConfig
from tengen.search.puct_self_play import Openings, SelfPlay

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""State of a source in a checkpoint: arrays by name."""

# Values of `purpose` for `iteration_rng`; the algorithms use other values.
_THREAD_GAMES, _WORKER_GAMES = 0, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlaySpec:
    """Settings shared by all self-play in a run."""

    ruleset: Ruleset
    layout: str
    openings: Openings
    games: int
    """Games per iteration."""
    actors: int
    """Number of threads in this process."""
    parallel: int
    """Number of concurrent games across all threads."""
    seed: int
    """Seed of the run."""
    device: Device = Device.CPU
    backend: Backend = Backend.ONNXRUNTIME

    def thread_seed(self, thread: int) -> int:
        """Return the seed for a thread's first games."""
        return int(iteration_rng(self.seed, thread, _THREAD_GAMES).integers(1 << 63))

    def worker_seed(self, worker: int) -> int:
        """Return the seed for the games of a worker on another machine."""
        return int(iteration_rng(self.seed, worker, _WORKER_GAMES).integers(1 << 63))


class Generation(NamedTuple):
    """A network for the next self-play games, with its search settings."""

    version: int
    """Number of iterations for which the weights were trained."""
    model: bytes
    """ONNX file."""
    search: PuctConfig


class SelfPlayer:
    """Games in progress and the network that plays them. Not thread-safe."""

    def __init__(self, spec: SelfPlaySpec, *, parallel: int, seed: int, state: State | None = None) -> None:
        """Continue the games in `state`; if it is None or empty, start `parallel` games from the seed."""
        self._spec = spec
        self._parallel = parallel
        self._seed = seed
        self._state = state or {}
        self._play: SelfPlay | None = None
        self._evaluations_before = 0

    @property
    def evaluations(self) -> int:
        """Number of positions evaluated so far."""
        return self._evaluations_before + (self._play.counts.evaluations if self._play else 0)

    def use(self, generation: Generation) -> None:
        """Switch to another network; search trees are discarded."""
        spec = self._spec
        evaluator: OnnxEvaluator | OpenVinoEvaluator
        if spec.backend is Backend.OPENVINO:
            evaluator = OpenVinoEvaluator(generation.model)
        else:
            evaluator = OnnxEvaluator(generation.model, device=spec.device)
        if self._play is not None:
            self._evaluations_before = self.evaluations
            self._state = self._play.state()
        play = SelfPlay(
            spec.ruleset,
            generation.search,
            games=self._parallel,
            seed=self._seed,
            layout=spec.layout,
            openings=spec.openings,
        )
        if self._state:
            play.load_state(self._state)
        self._play, self._evaluator, self._generation = play, evaluator, generation

    def step(self) -> list[FinishedGame]:
        """Run one forward pass; return the games that have finished."""
        assert self._play is not None, "call `use` first"
        self._play.step(self._evaluator)
        spec, generation = self._spec, self._generation
        return [
            FinishedGame(
                tuple(game.moves.tolist()),
                game.outcome,
                make_samples(game, spec.ruleset, spec.layout, generation.search.discount),
                generation.version,
            )
            for game in self._play.finished()
        ]

    def state(self) -> State:
        """Return the unfinished games; search trees are discarded."""
        assert self._play is not None, "call `use` first"
        return self._play.state()


class GameSource(Protocol):
    """Source of a run's self-play games. A context manager that stops playing on exit."""

    @property
    def is_continuous(self) -> bool:
        """Whether workers keep playing without being told. If not, each `publish` starts the games of one iteration."""
        ...

    def publish(self, generation: Generation) -> None:
        """Switch self-play to this network."""
        ...

    def collect(self) -> Games:
        """Wait for the games of an iteration and return them. `publish` must have been called first."""
        ...

    def arrays(self) -> Arrays:
        """Return the state to save in a checkpoint after the last `collect`."""
        ...

    def metrics(self) -> Mapping[str, Any]:
        """Return statistics about the workers for the iteration's metrics."""
        ...

    def describe(self) -> str:
        """Return a short description of the workers for the progress line; may be empty."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...


class LocalSelfPlay:
    """Self-play in threads of this process; each plays an equal share of the games."""

    is_continuous = False

    def __init__(self, spec: SelfPlaySpec, arrays: Arrays) -> None:
        """Continue the unfinished games in `arrays` from a checkpoint."""
        self._spec = spec
        self._threads = ThreadPoolExecutor(spec.actors, thread_name_prefix="self-play")
        self._stop = threading.Event()
        self._playing: list[Future[tuple[list[FinishedGame], State, int]]] = []
        self._states: list[State] = []
        for thread in range(spec.actors):
            own = f"{thread}."
            self._states.append({name.removeprefix(own): arrays[name] for name in arrays if name.startswith(own)})

    def publish(self, generation: Generation) -> None:
        """Start the games for the next iteration."""
        self._playing = [
            self._threads.submit(self._play, generation, thread, state) for thread, state in enumerate(self._states)
        ]

    def collect(self) -> Games:
        """Wait for all threads and return their games."""
        parts = [future.result() for future in self._playing]
        self._states = [state for _, state, _ in parts]
        return Games.join([game for games, _, _ in parts for game in games], sum(count for _, _, count in parts))

    def arrays(self) -> Arrays:
        """Return the unfinished games."""
        return {f"{thread}.{name}": array for thread, state in enumerate(self._states) for name, array in state.items()}

    def metrics(self) -> Mapping[str, Any]:
        """Return an empty table, because there are no remote workers."""
        return {}

    def describe(self) -> str:
        """Return an empty string."""
        return ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._threads.shutdown()

    def _play(self, generation: Generation, thread: int, state: State) -> tuple[list[FinishedGame], State, int]:
        """Play until this thread's share is finished; the same generation and state produce the same games."""
        spec = self._spec
        parallel = _share(spec.parallel, thread, spec.actors)
        player = SelfPlayer(spec, parallel=parallel, seed=spec.thread_seed(thread), state=state)
        player.use(generation)
        finished: list[FinishedGame] = []
        while len(finished) < _share(spec.games, thread, spec.actors):
            if self._stop.is_set():
                raise RunError("self-play was stopped")
            finished += player.step()
        return finished, player.state(), player.evaluations


def _share(total: int, part: int, parts: int) -> int:
    """Return the size of part `part` when `total` is divided as equally as possible into `parts`."""
    return (part + 1) * total // parts - part * total // parts

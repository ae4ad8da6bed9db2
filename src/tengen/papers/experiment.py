"""Base classes for the experiments of a paper, and the figures that experiments produce.

An experiment is a frozen dataclass made from a table in the paper's `config.toml`. It plays, trains or measures, and
returns figures by name. Its work is stored in the output folder, so a stopped experiment can be resumed. The paper's
own numbers have the same names in `expected.json`, which lets tables compare them with ours.
"""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from statistics import NormalDist, median
from typing import Any

from rich.console import Console

from tengen.agents.registry import parse_agent
from tengen.core.checked_files import parse_json, read_bytes
from tengen.core.files import write_text, writing
from tengen.core.tables import to_table
from tengen.errors import InputError
from tengen.learning.checks import check_at_least

_QUANTILE = NormalDist().inv_cdf(0.975)
_NETWORK = re.compile(r"\{([^{}]+)\}")
_MAX_BYTES = 1 << 24


class Column(StrEnum):
    """Column of the table that an experiment fills."""

    AUTHORS = "authors"
    """As the authors ran it."""
    DESCRIBED = "described"
    """As the paper describes it."""
    BEST = "best"
    """Our strongest variant."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number; `low` and `high` bound its 95 % interval, or the range over several seeds."""

    value: float | None
    """The number; None if no run reached it."""
    low: float | None = None
    high: float | None = None
    count: int = 0
    """Number of games, positions or runs behind the number."""
    note: str = ""

    @classmethod
    def share(cls, hits: float, count: int) -> Figure:
        """Return a share with its Wilson interval."""
        check_at_least(_Count(count), 1, "count")
        share, square = hits / count, _QUANTILE**2
        centre = (share + square / (2 * count)) / (1 + square / count)
        half = _QUANTILE / (1 + square / count) * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
        return cls(round(share, 4), round(max(0.0, centre - half), 4), round(min(1.0, centre + half), 4), count)

    @classmethod
    def mean(cls, values: Sequence[float]) -> Figure:
        """Return a mean with the normal interval given by its standard error."""
        count = len(values)
        mean = sum(values) / count
        if count < 2:
            return cls(round(mean, 4), count=count)
        half = _QUANTILE * math.sqrt(sum((value - mean) ** 2 for value in values) / (count - 1) / count)
        return cls(round(mean, 4), round(mean - half, 4), round(mean + half, 4), count)

    @classmethod
    def of_seeds(cls, values: Sequence[float | None]) -> Figure:
        """Return the median over runs with different seeds, with their range; None stands for a run without a value.

        The median is None if fewer than half of the runs have a value.
        """
        reached = sorted(value for value in values if value is not None)
        note = "" if len(reached) == len(values) else f"{len(reached)} of {len(values)} runs"
        if not reached:
            return cls(None, count=len(values), note=note)
        middle = median([*reached, *[math.inf] * (len(values) - len(reached))])
        low, high = (reached[0], reached[-1]) if len(reached) > 1 else (None, None)
        return cls(None if math.isinf(middle) else middle, low, high, len(values), note)

    def to_json(self) -> dict[str, Any]:
        """Convert to a table without empty fields."""
        table: dict[str, Any] = {"value": self.value}
        if self.low is not None and self.high is not None:
            table |= {"low": self.low, "high": self.high}
        if self.count:
            table["count"] = self.count
        return {**table, "note": self.note} if self.note else table

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Figure:
        """Convert a table written by `to_json`."""
        return cls(**table)


def check_player(text: str) -> None:
    """Raise `AgentNameError` for an unknown agent or parameter, before anything is trained."""
    parse_agent(_NETWORK.sub("model=9x9", text))


@dataclass(frozen=True)
class _Count:
    count: int


class MissingDataError(InputError):
    """An experiment needs files that cannot be shipped. The paper's other experiments still run."""


@dataclass(slots=True)
class Findings:
    """The results of an experiment."""

    figures: dict[str, Figure] = field(default_factory=dict)
    """The figures by name, such as `level-0/running_reward`."""
    data: dict[str, Any] = field(default_factory=dict)
    """Everything else that was measured, as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """The settings for running experiments: folders, networks, engines and where games are played."""

    out: Path
    console: Console
    trains_shipped: bool = False
    """Whether to train networks from scratch even if there is a shipped model."""
    engines: Mapping[str, str] = field(default_factory=dict)
    """Commands of the external engines that take part, by name."""
    shipped: Mapping[str, str] = field(default_factory=dict)
    """Shipped models by training experiment; each replaces its experiment unless `trains_shipped` is set."""
    concurrency: int = 1
    """Number of games played at the same time."""
    on: str = "local"
    """Place where games are played, including AlphaZero's self-play, written as for `--on`."""

    def run_folder(self, training: str, seed: int = 1) -> Path:
        """Return the folder of a run of a training experiment."""
        return self.out / "runs" / training / str(seed)

    def network(self, training: str, seed: int = 1) -> Path | str:
        """Return the run folder or shipped model of a training experiment. Raises `InputError` if neither exists."""
        folder = self.run_folder(training, seed)
        if (folder / "model.onnx").exists():
            return folder
        if training in self.shipped and not self.trains_shipped:
            return self.shipped[training]
        raise InputError(f"the network of {training!r} (seed {seed}) has not been trained yet: {folder} does not exist")

    def player(self, text: str) -> str:
        """Replace every `{training}` in an agent specification by the run or shipped model of that experiment.

        `{training@5}` is the network that the run kept after iteration 5.
        """

        def parameter(found: re.Match[str]) -> str:
            training, _, iteration = found[1].partition("@")
            network = self.network(training)
            if not isinstance(network, Path):
                return f"model={network}"
            return f'run="{network}"' + (f",iteration={iteration}" if iteration else "")

        return _NETWORK.sub(parameter, text)

    def parts(self, experiment: Experiment) -> Parts:
        """Return the finished parts of a stopped experiment.

        Raises `InputError` if they were measured with other settings.
        """
        return Parts(self.out / "parts" / f"{experiment.name}.json", experiment, self)


class Parts:
    """Finished parts of an experiment, stored in a file, so that a resumed experiment does not measure them again."""

    def __init__(self, path: Path, experiment: Experiment, lab: Lab) -> None:
        self._path = path
        self._settings = experiment.settings_table(lab)
        self._parts: dict[str, Any] = {}
        if not path.exists():
            return
        table = parse_json(read_bytes(path, _MAX_BYTES), str(path))
        if not isinstance(table, dict) or not all(isinstance(table.get(key), dict) for key in ("settings", "parts")):
            raise InputError(f"{path} is damaged: it lacks settings or parts; delete it to repeat the measurements")
        if not experiment.has_settings(table["settings"], lab):
            raise InputError(
                f"{path} contains parts of {experiment.name} with other settings: choose another folder with --out"
            )
        self._parts = table["parts"]

    def get(self, name: str, measure: Callable[[], Any]) -> Any:
        """Return a part as JSON data; if it is not finished, measure and store it."""
        if name not in self._parts:
            self._parts[name] = measure()
            with writing(self._path.parent):
                self._path.parent.mkdir(parents=True, exist_ok=True)
            table = {"settings": self._settings, "parts": self._parts}
            write_text(self._path, json.dumps(table, indent=1, ensure_ascii=False) + "\n")
        return self._parts[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment(ABC):
    """Part of a paper that can be run on its own."""

    name: str
    about: str = ""
    """What the experiment measures, in one line."""
    column: Column = Column.AUTHORS
    needs_retraining: bool = False
    """Whether the experiment runs only if every network is trained from scratch."""
    needs_shipped: bool = False
    """Whether the experiment runs only with shipped networks; another one then measures newly trained networks."""
    figure: str = ""
    """First part of the figures' names (default: the experiment's name). Experiments that fill different columns of the
    same rows share it.
    """

    def key(self, *parts: str) -> str:
        """Return the name of a figure."""
        return "/".join((self.figure or self.name, *parts))

    def settings_table(self, lab: Lab) -> dict[str, Any]:
        """Return the settings that determine the results, in the form they have after a round trip through JSON."""
        table = to_table(self)
        if table.get("takes_engines"):
            table["engines"] = dict(lab.engines)
        del table["about"]
        found: dict[str, Any] = json.loads(json.dumps(table))
        return found

    def has_settings(self, done: Mapping[str, Any], lab: Lab) -> bool:
        """Whether results were produced with these settings; any missing from the results must be at their defaults."""
        defaults = {one.name for one in fields(self) if getattr(self, one.name) == one.default}
        return {
            name: value for name, value in self.settings_table(lab).items() if name in done or name not in defaults
        } == done

    @abstractmethod
    def run(self, lab: Lab) -> Findings:
        """Run or resume the experiment."""

    def draw(self, lab: Lab, data: Mapping[str, Any]) -> None:
        """Draw plots of an experiment's stored data in the output folder."""

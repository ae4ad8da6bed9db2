"""Shipping a model: write a run's network in every format, with a card about its training and results.

A card contains only recorded data: the run's header, counts and strength curve, and the results of matches
written by `tengen match --json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tengen.agents.alphazero import AlphaZeroParameters
from tengen.agents.policy import PolicyParameters
from tengen.agents.registry import parse_agent
from tengen.arena.match import TimeControl
from tengen.core.contracts import Ruleset
from tengen.core.files import replace_file, writing
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.core.tables import to_table
from tengen.datasets.dataset import Dataset, Split
from tengen.errors import InputError
from tengen.learning.accuracy import TEST_FILE
from tengen.learning.algorithms.supervised_pictures import PICTURES
from tengen.learning.config import format_toml
from tengen.learning.run.plots import draw_run
from tengen.learning.run.reading import METRICS_FILE, RunReader
from tengen.nets.architectures import count_weights, load_net
from tengen.nets.calibration import played_planes
from tengen.nets.evaluators import OnnxEvaluator
from tengen.nets.export import export_onnx, quantise
from tengen.nets.models import INT8_FILE, WEIGHTS_FILE, load_model
from tengen.records import load
from tengen.search.critic import CRITIC_FILE, load_critic

MAX_INT8_DIVERGENCE = 0.025
"""Maximum mean divergence of an int8 network's policy from that of the fp32 network, in nats."""
MAX_INT8_VALUE_DIFFERENCE = 0.04
"""Maximum mean difference between int8 and fp32 values. Networks above either maximum are shipped in fp32 only."""
_COMPARED_POSITIONS = 1000
_CALIBRATION_GAMES = 100
_CALIBRATION_SAMPLES = 1000
_MAX_METRICS_BYTES = 1_000_000
"""Maximum size of a metrics file to ship; larger files are left out, because every user downloads the models."""


def ship_run(run: RunReader, target: Path, command: str, matches: Sequence[Path] = ()) -> None:
    """Create the model folder `target` from the newest network of a run; the folder name is the model's name.

    `command` is the command that started the run; `matches` are files written by `tengen match --json`.
    """
    metrics = run.metrics()
    if not metrics:
        raise InputError(f"{run.folder} has no finished iteration yet: train it first")
    with writing(target):
        target.mkdir(parents=True, exist_ok=True)
    is_critic = (run.folder / CRITIC_FILE).exists()
    model = _ship_critic(run, target) if is_critic else _ship_net(run, target)
    draw_run(metrics, target, f"{target.name}, {model['ruleset']}")
    for picture in target.glob("*.png"):  # only the smaller SVG is shipped
        picture.unlink()
    has_metrics = _ship_metrics(run, target)
    last = metrics[-1]
    card: dict[str, Any] = {
        "name": target.name,
        **model,
        "command": command,
        "run": {
            "algorithm": run.header.algorithm,
            "preset": run.header.preset,
            "seed": run.header.seed,
            "version": run.header.version,
            "commit": run.header.commit,
            "iterations": last["iteration"],
            "games": last["games"],
            "positions": last["positions"],
            "minutes": round(last["seconds"] / 60, 1),
            "cpu_minutes": round(last["cpu_seconds"] / 60, 1),
        },
        "metrics": METRICS_FILE if has_metrics else None,
        "accuracy": _read_accuracy(run),
        "pictures": _ship_pictures(run, target),
        "strength": next((line["strength"] for line in reversed(metrics) if "strength" in line), None),
        "matches": [_match(path, run, target.name) for path in matches],
    }
    _write(target / "card.json", (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode("utf-8"))
    _write(target / "card.md", format_card(card, format_toml(run.config_table)).encode("utf-8"))


def _write(path: Path, data: bytes) -> None:
    with writing(path):
        replace_file(path, data)


def _ship_net(run: RunReader, target: Path) -> dict[str, Any]:
    """Write a network in every format; return its part of the card."""
    net, ruleset = load_net(run.folder / WEIGHTS_FILE)
    model = export_onnx(net, ruleset, name=target.name, discount=load_model(run.folder)[1].discount)
    _write(target / "model.onnx", model)
    quantised = _quantise(run, model, ruleset, net.config.planes) if net.has_int8 else None
    if quantised is None:
        (target / INT8_FILE).unlink(missing_ok=True)
    else:
        _write(target / INT8_FILE, quantised)
    _write(target / WEIGHTS_FILE, (run.folder / WEIGHTS_FILE).read_bytes())
    return {
        "ruleset": str(ruleset),
        "planes": net.config.planes,
        "any_size": net.has_any_size,
        "weights": count_weights(net),
        "int8": quantised is not None,
        "sha256": load_model(target)[1].sha256,
    }


def _ship_metrics(run: RunReader, target: Path) -> bool:
    """Copy the metrics unless they are too large; return whether they were copied."""
    data = (run.folder / METRICS_FILE).read_bytes()
    if len(data) > _MAX_METRICS_BYTES:
        (target / METRICS_FILE).unlink(missing_ok=True)
        return False
    _write(target / METRICS_FILE, data)
    return True


def _ship_pictures(run: RunReader, target: Path) -> list[str]:
    """Copy the plots of a supervised run; return their names."""
    shown = [name for name in PICTURES if (run.folder / f"{name}.svg").exists()]
    for name in shown:
        _write(target / f"{name}.svg", (run.folder / f"{name}.svg").read_bytes())
    return shown


def _ship_critic(run: RunReader, target: Path) -> dict[str, Any]:
    """Write a critic, which has one file for both playing and training; return its part of the card."""
    critic = load_critic(run.folder)
    data = critic.to_bytes()
    _write(target / CRITIC_FILE, data)
    return {
        "ruleset": str(critic.ruleset),
        "input": str(critic.config.input),
        "any_size": True,
        "weights": sum(array.size for array in critic.weights.values()),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def format_card(card: dict[str, Any], config: str) -> str:
    """Format a card as Markdown."""
    run = card["run"]
    sizes = "any board size" if card["any_size"] else "this board size only"
    kind, seen = ("critic", card["input"]) if "input" in card else ("network", card["planes"])
    lines = [
        f"# {card['name']}",
        "",
        f"A {kind} for {card['ruleset']}: {card['weights']:,} weights, input `{seen}`, {sizes}.",
        f"Play against it: `tengen play --terminal {run['algorithm']}:model={card['name']} --rules {card['ruleset']}`.",
        "",
        "## Training",
        "",
        "```sh",
        card["command"],
        "```",
        "",
        f"{run['iterations']:,} iterations, {run['games']:,} games, {run['positions']:,} positions.",
        f"{run['minutes']} minutes of wall-clock time, {run['cpu_minutes']} minutes of CPU time across all threads.",
        f"Tengen {run['version']}, commit {run['commit'][:12]}, seed {run['seed']}.",
        *(["`metrics.jsonl` has the losses, games and strength of every iteration."] if card.get("metrics") else []),
        "",
    ]
    if card["strength"]:
        lines += [
            "![strength during training](strength.svg)",
            "",
            f"Final strength: {card['strength']['elo']:+.0f} ±{card['strength']['error']:.0f} Elo above the anchor.",
            "",
        ]
    if card["accuracy"]:
        shares = {key: f"{100 * value:.1f} %" for key, value in card["accuracy"].items() if key.startswith("top")}
        lines.append(
            f"Accuracy on {card['accuracy']['samples']:,} moves of held-out test games: {shares['top1']} (top 1) and"
            f" {shares['top5']} (top 5); without openings, {shares['top1_without_openings']} and"
            f" {shares['top5_without_openings']}.\n"
        )
    for name in card.get("pictures", ()):
        lines += [f"![{PICTURES[name]}]({name}.svg)", ""]
    if card["matches"]:
        lines += ["## Results", "", "| against | games | won, drawn, lost | as black | as white | conditions |"]
        lines += ["|---|--:|---|---|---|---|"]
        for match in card["matches"]:
            results = " | ".join(_wdl(match[key]) for key in ("all", "black", "white"))
            lines.append(f"| `{match['against']}` | {match['games']} | {results} | {match['conditions']} |")
        lines.append("")
    lines += ["## Configuration", "", "```toml", config.rstrip(), "```", ""]
    return "\n".join(lines)


def _match(path: Path, run: RunReader, model: str) -> dict[str, Any]:
    """Read the result of a match played by the run's network, for the card."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        tournament = report["tournament"]
        openings = tournament["openings"]
        stones = openings.get("stones")
        where = openings.get("file") or ("the empty board" if stones == 0 else "random stones near the centre")
        return {
            "as": report["a"].replace(f"run={run.folder}", f"model={model}"),
            "against": report["b"],
            "games": report["wins"] + report["draws"] + report["losses"],
            "all": [report[key] for key in ("wins", "draws", "losses")],
            "black": [report["as_black"][key] for key in ("wins", "draws", "losses")],
            "white": [report["as_white"][key] for key in ("wins", "draws", "losses")],
            "conditions": ", ".join(
                [
                    *tournament["rules"],
                    *_settings(report["a"]),
                    *_limits(tournament.get("limits", {})),
                    f"from {Path(str(where)).name}",
                ]
            ),
        }
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{path} is not the output of `tengen match --json`: {error!r}") from None


def _settings(agent: str) -> list[str]:
    """Return the settings of a player, including `resist` if it is enabled, and how a policy player chooses."""
    parameters = parse_agent(agent)[1]
    shown = [f"`{settings}`" if (settings := agent.partition(",")[2]) else "default settings"]
    if isinstance(parameters, PolicyParameters):
        choice = "moves sampled from the policy" if parameters.temperature else "most likely move"
        shown = [*([shown[0]] if settings else []), choice]
    if isinstance(parameters, AlphaZeroParameters) and parameters.resist is None and parameters.resistance_nodes:
        shown.append("default `resist`")
    return shown


def _limits(table: dict[str, Any]) -> list[str]:
    """Return the limits of both players as `tengen match` options."""
    defaults = to_table(TimeControl())
    options = [f"--{name.replace('_', '-')} {value}" for name, value in table.items() if defaults.get(name) != value]
    return [f"both with `{' '.join(options)}`"] if options else []


def _wdl(counts: Sequence[int]) -> str:
    return f"+{counts[0]} ={counts[1]} −{counts[2]}"


def _read_accuracy(run: RunReader) -> dict[str, Any] | None:
    """Read the test accuracy of a supervised run; None for other runs."""
    path = run.folder / TEST_FILE
    if not path.exists():
        return None
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    del table["by_stones"]
    return table


def _quantise(run: RunReader, model: bytes, ruleset: Ruleset, layout: str) -> bytes | None:
    """Return the network in int8, or None if its outputs differ too much from the fp32 network."""
    quantised = quantise(model, _calibration(run, ruleset, layout))
    planes = played_planes(ruleset, layout, _COMPARED_POSITIONS, seed=1)
    policy, value = OnnxEvaluator(model).evaluate(planes)
    its_policy, its_value = OnnxEvaluator(quantised).evaluate(planes)
    divergence = (np.exp(policy.astype(np.float64)) * (policy - its_policy)).sum(axis=1).mean()
    is_close = divergence < MAX_INT8_DIVERGENCE and np.abs(its_value - value).mean() < MAX_INT8_VALUE_DIFFERENCE
    return quantised if is_close else None


def _calibration(run: RunReader, ruleset: Ruleset, layout: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Return planes for int8 calibration: positions from the run's data set or its newest games."""
    if "data" in run.config_table:
        dataset = Dataset.open(Path(run.config_table["data"]))
        chosen = dataset.find(Split.TRAINING)
        return dataset.batch(chosen[:: max(1, len(chosen) // _CALIBRATION_SAMPLES)], layout).planes
    newest = run.game_files()[-1:]
    planes = []
    for record in load(newest[0])[:_CALIBRATION_GAMES] if newest else ():
        position = Position.start(ruleset)
        for move in record.moves():
            planes.append(encode(position, layout))
            assert move.point is not None
            position = position.play(move.point)
    if not planes:
        raise InputError(
            f"{run.folder} has no games, but int8 calibration needs positions from games: continue training"
        )
    return np.array(planes, np.float32)

"""From a run to a shipped model: its network in every form, and a card that says where it comes from and what it does.

A card holds nothing that was not measured: the run's own header, counts and strength curve, and results of matches that
`tengen match --json` wrote.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tengen.agents.alphazero import AlphaZeroParameters
from tengen.agents.registry import parse_agent
from tengen.arena.match import TimeControl
from tengen.core.contracts import Ruleset
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.core.tables import to_table
from tengen.datasets.dataset import Dataset, Split
from tengen.errors import InputError
from tengen.learning.accuracy import TEST_FILE
from tengen.learning.algorithms.supervised_pictures import PICTURES
from tengen.learning.config import format_toml
from tengen.learning.files import write_file, writing
from tengen.learning.plots import draw_run
from tengen.learning.run import METRICS_FILE, Run
from tengen.nets.architectures import count_weights, load_net
from tengen.nets.export import export_onnx, quantise
from tengen.nets.models import WEIGHTS_FILE, load_model
from tengen.records import load
from tengen.search.critic import CRITIC_FILE, load_critic

_CALIBRATION_GAMES = 100
_CALIBRATION_SAMPLES = 1000
_MOST_METRICS_BYTES = 1_000_000
"""A longer log of training stays with its run: models are downloaded by everybody."""


def ship_run(run: Run, target: Path, command: str, matches: Sequence[Path] = ()) -> None:
    """Make `target`, named as the model shall be, from the newest network of a run.

    `command` is what the run was begun with; `matches` are files of `tengen match --json`.
    """
    metrics = run.metrics()
    if not metrics:
        raise InputError(f"{run.folder} has not finished an iteration yet")
    with writing(target):
        target.mkdir(parents=True, exist_ok=True)
    is_critic = (run.folder / CRITIC_FILE).exists()
    model = _ship_critic(run, target) if is_critic else _ship_net(run, target)
    draw_run(metrics, target, f"{target.name}, {model['ruleset']}")
    for picture in target.glob("*.png"):  # the SVG is smaller
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
    write_file(target / "card.json", (json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode("utf-8"))
    write_file(target / "card.md", format_card(card, format_toml(run.config_table)).encode("utf-8"))


def _ship_net(run: Run, target: Path) -> dict[str, Any]:
    """Write a network in every form; returns what the card says of it."""
    net, ruleset = load_net(run.folder / WEIGHTS_FILE)
    model = export_onnx(net, ruleset, name=target.name, discount=load_model(run.folder)[1].discount)
    write_file(target / "model.onnx", model)
    if net.has_int8:
        write_file(target / "model-int8.onnx", quantise(model, _calibration(run, ruleset, net.config.planes)))
    write_file(target / WEIGHTS_FILE, (run.folder / WEIGHTS_FILE).read_bytes())
    return {
        "ruleset": str(ruleset),
        "planes": net.config.planes,
        "any_size": net.has_any_size,
        "weights": count_weights(net),
        "int8": net.has_int8,
        "sha256": load_model(target)[1].sha256,
    }


def _ship_metrics(run: Run, target: Path) -> bool:
    """Keep the log of training beside the model unless it is too long; whether it is there."""
    data = (run.folder / METRICS_FILE).read_bytes()
    if len(data) > _MOST_METRICS_BYTES:
        (target / METRICS_FILE).unlink(missing_ok=True)
        return False
    write_file(target / METRICS_FILE, data)
    return True


def _ship_pictures(run: Run, target: Path) -> list[str]:
    """Keep what a supervised run drew at its end; returns the names."""
    shown = [name for name in PICTURES if (run.folder / f"{name}.svg").exists()]
    for name in shown:
        write_file(target / f"{name}.svg", (run.folder / f"{name}.svg").read_bytes())
    return shown


def _ship_critic(run: Run, target: Path) -> dict[str, Any]:
    """Write a critic, whose one file both plays and goes on learning; returns what the card says of it."""
    critic = load_critic(run.folder)
    data = critic.to_bytes()
    write_file(target / CRITIC_FILE, data)
    return {
        "ruleset": str(critic.ruleset),
        "input": str(critic.config.input),
        "any_size": True,
        "weights": sum(array.size for array in critic.weights.values()),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def format_card(card: dict[str, Any], config: str) -> str:
    """The card for people."""
    run = card["run"]
    sizes = "boards of any size" if card["any_size"] else "this board only"
    kind, seen = ("critic", card["input"]) if "input" in card else ("network", card["planes"])
    lines = [
        f"# {card['name']}",
        "",
        f"A {kind} for {card['ruleset']}: {card['weights']:,} weights, input `{seen}`, {sizes}.",
        f"Play it: `tengen play --terminal {run['algorithm']}:model={card['name']} --rules {card['ruleset']}`.",
        "",
        "## Where it comes from",
        "",
        "```sh",
        card["command"],
        "```",
        "",
        f"{run['iterations']:,} iterations, {run['games']:,} games, {run['positions']:,} positions.",
        f"{run['minutes']} minutes by the clock, {run['cpu_minutes']} minutes of CPU time of all threads together.",
        f"Tengen {run['version']}, commit {run['commit'][:12]}, seed {run['seed']}.",
        *(["Losses, games and strength of every iteration: `metrics.jsonl`."] if card.get("metrics") else []),
        "",
    ]
    if card["strength"]:
        lines += [
            "![strength while it learned](strength.svg)",
            "",
            f"The curve ends at {card['strength']['elo']:+.0f} ±{card['strength']['error']:.0f} Elo above its anchor.",
            "",
        ]
    if card["accuracy"]:
        shares = {key: f"{100 * value:.1f} %" for key, value in card["accuracy"].items() if key.startswith("top")}
        lines.append(
            f"On {card['accuracy']['samples']:,} moves of games kept apart the move played is its first choice in"
            f" {shares['top1']}, among its first five in {shares['top5']}; without openings in"
            f" {shares['top1_without_openings']} and {shares['top5_without_openings']}.\n"
        )
    for name in card.get("pictures", ()):
        lines += [f"![{PICTURES[name]}]({name}.svg)", ""]
    if card["matches"]:
        lines += ["## What it does", "", "| against | games | won, drawn, lost | as black | as white | limits |"]
        lines += ["|---|--:|---|---|---|---|"]
        for match in card["matches"]:
            results = " | ".join(_wdl(match[key]) for key in ("all", "black", "white"))
            lines.append(f"| `{match['against']}` | {match['games']} | {results} | {match['conditions']} |")
        lines.append("")
    lines += ["## Its configuration", "", "```toml", config.rstrip(), "```", ""]
    return "\n".join(lines)


def _match(path: Path, run: Run, model: str) -> dict[str, Any]:
    """What a card says of a match that the run played."""
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
        raise InputError(f"{path} is not the result of a match: {error!r}") from None


def _settings(agent: str) -> list[str]:
    """What a player was told, and the help that it has unless told otherwise."""
    told = [f"`{agent.partition(',')[2] or 'its defaults'}`"]
    parameters = parse_agent(agent)[1]
    if isinstance(parameters, AlphaZeroParameters) and parameters.resist is None and parameters.resistance_nodes:
        told.append("`resist` by default")
    return told


def _limits(table: dict[str, Any]) -> list[str]:
    """What both players may spend, as options of `tengen match`."""
    plain = to_table(TimeControl())
    told = [f"--{name.replace('_', '-')} {value}" for name, value in table.items() if plain.get(name) != value]
    return [f"both with `{' '.join(told)}`"] if told else []


def _wdl(counts: Sequence[int]) -> str:
    return f"+{counts[0]} ={counts[1]} −{counts[2]}"


def _read_accuracy(run: Run) -> dict[str, Any] | None:
    """What a supervised run measured at its end."""
    path = run.folder / TEST_FILE
    if not path.exists():
        return None
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    del table["by_stones"]
    return table


def _calibration(run: Run, ruleset: Ruleset, layout: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Planes of positions from the run's data set or its newest games."""
    if "data" in run.config_table:
        dataset = Dataset.open(Path(run.config_table["data"]))
        chosen = dataset.find(Split.TRAINING)
        return dataset.batch(chosen[:: max(1, len(chosen) // _CALIBRATION_SAMPLES)], layout).planes
    newest = sorted((run.folder / "games").glob("*.sgf"))[-1:]
    planes = []
    for record in load(newest[0])[:_CALIBRATION_GAMES] if newest else ():
        position = Position.start(ruleset)
        for move in record.moves():
            planes.append(encode(position, layout))
            assert move.point is not None
            position = position.play(move.point)
    if not planes:
        raise InputError(f"{run.folder} has no games to calibrate int8 on")
    return np.array(planes, np.float32)

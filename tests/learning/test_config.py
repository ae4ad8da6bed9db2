"""Presets, settings and the configuration as a file."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from tengen.errors import InputError
from tengen.learning.algorithms.registry import algorithm_names, find_algorithm
from tengen.learning.config import describe_preset, format_toml, load_config, preset_names, read_config

PRESETS = [(algorithm, preset) for algorithm in algorithm_names() for preset in preset_names(algorithm)]


@pytest.mark.parametrize(("algorithm", "preset"), PRESETS)
def test_every_preset_loads_describes_itself_and_survives_its_file(algorithm: str, preset: str) -> None:
    kind = find_algorithm(algorithm).Config
    config = load_config(kind, algorithm, preset)
    assert describe_preset(algorithm, preset).endswith(".")
    assert config.strength.player_text(algorithm, Path("run"))
    assert read_config(kind, tomllib.loads(format_toml(config)), "file") == config


@pytest.mark.parametrize("preset", ["8x8", "9x9", "15x15", "renju-15x15", "standard-9x9"])
def test_long_presets_measure_strength_a_dozen_times(preset: str) -> None:
    assert load_config(find_algorithm("alphazero").Config, "alphazero", preset).strength.points == 12


def test_presets_of_a_paper_measure_strength_by_its_search_and_ours_without_help() -> None:
    kind = find_algorithm("alphazero").Config
    for preset in preset_names("alphazero"):
        paper = next((name for name in ("zero9", "alphagomoku8") if preset.startswith(name)), None)
        # The two models of zero9 have searches of their own.
        search = preset if preset in ("zero9-i", "zero9-ii") else paper
        player = f"preset={search}" if paper else "resist=0"
        if preset == "demo":  # shows what the network learns, so its search has no exact tactics
            player = "preset=alphagomoku8,c=1.5"
        assert load_config(kind, "alphazero", preset).strength.player == player


def test_a_preset_based_on_another_changes_only_what_it_names() -> None:
    kind = find_algorithm("alphazero").Config
    base, renju = (load_config(kind, "alphazero", preset) for preset in ("9x9", "renju-9x9"))
    assert str(renju.ruleset) == "9x9:5:renju"
    assert renju == replace(
        base,
        ruleset=renju.ruleset,
        init_from="9x9",
        self_play=replace(base.self_play, first_simulations=48),
        learner=replace(base.learner, learning_rate=1e-3),
    )


def test_settings_change_what_they_name_and_nothing_else() -> None:
    kind = find_algorithm("alphazero").Config
    plain = load_config(kind, "alphazero", "6x6x4")
    changed = load_config(kind, "alphazero", "6x6x4", ["net.channels=24", "learner.batch = 64", "ruleset=5x5:4"])
    assert changed.net == replace(plain.net, channels=24)
    assert changed.learner == replace(plain.learner, batch=64)
    assert str(changed.ruleset) == "5x5:4:freestyle"
    assert changed.search == plain.search


def test_a_setting_without_a_preset_changes_the_algorithms_own_table() -> None:
    kind = find_algorithm("evolution").Config
    plain = load_config(kind, "evolution", None, ["ruleset=9x9"])
    changed = load_config(kind, "evolution", None, ["ruleset=9x9", "net.channels=12"])
    assert plain.net.kind == "mdrnn"
    assert changed == replace(plain, net=replace(plain.net, channels=12))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("net.chanels=3", "unknown key net.chanels .*did you mean 'channels'"),
        ("lerner.batch=3", "unknown key lerner .*did you mean 'learner'"),
        ("net.channels=many", "net.channels = 'many' is not an integer"),
        ("net.channels=1", "net: blocks must be 1–40 and channels 4–512, not 2 and 1"),
        ("net.kind=thick", r"net: unknown network 'thick' \(known: plain, residual, dense, dense-resign, dense-value"),
        ("net=3", "net = 3 is not a table"),
        ("learner.batch=0", "learner: batch must be finite and at least 1, not 0"),
        ("learner.threads=0", "learner: threads must be finite and at least 1, not 0"),
        ("learner.reuse=-1", r"learner: reuse must be finite and at least 0, not -1\.0"),
        ("learner.learning_rate=-1e-3", r"learner: learning_rate must be finite and at least 0, not -0\.001"),
        ("learner.average=1.0", r"learner: average must be at least 0 and below 1, not 1\.0"),
        ("learner.search_share=1.5", r"learner: search_share=1\.5 is outside the range 0–1"),
        ("window.first=0", "window: window.first=0 must be at least 1"),
        ("window.largest=10", "window: window.first=10000 must be .* at most window.largest=10"),
        ("window.exponent=nan", "window: exponent=nan is outside the range 0–1"),
        ("self_play.first_simulations=-1", "self_play: first_simulations must be finite and at least 0, not -1"),
        ("self_play.games=0", "self_play: actors=2 must be .* at most games=0"),
        ("openings.fraction=2", r"openings: fraction=2\.0 is outside the range 0–1"),
        ("warm_start.epochs=0", r"warm_start: epochs must be finite and above 0, not 0\.0"),
        ("warm_start.learning_rate=0", r"warm_start: learning_rate must be finite and above 0, not 0\.0"),
        ("iterations=0", "iterations must be finite and at least 1, not 0"),
        ("channels", "'channels' does not have the form key=value"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_the_nearest_that_do(setting: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_config(find_algorithm("alphazero").Config, "alphazero", "6x6x4", [setting])


def test_unknown_presets_and_algorithms_are_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"unknown preset '6x6' for alphazero .*did you mean '6x6x4'"):
        load_config(find_algorithm("alphazero").Config, "alphazero", "6x6")
    with pytest.raises(InputError, match=r"unknown algorithm 'alphazoro' .*did you mean 'alphazero'"):
        find_algorithm("alphazoro")

"""The pages of docs/ name each other and only what is on the site, and their figures are the measured ones."""

from __future__ import annotations

import json
import re

import pytest

from tests.conftest import ROOT

DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")

FIGURES = {
    ("rollouts.md", "rollout"): [
        "| only random playouts | {playouts_random_per_cpu_second:3} |",
        "| only heuristic playouts | {playouts_heuristic_per_cpu_second:3} |",
        "| {playouts_random_renju_per_cpu_second:3} · {playouts_heuristic_renju_per_cpu_second:3} |",
        "| UCT with random playouts | {uct_random_per_cpu_second:3} |",
        "| UCT with heuristic playouts | {uct_heuristic_per_cpu_second:3} |",
        "| UCT over all points with random playouts | {uct_random_everywhere_per_cpu_second:3} |",
        "random rollouts, the same search | {openspiel_per_cpu_second:3} |",
        "UCT over all points is {uct_to_openspiel_ratio:2} times as fast as OpenSpiel's MCTS.",
        "Two threads on one tree reach {two_threads_to_one_ratio:2%} % of the playouts per CPU",
        "a move takes {hmcts_fudan_ms_a_move:2} ms with HMCTS-10",
        "and {uct_fudan_ms_a_move:2} ms with UCT-10",
    ],
    ("environments.md", "envs"): [
        "One thread, {boards:4} boards",
        "| vector environment, random opponent | {vector_steps_per_second:3} |",
        "| … with `copy=True` | {vector_copy_steps_per_second:3} |",
        "| … with float32 planes | {vector_float32_steps_per_second:3} |",
        "| … both colours played by the caller (one move per step) | {vector_self_play_steps_per_second:3} |",
        "| … opponent `naive:level=3` | {vector_naive3_steps_per_second:3} |",
        "| … renju, with all fouls of each board found in each step | {vector_renju_steps_per_second:3} |",
        "| pure NumPy, random opponent | {numpy_steps_per_second:3} |",
        "| OpenSpiel, random opponent | {openspiel_steps_per_second:3} |",
    ],
    ("mcts.md", "puct"): [
        "| the network alone, evaluations per second and core | {fp32_raw_evaluations_per_cpu_second:3} |",
        "| {fp32_raw_evaluations_per_cpu_second:3} | {int8_raw_evaluations_per_cpu_second:3} |",
        "| self-play, evaluations per second and core | {fp32_self_play_evaluations_per_cpu_second:3} |",
        "| {fp32_self_play_evaluations_per_cpu_second:3} | {int8_self_play_evaluations_per_cpu_second:3} |",
        "| ratio | {fp32_self_play_to_raw_ratio:2} | {int8_self_play_to_raw_ratio:2} |",
        "| {fp32_move_of_500_simulations_seconds:2} | {int8_move_of_500_simulations_seconds:2} |",
        "The tree alone runs {tree_alone_zero9_simulations_per_cpu_second:3} simulations per second and core",
        "and {tree_alone_best_simulations_per_cpu_second:3} in preset `best`",
    ],
}
"""What a page says of a file of benchmarks/results/; the format is the number of digits that count."""


class Figure(float):
    """A measured number, written as the pages write it: `12,300` for 3 digits, `12` of a hundred for `2%`."""

    def __format__(self, digits: str) -> str:
        value = 100 * self if digits.endswith("%") else float(self)
        rounded = float(f"{value:.{int(digits.rstrip('%')) - 1}e}")
        return f"{rounded:,.6f}".rstrip("0").rstrip(".")


@pytest.mark.parametrize(("page", "result"), FIGURES)
def test_figures_are_those_of_the_benchmarks(page: str, result: str) -> None:
    text = " ".join((DOCS / page).read_text(encoding="utf-8").split())
    measured = json.loads((ROOT / "benchmarks" / "results" / f"{result}.json").read_text(encoding="utf-8"))["figures"]
    figures = {name: Figure(value) for name, value in measured.items()}
    expected = [sentence.format_map(figures) for sentence in FIGURES[page, result]]
    assert [sentence for sentence in expected if sentence not in text] == []


def test_the_first_page_names_all_others() -> None:
    listed = LINK.findall((DOCS / "index.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(page.name for page in DOCS.glob("*.md") if page.name != "index.md")


def test_links_lead_to_pages_of_the_site() -> None:
    for page in DOCS.glob("*.md"):
        targets = [target for target in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in target]
        assert [target for target in targets if not (DOCS / target).is_file() or ".." in target] == [], page.name

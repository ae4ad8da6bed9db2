"""The pages of docs/ are in the navigation, say who they are for, link to what exists, and have measured figures."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tengen.agents.registry import agent_names
from tests.conftest import ROOT
from tools import docs_hook

DOCS = ROOT / "docs"
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")

FIGURES = {
    ("how/rollouts.md", "rollout"): [
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
    ("reference/environments.md", "envs"): [
        "One thread, {boards:4} boards",
        "| vector environment, random opponent | {vector_steps_per_second:3} |",
        "| … with `copy=True` | {vector_copy_steps_per_second:3} |",
        "| … with float32 planes | {vector_float32_steps_per_second:3} |",
        "| … both colours played by the caller (one move per step) | {vector_self_play_steps_per_second:3} |",
        "| … opponent `naive:level=3` | {vector_naive3_steps_per_second:3} |",
        "| … renju, random opponent | {vector_renju_steps_per_second:3} |",
        "| … renju, opponent `naive:level=3` | {vector_renju_naive3_steps_per_second:3} |",
        "| one board by `gymnasium.make`, random opponent | {gym_steps_per_second:3} |",
        "| two agents by `gomoku_aec.env` (one move per step) | {aec_steps_per_second:3} |",
        "(one move per step) | {openspiel_moves_steps_per_second:3} |",
        "| pure NumPy, random opponent | {numpy_steps_per_second:3} |",
        "| OpenSpiel, random opponent | {openspiel_steps_per_second:3} |",
    ],
    ("how/mcts.md", "puct"): [
        "| the network alone, evaluations per second and core | {fp32_raw_evaluations_per_cpu_second:3} |",
        "| {fp32_raw_evaluations_per_cpu_second:3} | {int8_raw_evaluations_per_cpu_second:3} |",
        "| self-play, evaluations per second and core | {fp32_self_play_evaluations_per_cpu_second:3} |",
        "| {fp32_self_play_evaluations_per_cpu_second:3} | {int8_self_play_evaluations_per_cpu_second:3} |",
        "| ratio | {fp32_self_play_to_raw_ratio:2} | {int8_self_play_to_raw_ratio:2} |",
        "| {fp32_move_of_500_simulations_seconds:2} | {int8_move_of_500_simulations_seconds:2} |",
        "The tree alone runs {tree_alone_zero9_simulations_per_cpu_second:3} simulations per second and core",
        "and {tree_alone_best_simulations_per_cpu_second:3} in preset `best`",
    ],
    ("results/speed.md", "envs"): [
        "| {vector_steps_per_second:3} | OpenSpiel {openspiel_steps_per_second:3} | {vector_to_openspiel_ratio:2} |",
        "pure NumPy, vectorised {numpy_steps_per_second:3} | {vector_to_numpy_ratio:2} |",
    ],
    ("results/speed.md", "rollout"): [
        "| {uct_random_everywhere_per_cpu_second:3} | OpenSpiel {openspiel_per_cpu_second:3} |",
        "| {uct_to_openspiel_ratio:2} | `python -m benchmarks rollout` |",
    ],
    ("../README.md", "envs"): [
        "The environment makes {vector_steps_per_second:2} steps a second on one thread",
        "{vector_to_openspiel_ratio:2} times as many as OpenSpiel in the same run",
    ],
    ("../README.md", "rollout"): ["random playouts is {uct_to_openspiel_ratio:2} times as fast"],
    ("results/speed.md", "engine"): [
        "| nodes of the engine, one thread | {nodes_per_second:3} |",
        "| nodes of the engine, two threads | {two_threads_nodes_per_second:3} |",
        "| moves made and taken back with all patterns | {make_unmake_per_second:3} |",
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


def pages() -> list[Path]:
    return sorted(DOCS.rglob("*.md"))


def navigation(part: Any = None) -> list[str]:
    """Return the paths in the navigation of the site."""
    if part is None:
        part = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), yaml.BaseLoader)["nav"]
    if isinstance(part, str):
        return [part]
    return [path for item in (part.values() if isinstance(part, dict) else part) for path in navigation(item)]


def test_the_navigation_has_every_page() -> None:
    written = {page.relative_to(DOCS).as_posix() for page in pages()}
    borrowed = {path for path in docs_hook.borrowed_files() if path.endswith(".md") and "/results/" not in path}
    listed = navigation()
    assert len(listed) == len(set(listed))
    assert set(listed) == written | borrowed | set(docs_hook.GENERATED), "list the page under `nav` in mkdocs.yml"


def test_the_first_page_leads_to_every_other_page() -> None:
    linked = {(DOCS / target).resolve() for target in LINK.findall((DOCS / "index.md").read_text(encoding="utf-8"))}
    assert [page for page in pages() if page.name != "index.md" and page not in linked] == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(DOCS).as_posix())
def test_a_page_opens_with_its_readers(page: Path) -> None:
    title, opening = page.read_text(encoding="utf-8").split("\n\n")[:2]
    assert re.fullmatch(r"# .+", title)
    assert re.match(r"\*For \w", opening)


LINKED = [
    *pages(),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *ROOT.glob("papers/**/*.md"),
]


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_of_the_repository(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [*LINK.findall(text), *re.findall(r'src="([^"]+)"', text)]
    targets = [target for target in links if "://" not in target and not target.startswith("mailto:")]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_files_named_in_code_and_comments_exist() -> None:
    named = re.compile(r"\bdocs/[\w/-]+\.md\b")
    sources = [
        path for folder in ("src", "cpp", "tests", "benchmarks", "tools", "data") for path in (ROOT / folder).rglob("*")
    ]
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources
        if path.suffix in (".py", ".h", ".cpp", ".js", ".toml")
        for name in named.findall(path.read_text(encoding="utf-8"))
        if not (ROOT / name).is_file()
    ]
    assert missing == []


def test_links_between_docs_and_the_repository_are_adapted_to_the_site() -> None:
    adapt = docs_hook.site_links
    assert adapt("[a](../CONTRIBUTING.md) [b](faq.md#x)", "index.md") == "[a](CONTRIBUTING.md) [b](faq.md#x)"
    assert adapt("![c](results/a.svg)", "papers/pg9/README.md") == "![c](results/a.svg)"
    assert adapt("[d](https://a.b/docs/)", "index.md") == "[d](https://a.b/docs/)"


def test_generated_pages_describe_every_command_key_and_player() -> None:
    commands = docs_hook.command_line_page()
    assert "\n## tengen review\n" in commands
    assert "\n## tengen data generate\n" in commands
    assert "Usage: tengen match [OPTIONS] A B" in commands
    assert "| `learner.learning_rate` |" in docs_hook.configuration_page()
    players = docs_hook.players_page()
    assert [name for name in agent_names() if f"\n## {name}\n" not in players] == []


def test_the_site_builds_strictly(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "reference" / "python" / "index.html").read_text(encoding="utf-8")
    assert "Review the main line of a game" in page

"""The node signature: it is reproducible and equal to the last `Bench:` line in the commit log."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tengen.core.contracts import Rule, Ruleset
from tengen.search.alphabeta import AlphaBeta, AlphaBetaConfig
from tengen.search.bench import POSITIONS, TABLE_MB, run_bench
from tests.conftest import ROOT

ENGINE = (
    "cpp/core",
    "cpp/patterns",
    "cpp/eval",
    "cpp/search",
    "src/tengen/search/alphabeta.py",
    "src/tengen/search/bench.py",
    "src/tengen/search/weights",
)
"""Files on which the signature depends."""


@dataclass(frozen=True)
class StatedBench:
    """A `Bench: N` line in the commit log."""

    nodes: int
    commit: str
    subject: str


def run_git(repository: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def find_stated_bench(repository: Path) -> StatedBench | None:
    """Return the bench in the newest commit that states one; None without a repository or such a commit."""
    if not (repository / ".git").exists():
        return None
    log = run_git(repository, "log", "-1", "--extended-regexp", "--grep=^Bench: [0-9]+$", "--format=%h%n%s%n%B")
    if not log:
        return None
    commit, subject, body = log.split("\n", 2)
    stated = re.findall(r"^Bench: (\d+)$", body, re.MULTILINE)
    return StatedBench(int(stated[-1]), commit, subject)


def why_none_is_stated(repository: Path) -> str | None:
    """Return why the log may lack a `Bench:` line; None if it is complete and must have one."""
    if not (repository / ".git").exists():
        return "there is no repository whose log could state the bench"
    shallow = run_git(repository, "rev-parse", "--is-shallow-repository")
    if shallow is None:
        return "git cannot read the log"
    return "the clone is shallow: no commit that it has states the bench" if shallow.strip() == "true" else None


def stated_bench_or_skip(repository: Path) -> StatedBench:
    """Return the bench stated in the log; fail if a complete log states none."""
    stated = find_stated_bench(repository)
    if stated is None:
        reason = why_none_is_stated(repository)
        if reason is not None:
            pytest.skip(reason)
        pytest.fail("no commit of the log has a line `Bench: N`")
    return stated


def complaint(repository: Path, stated: StatedBench, found: int) -> str:
    """Return the failure message for a different signature."""
    changed = run_git(repository, "diff", "--name-only", stated.commit, "--", *ENGINE) or ""
    names = ", ".join(changed.split()) or "none, so the compiler or the machine matters, which it must not"
    return (
        f"`tengen bench` counts {found} nodes, but the last commit that states them, {stated.commit} "
        f"({stated.subject}), says Bench: {stated.nodes}. Changed since: {names}. If the search was meant to change, "
        f"end the commit message with the line `Bench: {found}`; if not, find what changed it."
    )


def test_the_bench_is_the_one_stated_last():
    stated = stated_bench_or_skip(ROOT)
    found = run_bench().nodes
    assert stated.nodes == found, complaint(ROOT, stated, found)


def test_the_bench_repeats():
    engine = AlphaBeta(AlphaBetaConfig(table_mb=TABLE_MB))
    first, second, fresh = run_bench(6, engine=engine), run_bench(6, engine=engine), run_bench(6)
    assert [row.nodes for row in first.rows] == [row.nodes for row in second.rows] == [row.nodes for row in fresh.rows]
    assert first.nodes == sum(row.nodes for row in first.rows)
    assert run_bench(3).nodes < first.nodes


def test_the_positions_are_ten_over_all_rules():
    rulesets = [Ruleset.parse(position.ruleset) for position in POSITIONS]
    assert len(POSITIONS) == 10
    assert {ruleset.rule for ruleset in rulesets} == set(Rule)
    assert {ruleset.win_length for ruleset in rulesets} == {4, 5}
    assert not any(position.position().is_over for position in POSITIONS)


def test_rows_are_reported_as_they_come():
    heard: list[int] = []
    result = run_bench(3, positions=POSITIONS[:2], on_row=lambda row: heard.append(row.nodes))
    assert heard == [row.nodes for row in result.rows]
    assert result.nodes_per_second > 0


def make_repository(folder: Path, *messages: str) -> None:
    (folder / "cpp" / "search").mkdir(parents=True)
    for number, message in enumerate(messages):
        (folder / "cpp" / "search" / "worker.cpp").write_text(f"// {number}\n", encoding="utf-8")
        settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        for arguments in (("init", "-q"), ("add", "."), (*settings, "commit", "-qm", message)):
            assert run_git(folder, *arguments) is not None


def test_the_last_stated_bench_is_found(tmp_path):
    assert find_stated_bench(tmp_path) is None
    make_repository(
        tmp_path, "search: begin\n\nBench: 12", "search: more\n\nWhy.\n\nBench: 345", "docs: say Bench: 7 here"
    )
    stated = find_stated_bench(tmp_path)
    assert stated is not None
    assert (stated.nodes, stated.subject) == (345, "search: more")
    assert complaint(tmp_path, stated, 346) == (
        f"`tengen bench` counts 346 nodes, but the last commit that states them, {stated.commit} (search: more), says "
        "Bench: 345. Changed since: cpp/search/worker.cpp. If the search was meant to change, end the commit message "
        "with the line `Bench: 346`; if not, find what changed it."
    )


def test_a_whole_log_has_to_state_a_bench(tmp_path):
    make_repository(tmp_path, "search: begin")
    with pytest.raises(pytest.fail.Exception, match="no commit of the log"):
        stated_bench_or_skip(tmp_path)


def test_without_the_log_nothing_is_compared(tmp_path):
    with pytest.raises(pytest.skip.Exception, match="no repository"):
        stated_bench_or_skip(tmp_path)
    whole, shallow = tmp_path / "whole", tmp_path / "shallow"
    make_repository(whole, "search: begin\n\nBench: 12", "docs: more")
    assert run_git(tmp_path, "clone", "-q", "--depth=1", whole.as_uri(), str(shallow)) is not None
    with pytest.raises(pytest.skip.Exception, match="shallow"):
        stated_bench_or_skip(shallow)
    assert stated_bench_or_skip(whole).nodes == 12


def test_ci_checks_out_the_whole_log_where_this_runs():
    jobs = re.split(
        r"^  (?=\w+:$)", (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    testing = [job for job in jobs if re.search(r"pytest -n|\.ci/run$|make \$\{\{ matrix.target", job, re.MULTILINE)]
    assert [job.partition(":")[0] for job in testing] == ["check", "test", "lowest", "sanitize"]
    assert all("with: { fetch-depth: 0 }" in job for job in testing)

"""Loads papers, runs their experiments, and formats and publishes the results.

A paper's folder in this package has its experiments in `config.toml` and the paper's own numbers in `expected.json`.
Kinds of experiments that only one paper has are in that paper's module `experiments`, which lists them as `KINDS`.
"""

from __future__ import annotations

import datetime
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tengen import __version__
from tengen.core.checked_files import parse_json, read_bytes
from tengen.core.files import write_text, writing
from tengen.core.provenance import source_commit
from tengen.core.tables import TableReader, did_you_mean, read_toml
from tengen.errors import InputError, MissingExtraError
from tengen.papers.experiment import Column, Experiment, Figure, Findings, Lab, MissingDataError
from tengen.papers.games import Games
from tengen.papers.titles import paper_names
from tengen.papers.training import Training
from tengen.papers.variants import Variants

RESULTS_FILE = "results.json"
TABLE_FILE = "table.md"
_PACKAGE = Path(__file__).parent
_KINDS: Mapping[str, type[Experiment]] = {"games": Games, "training": Training, "variants": Variants}
_MAX_BYTES = 1 << 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A number that the paper states."""

    figure: str
    """Name of the figure that measures the claim."""
    what: str
    """The claim in words, for the table."""
    paper: float | None = None
    """The paper's number; None if the paper states it only in words."""
    said: str = ""
    """The paper's statement, if it is not a number."""
    unit: str = ""
    """`share`, `count` or `seconds`; empty for a plain number."""
    headline: bool = False
    """Whether the claim appears in the summary of all papers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A table, figure or section of the paper."""

    title: str
    note: str = ""
    """Conditions of the results, printed above the table."""
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """The paper's numbers, and our published numbers."""

    sections: tuple[Section, ...]
    ours: Mapping[str, Mapping[str, Figure]] = field(default_factory=dict)
    """Our published numbers, by figure and column."""

    def claims(self) -> list[Claim]:
        """Return the claims of all sections."""
        return [claim for section in self.sections for claim in section.claims]


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a run so far: facts about the run, and each experiment's origin, settings, figures and data."""

    about: Mapping[str, Any]
    experiments: dict[str, dict[str, Any]]

    def origin(self, experiment: str) -> Mapping[str, Any]:
        """Return date, version, commit, machine and command of an experiment."""
        found: Mapping[str, Any] = self.experiments[experiment].get("origin", self.about)
        return found

    def figures(self) -> dict[str, dict[str, Figure]]:
        """Return the numbers by figure and column."""
        found: dict[str, dict[str, Figure]] = {}
        for kept in self.experiments.values():
            for name, table in kept["figures"].items():
                found.setdefault(name, {})[kept["column"]] = Figure.from_json(table)
        return found


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper and its experiments."""

    name: str
    title: str
    experiments: tuple[Experiment, ...]
    expected: Expected
    shipped: Mapping[str, str] = field(default_factory=dict)
    """Shipped models that can replace a training experiment, by the name of the experiment."""


def load_paper(name: str, *, quick: bool = False) -> Paper:
    """Read a paper's experiments and numbers; `quick` reads the short form, which omits long experiments."""
    if name not in paper_names():
        raise InputError(f"unknown paper {name!r} (known: {', '.join(paper_names())})")
    folder = _PACKAGE / name
    path = folder / "config.toml"
    table = read_toml(path)
    kinds = {**_KINDS, **_own_kinds(name)}
    experiments: list[Experiment] = []
    for number, given in enumerate(table.get("experiment", [])):
        one = dict(given)
        place = f"experiment[{number}]."
        kind = one.pop("kind", None)
        if kind not in kinds:
            raise InputError(f"{path}: {place}kind = {kind!r} is not one of {', '.join(kinds)}")
        short = one.pop("quick", {})
        if quick and short is False:
            continue
        experiments.append(TableReader(str(path), folder).make(kinds[kind], {**one, **short} if quick else one, place))
    names = [experiment.name for experiment in experiments]
    if repeated := {one for one in names if names.count(one) > 1}:
        raise InputError(f"{path}: two experiments are called {min(repeated)!r}")
    shipped = {one.name: one.shipped for one in experiments if isinstance(one, Training) and one.shipped}
    return Paper(name, table.get("title", name), tuple(experiments), read_expected(folder / "expected.json"), shipped)


def _own_kinds(name: str) -> Mapping[str, type[Experiment]]:
    if not (_PACKAGE / name / "experiments.py").exists():
        return {}
    module = importlib.import_module(f"tengen.papers.{name}.experiments")
    return getattr(module, "KINDS", {})


def read_expected(path: Path) -> Expected:
    """Read the numbers of a paper."""
    table = parse_json(read_bytes(path, _MAX_BYTES), str(path))
    if not isinstance(table, dict):
        raise InputError(f"{path} is damaged: it is not a table")
    ours = {
        name: {column: Figure.from_json(figure) for column, figure in by_column.items()}
        for name, by_column in table.pop("ours", {}).items()
    }
    return replace(TableReader(str(path), path.parent).make(Expected, table, ""), ours=ours)


# -- running ----------------------------------------------------------------------------------------------------------


def run_paper(paper: Paper, lab: Lab, *, only: Sequence[str] = (), quick: bool = False) -> Results:
    """Run the experiments that have no results in the output folder, in order, and write the results after each one.

    Raises `InputError` before anything runs if the folder has results of experiments with other settings.
    """
    _check_names(paper, lab, only, quick)
    results = _open_results(paper, lab, quick)
    todo = [
        one
        for one in paper.experiments
        if one.name not in results.experiments
        and (not only or one.name in only)
        and not (one.needs_shipped if lab.trains_shipped else one.needs_retraining)
    ]
    for number, experiment in enumerate(todo, 1):
        about = experiment.about or experiment.name
        lab.console.print(f"{paper.name} {number}/{len(todo)} {experiment.name}: {about}", style="bold", soft_wrap=True)
        wall, cpu = time.monotonic(), _cpu_seconds()
        try:
            found = experiment.run(lab)
        except MissingDataError as error:
            lab.console.print(f"{experiment.name} is skipped: {error}", soft_wrap=True)
            continue
        _keep(results, experiment, found, lab, time.monotonic() - wall, _cpu_seconds() - cpu)
        write_results(paper, results, lab.out)
        _draw(experiment, results, lab)
    write_results(paper, results, lab.out)
    return results


def _check_names(paper: Paper, lab: Lab, only: Sequence[str], quick: bool) -> None:
    experiments = {one.name: one for one in paper.experiments}
    for name in only:
        if name not in experiments:
            without_quick = ", or it has no quick form" if quick else ""
            raise InputError(f"unknown experiment {name!r}{did_you_mean(name, list(experiments))}{without_quick}")
        if experiments[name].needs_retraining and not lab.trains_shipped:
            raise InputError(f"{name} needs networks trained from scratch: add --retrain")
        if experiments[name].needs_shipped and lab.trains_shipped:
            raise InputError(f"{name} needs the shipped networks: omit --retrain")


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of its finished children, such as the workers that play games."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _open_results(paper: Paper, lab: Lab, quick: bool) -> Results:
    path = lab.out / RESULTS_FILE
    if not path.exists():
        return Results(_about(paper, lab, quick), {})
    results = read_results(path)
    if results.about.get("paper") != paper.name:
        raise InputError(
            f"{path} contains the results of {results.about.get('paper')!r}: choose another folder with --out"
        )
    if bool(results.about.get("quick")) != quick:
        kept = "a quick run" if results.about.get("quick") else "a complete run"
        raise InputError(f"{lab.out} contains the results of {kept}: choose another folder with --out")
    if bool(results.about.get("retrained")) != lab.trains_shipped:
        kept = "with" if results.about.get("retrained") else "without"
        raise InputError(f"{lab.out} contains the results of a run {kept} --retrain: choose another folder with --out")
    for experiment in paper.experiments:
        done = results.experiments.get(experiment.name)
        if done is not None and not experiment.has_settings(done["settings"], lab):
            raise InputError(
                f"{lab.out} contains results of {experiment.name} with other settings: choose another folder with --out"
            )
    return results


def read_results(path: Path) -> Results:
    """Read the results of a run. Raises `InputError` if the file is damaged."""
    table = parse_json(read_bytes(path, _MAX_BYTES), str(path))
    try:
        results = Results(table["about"], table["experiments"])
        results.figures()
        for kept in results.experiments.values():
            kept["settings"], kept["data"]
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} is damaged: {error!r:.100}") from None
    return results


def _about(paper: Paper, lab: Lab, quick: bool) -> dict[str, Any]:
    return {"paper": paper.name, "quick": quick, "retrained": lab.trains_shipped, **_origin()}


def _origin() -> dict[str, Any]:
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "version": __version__,
        "commit": source_commit(),
        "machine": f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
        "command": shown_command(sys.argv[1:]),
    }


def shown_command(arguments: Sequence[str]) -> str:
    """Return the command line for published results, without the output folder, which says nothing to other people."""
    shown = list(arguments)
    while "--out" in shown:
        del shown[(place := shown.index("--out")) : place + 2]
    return " ".join(["tengen", *(argument for argument in shown if not argument.startswith("--out="))])


def _keep(results: Results, experiment: Experiment, found: Findings, lab: Lab, wall: float, cpu: float) -> None:
    results.experiments[experiment.name] = {
        "column": experiment.column.value,
        "origin": _origin(),
        "settings": experiment.settings_table(lab),
        "seconds": round(wall, 1),
        "cpu_seconds": round(cpu, 1),
        "figures": {name: figure.to_json() for name, figure in found.figures.items()},
        "data": json.loads(json.dumps(found.data)),
    }


def _draw(experiment: Experiment, results: Results, lab: Lab) -> None:
    try:
        experiment.draw(lab, results.experiments[experiment.name]["data"])
    except MissingExtraError as error:
        lab.console.print(f"{experiment.name} has no plots: {error}", soft_wrap=True)


def write_results(paper: Paper, results: Results, folder: Path) -> None:
    """Write the results as JSON and as a table."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    table = {"about": results.about, "experiments": results.experiments}
    write_text(folder / RESULTS_FILE, json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    names = [one.name for one in paper.experiments]
    write_text(folder / TABLE_FILE, format_table(paper.expected, results, names))


# -- the table --------------------------------------------------------------------------------------------------------

_HEADINGS = {Column.AUTHORS: "as the authors ran it", Column.DESCRIBED: "as described", Column.BEST: "our best form"}


def format_table(expected: Expected, results: Results, experiments: Sequence[str] = ()) -> str:
    """Format all claims as Markdown tables: the paper's number, ours in every column, and the difference.

    The difference refers to the first column with a number; `≈` means that the paper's number is within its interval.
    The last table lists the origin of each experiment. `experiments` are all names, including experiments not yet run.
    """
    figures = results.figures()
    is_quick = bool(results.about.get("quick"))
    parts: list[str] = []
    for section in expected.sections:
        columns = [column for column in Column if any(column in figures.get(one.figure, {}) for one in section.claims)]
        if not columns and is_quick:
            continue
        heads = " | ".join(_HEADINGS[column] for column in columns) or "here"
        lines = [f"### {section.title}", ""]
        if section.note:
            lines += [section.note, ""]
        # A section without results shows only the claims for which the paper gives a number or a statement.
        claims = section.claims if columns else [one for one in section.claims if one.paper is not None or one.said]
        if not claims:
            parts.append("\n".join([*lines, "Not run yet.\n"]))
            continue
        lines += [f"| | the paper | {heads} | difference |", "|---|--:|" + "--:|" * (max(1, len(columns)) + 1)]
        for claim in claims:
            found = figures.get(claim.figure, {})
            if not found and is_quick:
                continue
            cells = [_figure_cell(found.get(column), claim.unit) for column in columns] or [""]
            if not found:
                cells[0] = "not run yet"
            lines.append(f"| {claim.what} | {_paper_cell(claim)} | {' | '.join(cells)} | {_difference(claim, found)} |")
        parts.append("\n".join(lines) + "\n")
    what = "The quick form of the experiments, with fewer games. " if is_quick else ""
    parts.append(f"{what}Brackets contain 95 % intervals, or the range over several seeds.\n")
    if results.experiments:
        parts.append(_format_origins(results))
    if missing := [name for name in experiments if name not in results.experiments]:
        parts.append(f"Not run yet: {', '.join(missing)}.\n")
    return "\n".join(parts)


def _format_origins(results: Results) -> str:
    lines = ["| experiment | date | commit | machine | seeds | CPU minutes |", "|---|---|---|---|---|--:|"]
    for name, kept in results.experiments.items():
        origin, settings = results.origin(name), kept["settings"]
        seeds = settings.get("seeds", 1)
        seed = f"1–{seeds}" if seeds > 1 else settings.get("seed", 1)
        # An experiment records the time of its last session only; training runs record their total time.
        cpu_minutes = max(kept.get("cpu_seconds", 0) / 60, _sum(kept["data"].get("cpu_minutes", 0)))
        lines.append(
            f"| {name} | {origin['date']} | `{origin['commit'][:10]}` | {origin['machine']} | {seed} |"
            f" {cpu_minutes:.1f} |"
        )
    return "\n".join(lines) + "\n"


def _sum(numbers: Any) -> float:
    """Return the sum of all numbers in nested lists and tables."""
    if isinstance(numbers, Mapping):
        return sum(map(_sum, numbers.values()))
    return sum(map(_sum, numbers)) if isinstance(numbers, list) else float(numbers)


def _paper_cell(claim: Claim) -> str:
    return claim.said if claim.paper is None else _number(claim.paper, claim.unit)


def _figure_cell(figure: Figure | None, unit: str) -> str:
    if figure is None:
        return ""
    text = "not reached" if figure.value is None else _number(figure.value, unit)
    if figure.low is not None and figure.high is not None:
        text += f" [{_number(figure.low, unit)}, {_number(figure.high, unit)}]"
    return f"{text}, {figure.note}" if figure.note else text


def _difference(claim: Claim, found: Mapping[str, Figure]) -> str:
    first = next((found[column] for column in Column if column in found), None)
    if claim.paper is None or first is None or first.value is None:
        return ""
    difference = first.value - claim.paper
    sign = "−" if difference < 0 else "+"
    text = f"{sign}{_number(abs(difference), claim.unit)}"
    within = first.low is not None and first.high is not None and first.low <= claim.paper <= first.high
    return f"≈ {text}" if within else text


def _number(value: float, unit: str) -> str:
    sign, size = ("−" if value < 0 else ""), abs(value)
    if unit == "share":
        return f"{sign}{100 * size:.1f} %"
    if unit == "count":
        return f"{sign}{size:,.0f}"
    if unit == "seconds":
        return f"{sign}{size:.3g} s"
    return f"{sign}{size:.2f}"


def format_summary(papers: Sequence[Paper]) -> str:
    """Format the headline claims of all papers with our published numbers as one Markdown table."""
    lines = [
        "| paper | claim | the paper | the same system, re-run | our best form | command |",
        "|---|---|--:|--:|--:|---|",
    ]
    for paper in papers:
        headlines = [
            (section, claim) for section in paper.expected.sections for claim in section.claims if claim.headline
        ]
        for section, claim in headlines:
            found = paper.expected.ours.get(claim.figure, {})
            again = found.get(Column.AUTHORS, found.get(Column.DESCRIBED))
            cells = [_figure_cell(figure, claim.unit) or "not run yet" for figure in (again, found.get(Column.BEST))]
            what = f"{section.title.partition(':')[0]}: {claim.what}"
            cells = [paper.name, what, _paper_cell(claim), *cells, f"`tengen paper {paper.name}`"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


_SUMMARY = """\
# The papers in one table

*For readers of the papers: each paper's claims, the same system re-run here, and our best form. The last column is the
command that measures them. [Each paper](../../papers/README.md) has its own page. Brackets contain 95 % intervals, or
the range over several seeds.*

"Not run yet" refers to the current form of an experiment. The results of earlier forms, which the README mentions, are
on the papers' own pages, together with the differences.

"""


def summary_page() -> str:
    """Return `docs/results/papers.md`, the page with the headline claims of all papers."""
    return _SUMMARY + format_summary([load_paper(name) for name in paper_names()])


# -- publishing -------------------------------------------------------------------------------------------------------


def publish(paper: Paper, results: Results, source: Path, target: Path, summary: Path, lab: Lab) -> list[str]:
    """Publish the finished experiments of a run, and store their figures in `expected.json`.

    Results, table and plots are copied to `target`; `summary`, the page with the headlines of all papers, is rewritten.
    The new results replace earlier results of the same experiments; other published results are kept if their settings
    still match. Returns the names of the experiments without published results.

    Raises `InputError` for a quick run, for results of another paper or with other settings, and if no experiment is
    finished.
    """
    from shutil import copyfile

    if results.about.get("paper") != paper.name:
        raise InputError(f"{source} contains the results of {results.about.get('paper')!r}, not of {paper.name!r}")
    if results.about.get("quick"):
        raise InputError("the results of a quick run cannot be published: run the paper without --quick")
    known = {one.name: one for one in paper.experiments}
    finished = {name: kept for name, kept in results.experiments.items() if name in known}
    if not finished:
        raise InputError(f"{source} has no finished experiments: run `tengen paper {paper.name}` first")
    for name, kept in finished.items():
        if not _has_settings(known[name], kept["settings"], lab):
            raise InputError(f"{source} contains results of {name} with other settings: run it again in another folder")
    old: dict[str, Any] = {}
    if (target / RESULTS_FILE).exists():
        published = read_results(target / RESULTS_FILE)
        old = {
            name: {**kept, "origin": published.origin(name)}
            for name, kept in published.experiments.items()
            if name in known and _has_settings(known[name], kept["settings"], lab)
        }
    new = {name: {**kept, "origin": results.origin(name)} for name, kept in finished.items()}
    merged = {name: {**old, **new}[name] for name in known if name in old or name in new}
    everything = Results({"paper": paper.name, "quick": False}, merged)
    write_results(paper, everything, target)
    for path in sorted((source / "plots").glob("*.svg")):
        copyfile(path, target / path.name)
    path = _PACKAGE / paper.name / "expected.json"
    table = parse_json(read_bytes(path, _MAX_BYTES), str(path))
    assert isinstance(table, dict)
    claimed = {claim.figure for claim in paper.expected.claims()}
    table["ours"] = {
        name: {column: figure.to_json() for column, figure in by_column.items()}
        for name, by_column in sorted(everything.figures().items())
        if name in claimed
    }
    write_text(path, json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    write_text(summary, summary_page())
    return [name for name in known if name not in merged]


def _has_settings(experiment: Experiment, done: Mapping[str, Any], lab: Lab) -> bool:
    """Whether published results were produced with these settings, regardless of which external engines took part."""
    return experiment.has_settings(done, replace(lab, engines=done.get("engines", {})))

"""`tengen paper`: run the experiments of a paper and compare the results with the paper's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tengen.cli.command import Group, command
from tengen.cli.options import OnOption

if TYPE_CHECKING:
    from rich.console import Console

_EXAMPLES = """
    tengen paper                    # list the papers
    tengen paper pg9 --quick        # the short form
    tengen paper zero9 --retrain    # train its networks from scratch first
    tengen paper zero9 --show       # print the published results; run nothing
"""


def register(app: typer.Typer) -> None:
    """Add the subcommand."""
    command(app, "paper", group=Group.TRAIN, examples=_EXAMPLES)(paper)


def paper(
    name: Annotated[str, typer.Argument(help="Name of the paper; omit it to list all papers.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Run the short form: fewer games and seeds.")] = False,
    retrain: Annotated[
        bool, typer.Option("--retrain", help="Train every network from scratch instead of using the shipped networks.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Output folder; a stopped run in it is resumed (default: runs/papers/NAME, or NAME-quick).",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=COMMAND",
            help="External engine to add as an opponent in experiments that use external engines; repeatable.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="EXPERIMENT", help="Run only this experiment; repeatable.")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Number of games to play in parallel.")] = 1,
    on: OnOption = "local",
    show: Annotated[
        bool, typer.Option("--show", help="Show the published results and how to reproduce them; run nothing.")
    ] = False,
    publish: Annotated[
        bool,
        typer.Option(
            "--publish",
            help="Publish the finished experiments of the output folder in the repository; run nothing. They replace"
            " earlier results. Results of other experiments are kept if their settings have not changed.",
        ),
    ] = False,
) -> None:
    """Run a paper's experiments and compare the results with the paper's. The same command resumes a stopped run."""
    from rich.console import Console
    from rich.table import Table

    from tengen.core.extras import needs_extra
    from tengen.core.shipped import shipped_folder
    from tengen.errors import InputError
    from tengen.papers.titles import paper_titles

    published = shipped_folder("papers")
    console = Console(highlight=False, markup=False)
    if show:
        _show(console, published, name)
        return
    if not name:
        listing = Table(box=None, show_header=False)
        listing.add_column(style="bold")
        for one, title in paper_titles().items():
            listing.add_row(one, title)
        console.print(listing)
        return
    with needs_extra("running a paper", "train"):
        from tengen.papers.experiment import Lab
        from tengen.papers.paper import RESULTS_FILE, TABLE_FILE, load_paper, read_results, run_paper
        from tengen.papers.paper import publish as publish_results
    found = load_paper(name, quick=quick)
    if publish and (quick or only):
        raise InputError("--publish needs the output folder of a full run: omit --quick and --only")
    if publish and not (published / name / "README.md").exists():
        raise InputError("--publish writes to the repository, but this is an installed package: run it in a clone")
    folder = out or Path("runs/papers") / (f"{name}-quick" if quick else name)
    if folder.resolve().is_relative_to(published.resolve()):
        raise InputError(f"{folder} is inside the folder of the published results: choose another folder with --out")
    engines = dict(_parse_engine(text) for text in engine or [])
    lab = Lab(
        out=folder.absolute(),
        console=console,
        trains_shipped=retrain,
        engines=engines,
        shipped=found.shipped,
        concurrency=concurrency,
        on=on,
    )
    if publish:
        source = folder.absolute()
        if not (source / RESULTS_FILE).exists():
            raise InputError(f"{folder} has no results: run `tengen paper {name}` first, or name its folder with --out")
        target = published / name / "results"
        summary = published.parent / "docs" / "results" / "papers.md"
        missing = publish_results(found, read_results(source / RESULTS_FILE), source, target, summary, lab)
        console.print(f"published in {target}", soft_wrap=True)
        if missing:
            console.print(f"not run yet: {', '.join(missing)}", soft_wrap=True)
        return
    try:
        results = run_paper(found, lab, only=only or (), quick=quick)
    except KeyboardInterrupt:
        console.print(f"stopped; repeat the command to continue in {folder}", soft_wrap=True)
        raise typer.Exit(130) from None
    _print_markdown(console, folder / TABLE_FILE)
    minutes, cpu_minutes = (
        sum(kept.get(key, 0) for kept in results.experiments.values()) / 60 for key in ("seconds", "cpu_seconds")
    )
    console.print(
        f"{folder}: results, plots, games and runs; {minutes:.1f} minutes, {cpu_minutes:.1f} of CPU time",
        soft_wrap=True,
    )


def _parse_engine(text: str) -> tuple[str, str]:
    from tengen.errors import InputError

    name, equals, engine_command = text.partition("=")
    if not (name.strip() and equals and engine_command.strip()) or "/" in name or '"' in engine_command:
        raise InputError(f"{text!r} in --engine does not have the form NAME=COMMAND")
    return name.strip(), engine_command.strip()


def _print_markdown(console: Console, path: Path) -> None:
    """Print a Markdown file. In narrow tables, words are split so that no column name is cut off."""
    from rich.console import ConsoleOptions, RenderResult
    from rich.markdown import Markdown, TableElement
    from rich.table import Table

    class FoldedTable(TableElement):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for table in super().__rich_console__(console, options):
                if isinstance(table, Table):
                    for column in table.columns:
                        column.overflow = "fold"
                yield table

    class FoldedMarkdown(Markdown):
        elements = {**Markdown.elements, "table_open": FoldedTable}  # noqa: RUF012  as in the base class

    console.print(FoldedMarkdown(path.read_text(encoding="utf-8")))


def _show(console: Console, folder: Path, name: str) -> None:
    from tengen.errors import InputError

    known = [path.parent.name for path in sorted(folder.glob("*/README.md"))]
    if not known:
        raise InputError(
            f"no published results in {folder}: they are in the repository but not in the installed package"
        )
    if name not in known:
        asked = f"unknown paper {name!r}" if name else "--show needs the name of a paper"
        raise InputError(f"{asked} (known: {', '.join(known)})")
    _print_markdown(console, folder / name / "README.md")
    table = folder / name / "results" / "table.md"
    if table.exists():
        _print_markdown(console, table)

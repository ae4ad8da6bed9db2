"""Generates pages of the documentation when `make docs` builds it (an mkdocs hook).

The pages on the command line, the configuration keys and the players are generated from the program. The pages of
`papers/` and CONTRIBUTING.md keep their paths in the repository, with their links adapted.
"""

from __future__ import annotations

import posixpath
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.agents.registry import agent_kind, agent_names
from tengen.learning.algorithms.registry import algorithm_names, find_algorithm
from tengen.learning.config import KeyDescription, describe_keys, describe_preset, preset_names

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
BORROWED = ("CONTRIBUTING.md", "papers/README.md", "papers/*/README.md", "papers/*/results/*.*")
"""Files of the repository that are part of the site, at the same path."""
_LINK = re.compile(r"(\]\()(?!\w+:|#)([^)\s#]+)")
_HELP_WIDTH = "100"
_CONFIGURATION_INTRODUCTION = """\
*For everyone who changes a preset: the keys that `--set KEY=VALUE` accepts and that a run's `config.toml` contains.
`tengen train ALGORITHM --keys --preset NAME` lists them with the values of a preset.*"""
_PLAYERS_INTRODUCTION = """\
*For everyone who specifies a player on the command line, in a tournament file or in Python, as `NAME:key=value,…`.*"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the files from outside docs/ to the site."""
    from mkdocs.structure.files import File

    for path, write in GENERATED.items():
        files.append(File.generated(config, path, content=write()))
    for source in borrowed_files():
        files.append(File.generated(config, source, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Adapt the links between docs/ and the rest of the repository: the site has them in one folder."""
    return site_links(markdown, page.file.src_uri)


def borrowed_files() -> list[str]:
    """Return the paths of the files from outside docs/, relative to the repository."""
    found = [path for pattern in BORROWED for path in ROOT.glob(pattern) if path.suffix != ".json"]
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def site_links(markdown: str, page: str) -> str:
    """Return the text of a page with its links adapted to the site, where docs/ is the root.

    >>> site_links("[a](../../papers/README.md)", "results/ladder.md")
    '[a](../papers/README.md)'
    >>> site_links("[b](../../docs/how/mcts.md#speed)", "papers/zero9/README.md")
    '[b](../../how/mcts.md#speed)'
    """
    borrowed = set(borrowed_files())
    folder = posixpath.dirname(page if page in borrowed else f"docs/{page}")

    def replace(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[2]))
        if target not in borrowed and not target.startswith("docs/"):
            return match[0]
        return match[1] + posixpath.relpath(target.removeprefix("docs/"), posixpath.dirname(page) or ".")

    return _LINK.sub(replace, markdown)


def command_line_page() -> str:
    """Return the help of every command as a page."""
    import typer
    from typer.testing import CliRunner

    from tengen.cli import app

    def help_of(words: tuple[str, ...]) -> str:
        result = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": _HELP_WIDTH, "NO_COLOR": "1"})
        return result.output.replace("Usage: root", "Usage: tengen").rstrip()

    parts = [
        "# The command line",
        "*For users of the terminal: every command with its arguments, options and examples, as `--help` prints them.*",
        _fenced(help_of(())),
    ]
    for path in _commands(typer.main.get_command(app)):
        parts += [f"## tengen {' '.join(path)}", _fenced(help_of(path))]
    return "\n\n".join(parts) + "\n"


def _commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, inner in command.commands.items():
        yield (*path, name)
        if hasattr(inner, "commands"):
            yield from _commands(inner, (*path, name))


def configuration_page() -> str:
    """Return every configuration key and preset of every training algorithm as a page."""
    keys = {name: describe_keys(find_algorithm(name).Config, name) for name in algorithm_names()}
    common = [key for key in keys["alphazero"] if all(key in described for described in keys.values())]
    parts = [
        "# Configuration keys",
        _CONFIGURATION_INTRODUCTION,
        "## All algorithms",
        _key_table(common),
    ]
    for name, described in keys.items():
        own = [key for key in described if key not in common]
        presets = [f"- `{preset}`: {describe_preset(name, preset)}" for preset in preset_names(name)]
        parts += [f"## {name}", "\n".join(presets), _key_table(own)]
    return "\n\n".join(parts) + "\n"


def _key_table(keys: list[KeyDescription]) -> str:
    return _table("key", list(keys))


def players_page() -> str:
    """Return every player with its parameters as a page."""
    parts = [
        "# Players and their parameters",
        _PLAYERS_INTRODUCTION,
    ]
    for name in agent_names():
        kind = agent_kind(name)
        rows = [
            (row.key, row.type, "required" if row.default is None else row.default, row.help)
            for row in kind.describe_parameters()
        ]
        parts += [f"## {name}", kind.summary, _table("parameter", rows)]
    return "\n\n".join(parts) + "\n"


def _table(first: str, rows: Sequence[tuple[str, str, str, str]]) -> str:
    """Return a table of keys with type, default and help; an empty string if there are no rows."""
    lines = [f"| `{key}` | {_cell(kind)} | `{default}` | {_cell(text)} |" for key, kind, default, text in rows]
    return "\n".join([f"| {first} | type | default | |", "|---|---|---|---|", *lines]) if rows else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```"


GENERATED: Mapping[str, Callable[[], str]] = types.MappingProxyType(
    {
        "reference/command-line.md": command_line_page,
        "reference/configuration.md": configuration_page,
        "reference/agents.md": players_page,
    }
)
"""Generated pages by path."""

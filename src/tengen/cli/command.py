"""Registration of commands, and the layout of their help.

`command` registers a function with its group in `tengen --help` and a few examples. All commands use the same
style: words in capital letters stand for values, flags have no value, and every line fits the terminal.
"""

from __future__ import annotations

import inspect
import textwrap
import types
import typing
from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from rich.text import Text

F = TypeVar("F", bound=Callable[..., Any])

_MAX_WIDTH = 100
_MAX_NAME_WIDTH = 26
"""Maximum width of the name column; the help for a longer name starts on the next line."""


class Group(StrEnum):
    """Groups of commands in `tengen --help`, in this order."""

    PLAY = "Play"
    ANALYSE = "Analyse"
    TRAIN = "Train"
    RATE = "Rate"
    DATA = "Data"
    DEVELOP = "Develop"


def command(app: typer.Typer, name: str, *, examples: str, group: Group | None = None) -> Callable[[F], F]:
    """Return a decorator that registers a command.

    `examples` are shell commands, one per line, with optional comments. Commands in a subgroup have no `group`.
    """
    return app.command(
        name, cls=_Command, epilog=inspect.cleandoc(examples), rich_help_panel=None if group is None else group.value
    )


def add_subgroup(app: typer.Typer, name: str, *, help: str, group: Group, default: str | None = None) -> typer.Typer:
    """Add a command that has subcommands, such as `tengen data`, and return it.

    If the first word is not a subcommand, all words are passed to the subcommand `default`, if there is one.
    """
    kind = type("CommandGroup", (CommandGroup,), {"default_command": default})
    subgroup = typer.Typer(name=name, help=help, no_args_is_help=default is None, cls=kind)

    @subgroup.callback()
    def _group() -> None:
        pass

    _group.__doc__ = help
    app.add_typer(subgroup, rich_help_panel=group.value)
    return subgroup


class _Command(TyperCommand):
    """A command whose help is laid out by this module."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _print_help(self, ctx, [])


class CommandGroup(TyperGroup):
    """A command with subcommands whose help is laid out by this module."""

    default_command: str | None = None
    """Subcommand that runs if the first word does not name a subcommand."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the default subcommand, if any, unless the arguments name a subcommand."""
        is_named = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(
            ctx, args if is_named or self.default_command is None else [self.default_command, *args]
        )

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help with the subcommands by group."""
        sections: dict[str, list[tuple[str, str]]] = {group.value: [] for group in Group}
        for name in self.list_commands(ctx):
            found = self.get_command(ctx, name)
            if found is not None and not found.hidden:
                panel = getattr(found, "rich_help_panel", None)
                title = panel if isinstance(panel, str) else "Commands"
                sections.setdefault(title, []).append((name, _first_sentence(found.help or "")))
        _print_help(self, ctx, [(title, rows) for title, rows in sections.items() if rows])


def _print_help(shown: Any, ctx: Any, sections: list[tuple[str, list[tuple[str, str]]]]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False)
    width = min(console.width, _MAX_WIDTH)
    text = Text()
    text.append("Usage: ", "bold").append(_usage(shown, ctx) + "\n")
    for paragraph in inspect.cleandoc(shown.help or "").split("\n\n"):
        text.append("\n" + textwrap.fill(" ".join(paragraph.split()), width) + "\n")
    hints = typing.get_type_hints(shown.callback) if shown.callback is not None else {}
    parameters = [one for one in shown.get_params(ctx) if not getattr(one, "hidden", False)]
    arguments = [one for one in parameters if one.param_type_name == "argument"]
    options = [one for one in parameters if one.param_type_name == "option"]
    shown_sections = [
        ("Arguments", [(_argument_name(one), _help(one)) for one in arguments]),
        *sections,
        ("Options", [(_option_name(one, hints.get(one.name)), _help(one)) for one in options]),
    ]
    names = [name for _, rows in shown_sections for name, _ in rows]
    name_width = max(len(name) for name in names if len(name) <= _MAX_NAME_WIDTH)
    for title, rows in shown_sections:
        if rows:
            text.append(f"\n{title}:\n", "bold")
            for name, sentence in rows:
                _append_row(text, name, sentence, name_width, width)
    if shown.epilog:
        text.append("\nExamples:\n", "bold")
        for line in shown.epilog.splitlines():
            code, hash_sign, comment = line.partition("#")
            text.append(f"  {code}").append(f"{hash_sign}{comment}\n", "dim")
    text.rstrip()
    console.print(text, soft_wrap=True)


def _usage(shown: Any, ctx: Any) -> str:
    words = [ctx.command_path, "[OPTIONS]"]
    for one in shown.get_params(ctx):
        if one.param_type_name == "argument" and not one.hidden:
            words.append(_argument_name(one) if one.required else f"[{_argument_name(one)}]")
    if isinstance(shown, TyperGroup):
        words.append("COMMAND …")
    return " ".join(words)


def _argument_name(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return f"{name}…" if argument.nargs != 1 else name


def _option_name(option: Any, hint: Any) -> str:
    names = ", ".join(option.opts)
    if option.secondary_opts:
        names = f"{names}/{', '.join(option.secondary_opts)}"
    value = "" if option.is_flag else option.metavar or placeholder(hint)
    return f"{names} {value}".rstrip()


def placeholder(hint: Any) -> str:
    """Return the placeholder for a value of this type: N, X, FILE, TEXT or the choices."""
    arguments = [kind for kind in typing.get_args(hint) if kind is not types.NoneType]
    if typing.get_origin(hint) in (types.UnionType, typing.Union, list):
        return placeholder(arguments[0])
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return "|".join(hint)
    return {int: "N", float: "X", Path: "FILE"}.get(hint, "TEXT")


def _help(parameter: Any) -> str:
    """Return the help text for a parameter, followed by its default unless the text already states it."""
    text = parameter.help or ""
    default = parameter.default
    if parameter.show_default is False or "(default" in text or callable(default):
        return text
    if default is None or default is False or default in ("", ()):
        return text
    if default is True and not parameter.secondary_opts:
        return text
    shown = {True: parameter.opts[0]}.get(default, default) if isinstance(default, bool) else default
    return f"{text} [default: {getattr(shown, 'value', shown)}]".lstrip()


def _append_row(text: Text, name: str, sentence: str, name_width: int, width: int) -> None:
    """Append a name and its help in two columns."""
    indent = " " * (name_width + 4)
    lines: Iterable[str] = textwrap.wrap(sentence, width - len(indent), break_on_hyphens=False) or [""]
    text.append(f"  {name}", "cyan")
    if len(name) > name_width:
        text.append("\n" + indent)
    else:
        text.append(" " * (name_width + 2 - len(name)))
    text.append(f"\n{indent}".join(lines) + "\n")


def _first_sentence(text: str) -> str:
    """Return the first sentence of a help text."""
    paragraph = " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())
    end = paragraph.find(". ")
    return paragraph if end < 0 else paragraph[: end + 1]

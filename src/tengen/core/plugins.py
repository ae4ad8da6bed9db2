"""Plug-ins: look up agents, learners and networks that are built in, installed, in a file, or passed as objects.

A `Plugins` finds an object of one kind by its name. Every object is listed as a reference `module:attribute`: built-in
objects in a table, those of installed packages as entry points of a group. A file is named by its path, `./mybot.py`
or `./mybot.py:MyBot`.

Finding an object may run its code. A program that accepts untrusted names must therefore use
`Plugins.restricted`, which finds only built-in objects and those that the program itself lists.
"""

from __future__ import annotations

import functools
import importlib
import re
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from tengen.errors import PluginError, TengenError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# `import tengen` imports this module, so slow modules of the standard library are imported where they are used.

# A path has no colon except after a Windows drive letter, so `brain:cmd=./x.py` does not match.
_IN_FILE = re.compile(r"(?P<path>(?:[A-Za-z]:(?=[\\/]))?[^:=,\"]+\.py)(?::(?P<name>[^\W\d]\w*))?(?P<rest>:.*)?")


@dataclass(frozen=True, slots=True)
class InFile:
    """An object in a Python file."""

    path: str
    name: str | None = None
    """Name of the object; None if the file itself is the plug-in, or if it defines only one."""

    @classmethod
    def parse(cls, text: str) -> tuple[InFile, str] | None:
        """Split `FILE.py[:NAME][REST]` into the object and the rest; None if the text does not begin with a file.

        >>> InFile.parse("./mybot.py:MyBot:depth=2")
        (InFile(path='./mybot.py', name='MyBot'), ':depth=2')
        """
        match = _IN_FILE.fullmatch(text.strip())
        if match is None:
            return None
        return cls(match["path"], match["name"]), match["rest"] or ""

    def __str__(self) -> str:
        return self.path if self.name is None else f"{self.path}:{self.name}"


@dataclass(frozen=True, kw_only=True)
class Plugins:
    """All objects of one kind that can be found by name. Picklable if `own` is."""

    what: str
    """The kind in error messages, such as `agent`."""
    group: str
    """Entry-point group in the metadata of installed packages."""
    wanted: str
    """Description of an acceptable object for error messages."""
    accepts: Callable[[Any], bool]
    """Predicate that returns whether an object is of this kind."""
    built_in: Mapping[str, str]
    """Reference to each built-in object by name."""
    own: Mapping[str, Any] = field(default_factory=dict)
    """Additional objects by name, as objects or `InFile`. They take precedence over all others."""
    is_restricted: bool = False
    """Whether to search only `built_in` and `own`, so that a name cannot import any other code."""

    def restricted(self, own: Mapping[str, Any] | None = None) -> Self:
        """Return plug-ins for untrusted names: only the built-in objects and `own`."""
        return replace(self, own=dict(own or {}), is_restricted=True)

    def with_own(self, own: Mapping[str, Any]) -> Self:
        """Return plug-ins with additional objects."""
        return replace(self, own={**self.own, **own})

    def names(self) -> tuple[str, ...]:
        """Return all names: the built-in ones, the additional ones and those of installed packages. Imports nothing."""
        installed = () if self.is_restricted else (point.name for point in _entry_points(self.group))
        return tuple(dict.fromkeys((*self.built_in, *self.own, *installed)))

    def find(self, name: str) -> Any:
        """Import and return an object by its name or its file.

        Raises `PluginError` if there is no such object, or if its code fails.
        """
        if name in self.own:
            found = self.own[name]
            return self._in_file(found) if isinstance(found, InFile) else self._checked(found, name)
        if name in self.built_in:
            return _resolve(self.built_in[name])
        place = InFile.parse(name)
        if place is not None and not place[1]:
            if self.is_restricted:
                raise PluginError(f"{self.what} {name!r} is a file, and files are not allowed here")
            return self._in_file(place[0])
        if not self.is_restricted:
            points = [point for point in _entry_points(self.group) if point.name == name]
            if points:
                return self._installed(name, points)
        raise PluginError(f"unknown {self.what} {name!r}{_did_you_mean(name, self.names())}")

    def list_file(self, place: InFile) -> dict[str, InFile]:
        """Import a file and return the objects in it by name; with `place.name`, only that object.

        Raises `PluginError` if the file has no such object.
        """
        if place.name is not None:
            self._in_file(place)
            return {place.name: place}
        found = self._candidates(load_file(Path(place.path)))
        if not found:
            raise PluginError(f"{place.path} defines no {self.what} ({self.wanted})")
        return {name: InFile(place.path, name) for name in found}

    def _installed(self, name: str, points: list[EntryPoint]) -> Any:
        owners = sorted({point.dist.name if point.dist else point.value for point in points})
        if len(owners) > 1:
            raise PluginError(f"{self.what} {name!r} is defined by several packages: {', '.join(owners)}")
        place = f"{self.what} {name!r} of the package {owners[0]}"
        with _Importing(place):
            found = _resolve(points[0].value)
        return self._checked(found, place)

    def _in_file(self, place: InFile) -> Any:
        module = load_file(Path(place.path))
        if place.name is not None:
            if not hasattr(module, place.name):
                raise PluginError(f"{place.path} has no {place.name!r}{self._suggestion(module, place.name)}")
            return self._checked(getattr(module, place.name), str(place))
        if self.accepts(module):
            return module
        found = self._candidates(module)
        if len(found) != 1:
            problem = f"several: {', '.join(found)}; write {place.path}:{found[0]}" if found else "none"
            raise PluginError(f"{place.path} must define exactly one {self.what} ({self.wanted}), but it has {problem}")
        return getattr(module, found[0])

    def _candidates(self, module: ModuleType) -> list[str]:
        """Return the names of the acceptable classes that a module defines itself."""
        return [
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__ and self.accepts(value)
        ]

    def _suggestion(self, module: ModuleType, name: str) -> str:
        found = self._candidates(module)
        return _did_you_mean(name, found) if found else f", and no other {self.what}"

    def _checked(self, found: Any, place: str) -> Any:
        if not self.accepts(found):
            raise PluginError(f"{place} is not {self.wanted}; it is {_described(found)}")
        return found


@functools.cache
def _load_resolved(path: Path) -> ModuleType:
    import hashlib
    import importlib.util

    # dataclasses and pickle look up the module in sys.modules, where a unique name prevents clashes.
    name = f"tengen_file_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # As with a script, the file can import modules in its folder. The folder comes last, so they hide no other module.
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    try:
        with _Importing(str(path)):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load_file(path: Path) -> ModuleType:
    """Run a Python file and return it as a module; each file runs once per process.

    Raises `PluginError` if the file does not exist or fails.
    """
    resolved = path.expanduser().resolve()
    if not resolved.is_file():
        raise PluginError(f"cannot load {path}: no such file in {Path.cwd()}")
    return _load_resolved(resolved)


class _Importing:
    """Context manager that converts exceptions in third-party code to a one-line `PluginError` with their location."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (Exception, SystemExit)) and not isinstance(error, PluginError):
            raise PluginError(f"{self._place} cannot be imported: {describe_exception(error)}") from error


def describe_exception(error: BaseException) -> str:
    """Return a one-line description of an exception in third-party code: its location, type and message."""
    if isinstance(error, TengenError):
        return str(error).partition("\n")[0]
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {type(error).__name__}: {error.msg}"
    message = " ".join(str(error).split())
    return f"{place_of(error)}{type(error).__name__}{': ' if message else ''}{message}"


def place_of(error: BaseException) -> str:
    """Return where in third-party code an exception comes from, as `line 3 of mybot.py: `; empty if it is Tengen's own.

    A line in the user's own file is preferred to one in a library that the file calls.
    """
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not _is_ours(frame.filename)]
    users = [frame for frame in theirs if not _is_installed(frame.filename)] or theirs
    return f"line {users[-1].lineno} of {Path(users[-1].filename).name}: " if users else ""


def _is_ours(filename: str) -> bool:
    return filename.startswith("<frozen") or Path(filename).is_relative_to(Path(__file__).parents[1])


def _is_installed(filename: str) -> bool:
    """Return whether a file belongs to the standard library or to an installed package."""
    path = Path(filename)
    return path.is_relative_to(sysconfig.get_path("stdlib")) or not {"site-packages", "dist-packages"}.isdisjoint(
        path.parts
    )


def _did_you_mean(given: str, known: Sequence[str]) -> str:
    from tengen.core.tables import did_you_mean

    return did_you_mean(given, known)


def _entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, sorted by name."""
    import importlib.metadata

    return sorted(importlib.metadata.entry_points(group=group), key=lambda point: point.name)


def _resolve(reference: str) -> Any:
    """Import `module:attribute`, or a module."""
    module, _, attributes = reference.partition(":")
    found: Any = importlib.import_module(module.strip())
    return functools.reduce(getattr, filter(None, attributes.strip().split(".")), found)


def _described(found: object) -> str:
    if isinstance(found, type):
        return f"the class {found.__name__}"
    return f"of type {type(found).__name__}"

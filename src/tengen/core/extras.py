"""Optional packages: what each extra is for, and one sentence that says how to install a missing package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from tengen.errors import MissingExtraError


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra in `pyproject.toml`."""

    purpose: str
    modules: tuple[str, ...]
    """The top-level modules that it installs and that Tengen needs, directly or through another one of them."""


EXTRAS: Mapping[str, Extra] = {
    "train": Extra("training and `make demo`", ("torch", "onnx", "matplotlib", "scipy")),
    "web": Extra("the board in the browser", ("fastapi", "starlette", "uvicorn", "pydantic", "websockets")),
    "plots": Extra("plots of ratings and runs", ("matplotlib",)),
    "envs": Extra("Gymnasium and PettingZoo environments", ("gymnasium", "pettingzoo", "pygame")),
    "cluster": Extra(
        "matches and training on a Ray cluster", ("ray", "fsspec", "pandas", "pyarrow", "pydantic", "requests")
    ),
}


def needs_extra(what: str, extra: str) -> AbstractContextManager[None]:
    """Convert a failed import of a module of `extra` to a `MissingExtraError` that names the extra.

    >>> with needs_extra("training", "train"):
    ...     raise ModuleNotFoundError("No module named 'torch'", name="torch")
    Traceback (most recent call last):
    ...
    tengen.errors.MissingExtraError: training needs torch: pip install 'tengen[train]'
    """
    return _explaining(what, EXTRAS[extra].modules, f"'tengen[{extra}]'")


def needs_package(what: str, package: str, module: str | None = None) -> AbstractContextManager[None]:
    """Like `needs_extra`, for a package that is in no extra; `module` is its name in imports (default: `package`)."""
    return _explaining(what, (module or package,), package)


@contextmanager
def _explaining(what: str, modules: tuple[str, ...], install: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        missing = _missing_module(error)
        if missing not in modules:
            raise
        raise MissingExtraError(f"{what} needs {missing}: pip install {install}") from None


def _missing_module(error: BaseException | None) -> str | None:
    """Return the top-level module that was not found, also if a package raised its own ImportError because of it."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError):
            return (error.name or "").partition(".")[0]
        error = error.__cause__
    return None

"""Optional packages: what each extra is for, and the error that says how to install a missing package."""

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
    """Top-level modules that the extra installs and that Tengen imports, directly or through other packages."""


EXTRAS: Mapping[str, Extra] = {
    "train": Extra("training and `make demo`", ("torch", "onnx", "matplotlib", "scipy")),
    "web": Extra("the board in the browser", ("fastapi", "starlette", "uvicorn", "pydantic", "websockets")),
    "tensorboard": Extra("training runs in TensorBoard", ("tensorboard",)),
    "openvino": Extra("networks in bf16", ("openvino",)),
    "plots": Extra("plots of ratings and runs", ("matplotlib",)),
    "envs": Extra("Gymnasium and PettingZoo environments", ("gymnasium", "pettingzoo", "pygame")),
    "cluster": Extra(
        "matches and training on a Ray cluster", ("ray", "fsspec", "pandas", "pyarrow", "pydantic", "requests")
    ),
}


def needs_extra(what: str, extra: str) -> AbstractContextManager[None]:
    """Convert a failed import of one of the extra's modules to a `MissingExtraError` that names the extra.

    >>> with needs_extra("training", "train"):
    ...     raise ModuleNotFoundError("No module named 'torch'", name="torch")
    Traceback (most recent call last):
    ...
    tengen.errors.MissingExtraError: training needs torch: pip install 'tengen[train]'
    """
    return _explaining(what, EXTRAS[extra].modules, f"'tengen[{extra}]'")


def needs_package(what: str, package: str, module: str | None = None) -> AbstractContextManager[None]:
    """Like `needs_extra`, but for a package in no extra; `module` is its import name (default: `package`)."""
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
    """Return the top-level module that was not found, even if a package raised its own ImportError for it."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError):
            return (error.name or "").partition(".")[0]
        error = error.__cause__
    return None

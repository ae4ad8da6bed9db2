"""Optional packages: one sentence that says which extra to install, however Tengen was installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tengen.errors import MissingExtraError

PACKAGES = {
    "envs": ("gymnasium", "pettingzoo", "pygame"),
    "train": ("torch", "onnx", "matplotlib", "scipy"),
    "web": ("fastapi", "starlette", "uvicorn", "pydantic", "websockets"),
}
"""The modules that the extras install."""


@contextmanager
def needs_extra(what: str, extra: str) -> Iterator[None]:
    """Convert a failed import of a package of `extra` to a `MissingExtraError` that names the extra.

    >>> with needs_extra("training", "train"):
    ...     raise ModuleNotFoundError("No module named 'torch'", name="torch")
    Traceback (most recent call last):
    ...
    tengen.errors.MissingExtraError: training needs torch: pip install 'tengen[train]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in PACKAGES[extra]:
            raise
        raise MissingExtraError(f"{what} needs {package}: pip install 'tengen[{extra}]'") from None

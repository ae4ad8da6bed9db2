"""Networks by name: shipped models, training runs, and files.

A shipped model is a folder `models/NAME/` with `model.onnx`, `model-int8.onnx`, the weights `model.safetensors`, and a
card about its training and strength (`card.json` for programs, `card.md` for people). A training run writes its newest
network to `model.onnx` in its folder, so the network can play while the run continues.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.core.checked_files import read_bytes, read_json
from tengen.core.contracts import Ruleset
from tengen.core.extras import needs_extra
from tengen.core.planes import encode
from tengen.core.position import Position
from tengen.core.shipped import shipped_folder
from tengen.core.tables import did_you_mean
from tengen.errors import InputError, RulesetError
from tengen.nets.evaluators import OnnxEvaluator, OpenVinoEvaluator
from tengen.nets.onnx_reader import MAX_MODEL_BYTES
from tengen.nets.sealing import check_seal

if TYPE_CHECKING:
    from tengen.nets.evaluators import TorchEvaluator


class Precision(StrEnum):
    """Number format of a network."""

    FP32 = "fp32"
    INT8 = "int8"


class Backend(StrEnum):
    """Library that runs a network."""

    ONNXRUNTIME = "onnxruntime"
    OPENVINO = "openvino"
    """Runs fp32 networks in bf16 if the processor supports it. Needs the extra `openvino`."""
    TORCH = "torch"


NETWORK_FILE = "model.onnx"
INT8_FILE = "model-int8.onnx"
_FILES = {Precision.FP32: NETWORK_FILE, Precision.INT8: INT8_FILE}
WEIGHTS_FILE = "model.safetensors"
MILESTONES_FOLDER = "milestones"
"""Folder in a run with the networks of chosen iterations, each in a folder named after its iteration."""
_OLD_NAMES = {"pg9": "pg-9x9-paper"}
"""Current names of renamed models, by former name."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Properties of a network."""

    name: str
    """Requested name: a shipped model or a path."""
    ruleset: Ruleset
    """Ruleset that the network was trained for."""
    plane_layout: str
    has_any_size: bool
    """Whether the network accepts boards of other sizes, regardless of how well it plays on them."""
    precision: Precision
    sha256: str
    discount: float | None = None
    """Discount per ply for its value targets; None if they were not discounted."""

    def supports(self, ruleset: Ruleset) -> bool:
        """Return whether the network can evaluate positions under a ruleset."""
        mine = self.ruleset
        same_size = (ruleset.width, ruleset.height) == (mine.width, mine.height)
        return (same_size or self.has_any_size) and (ruleset.win_length, ruleset.rule) == (mine.win_length, mine.rule)

    def check_supports(self, ruleset: Ruleset) -> None:
        """Raise `RulesetError` unless the network supports a ruleset."""
        if not self.supports(ruleset):
            sizes = " and other sizes" if self.has_any_size else ""
            mine, theirs = self.ruleset.win_length, ruleset.win_length
            why = "" if mine == theirs else f" (it was trained for {mine} in a row, not {theirs})"
            raise RulesetError(f"the network {self.name!r} plays {self.ruleset}{sizes}, not {ruleset}{why}")


def model_names() -> tuple[str, ...]:
    """Return the names of the shipped models."""
    folder = shipped_folder("models")
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{_FILES[Precision.FP32]}")))


def read_card(name: str) -> dict[str, Any]:
    """Return the card of a shipped model."""
    path = _shipped(name) / "card.json"
    card = read_json(path)
    if not isinstance(card, dict):
        raise InputError(f"{path} is damaged: its content is not a JSON object")
    return card


def load_evaluator(
    model: str | Path,
    *,
    precision: Precision | str = Precision.FP32,
    backend: Backend | str = Backend.ONNXRUNTIME,
    threads: int = 1,
) -> OnnxEvaluator | OpenVinoEvaluator | TorchEvaluator:
    """Load a network as an evaluator; `load_model` also returns its properties."""
    return load_model(model, precision=precision, backend=backend, threads=threads)[0]


def load_model(
    model: str | Path,
    *,
    precision: Precision | str = Precision.FP32,
    backend: Backend | str = Backend.ONNXRUNTIME,
    threads: int = 1,
) -> tuple[OnnxEvaluator | OpenVinoEvaluator | TorchEvaluator, ModelInfo]:
    """Load a network given the name of a shipped model, the folder of a training run, or the path of an ONNX file.

    `threads` is the number of threads per evaluation. Raises `InputError` if the file is damaged or the name is
    unknown.
    """
    wanted, engine = _member(Precision, precision), _member(Backend, backend)
    path = find_model(model, wanted)
    evaluator, info = load_network_file(path, threads=threads, name=str(model))
    if info.precision is not wanted:
        raise InputError(f"{path} has precision {info.precision}, not {wanted}")
    if engine is Backend.ONNXRUNTIME:
        return evaluator, info
    if wanted is not Precision.FP32:
        raise InputError(f"the {engine} backend supports fp32 networks only, not {wanted}: use backend onnxruntime")
    if engine is Backend.TORCH:
        return _load_torch(path.with_name(WEIGHTS_FILE)), info
    return OpenVinoEvaluator(read_bytes(path, MAX_MODEL_BYTES), threads=threads, place=str(path)), info


def load_network_file(path: Path, *, threads: int = 1, name: str = "") -> tuple[OnnxEvaluator, ModelInfo]:
    """Load an ONNX file of any precision; verify its checksum and graph, and evaluate an empty board as a test.

    `name` is the name of the model (default: the path). Every failure raises an `InputError` that names the file.
    """
    data = read_bytes(path, MAX_MODEL_BYTES)
    sha256 = check_seal(data, str(path))
    evaluator = OnnxEvaluator(data, threads=threads, place=str(path))
    info = ModelInfo(
        name=name or str(path),
        ruleset=evaluator.file.ruleset,
        plane_layout=evaluator.plane_layout,
        has_any_size=evaluator.file.has_any_size,
        precision=_precision(evaluator.metadata, path),
        sha256=sha256,
        discount=_discount(evaluator.metadata, path),
    )
    evaluator.evaluate(encode(Position.start(info.ruleset), info.plane_layout)[None])
    return evaluator, info


def find_model(model: str | Path, precision: Precision = Precision.FP32) -> Path:
    """Return the ONNX file of a model; raise an `InputError` that lists the shipped models if it does not exist."""
    path = Path(model)
    if path.suffix == ".onnx":
        if not path.is_file():
            raise InputError(f"network file {path} does not exist")
        return path
    folder = path if path.is_dir() else _shipped(str(model))
    file = folder / _FILES[precision]
    if not file.is_file():
        if (folder / _FILES[Precision.FP32]).is_file():
            raise InputError(
                f"{folder} has no {file.name}: training runs write only fp32 networks;"
                " `tengen ship` creates a model with both precisions"
            )
        raise InputError(f"{folder} has no {file.name}; a training run writes it after its first iteration")
    return file


def milestone_folder(run: Path, iteration: int) -> Path:
    """Return the folder in which a training run keeps the network of an iteration."""
    return run / MILESTONES_FOLDER / f"{iteration:06}"


def find_milestone(run: Path, iteration: int) -> Path:
    """Return the folder of a run's network after an iteration.

    If the run did not keep it, raises an `InputError` that lists the nearest iterations whose networks it kept.
    """
    folder = milestone_folder(run, iteration)
    if folder.is_dir():
        return folder
    kept = sorted(int(path.name) for path in folder.parent.glob("*") if path.name.isdecimal() and path.is_dir())
    nearest = sorted(sorted(kept, key=lambda one: abs(one - iteration))[:5])
    remedy = (
        f"the nearest iterations that it kept are {', '.join(map(str, nearest))}"
        if kept
        else "it kept only the newest network; to keep every tenth, train with --set milestone_every=10"
    )
    raise InputError(f"{run} has no network of iteration {iteration}; {remedy}")


def shipped_name(name: str) -> str:
    """Return the current name of a shipped model that was renamed; other names are returned unchanged."""
    return _OLD_NAMES.get(name, name)


def _shipped(name: str) -> Path:
    names = model_names()
    if shipped_name(name) in names:
        return shipped_folder("models") / shipped_name(name)
    raise InputError(f"{name!r} is neither a folder, nor an .onnx file, nor a shipped model{did_you_mean(name, names)}")


def _load_torch(path: Path) -> TorchEvaluator:
    with needs_extra("the torch backend", "train"):
        from tengen.nets.architectures import load_net
    from tengen.nets.evaluators import TorchEvaluator

    return TorchEvaluator(load_net(path)[0])


def _precision(metadata: Mapping[str, str], path: Path) -> Precision:
    text = metadata.get("precision", Precision.FP32)
    if text not in list(Precision):
        raise InputError(f"{path} has the unknown precision {text!r:.40}")
    return Precision(text)


def _discount(metadata: Mapping[str, str], path: Path) -> float | None:
    """Return the discount in the metadata of a network file; None if it states no discount."""
    if "discount" not in metadata:
        return None
    try:
        discount = float(metadata["discount"])
    except ValueError:
        discount = math.nan
    if not 0 < discount <= 1:
        raise InputError(f"{path}: the discount must be above 0 and at most 1, not {metadata['discount']!r:.40}")
    return discount


def _member(kind: type[Any], value: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        known = ", ".join(member.value for member in kind)
        raise InputError(f"unknown {kind.__name__.lower()} {value!r} (known: {known})") from None

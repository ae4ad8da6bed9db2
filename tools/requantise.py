"""Rewrite `model-int8.onnx` of shipped networks: `python -m tools.requantise [NAME…]`.

The training data of shipped networks is not in the repository, so they are calibrated on games of the simple players.
"""

from __future__ import annotations

import sys

from tengen.core.files import replace_file
from tengen.nets.calibration import played_planes
from tengen.nets.export import quantise
from tengen.nets.models import find_model, load_model, model_names, read_card

_POSITIONS = 512
_SEED = 1


def requantise(name: str) -> None:
    """Write the int8 form of one network."""
    info = load_model(name)[1]
    path = find_model(name)
    planes = played_planes(info.ruleset, info.plane_layout, _POSITIONS, _SEED)
    replace_file(path.with_name("model-int8.onnx"), quantise(path.read_bytes(), planes))


if __name__ == "__main__":
    for name in sys.argv[1:] or model_names():
        if read_card(name).get("int8", True):
            requantise(name)
            print(name)

"""The backend openvino, with a stand-in for the package that runs the networks with onnxruntime.

`python -m benchmarks.openvino_bf16` compares the real package with onnxruntime.
"""

from __future__ import annotations

import re
import sys
import types
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tengen.agents.registry import make_agent
from tengen.core.contracts import Limits, Ruleset
from tengen.core.position import Position
from tengen.errors import InputError, MissingExtraError
from tengen.learning.algorithms.alphazero import SelfPlayConfig
from tengen.learning.experience.game_source import Generation, SelfPlayer, SelfPlaySpec
from tengen.nets.evaluators import OpenVinoEvaluator
from tengen.nets.models import Backend, find_model, load_evaluator
from tengen.search.puct_config import PuctConfig
from tengen.search.puct_self_play import Openings
from tests.nets.positions import random_planes

SIX = Ruleset.parse("6x6:4")


class FakeOpenVino(types.ModuleType):
    """Stands in for the package openvino and remembers how networks were compiled and run."""

    def __init__(self, capabilities: list[str]) -> None:
        super().__init__("openvino")
        self.capabilities = capabilities
        self.settings: list[dict[str, object]] = []
        self.requests: list[FakeRequest] = []
        self.spoil = False
        """Return NaN."""

    def Core(self) -> FakeOpenVino:
        return self

    def get_property(self, device: str, name: str) -> list[str]:
        assert (device, name) == ("CPU", "OPTIMIZATION_CAPABILITIES")
        return self.capabilities

    def read_model(self, model: bytes) -> bytes:
        return model

    def compile_model(self, model: bytes, device: str, settings: dict[str, object]) -> FakeModel:
        assert device == "CPU"
        self.settings.append(settings)
        return FakeModel(self, model)


class FakeModel:
    def __init__(self, package: FakeOpenVino, model: bytes) -> None:
        self.package = package
        self.session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])

    def create_infer_request(self) -> FakeRequest:
        self.package.requests.append(FakeRequest(self))
        return self.package.requests[-1]


class FakeRequest:
    def __init__(self, model: FakeModel) -> None:
        self.model = model
        self.runs = 0

    def infer(self, inputs: dict[str, Any], *, share_inputs: bool) -> dict[str, Any]:
        self.runs += 1
        policy, value = self.model.session.run(("log_policy", "value"), inputs)
        return {"log_policy": policy, "value": value * np.nan if self.model.package.spoil else value}


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> FakeOpenVino:
    fake = FakeOpenVino(["FP32", "BF16"])
    monkeypatch.setitem(sys.modules, "openvino", fake)
    return fake


def test_it_answers_as_onnxruntime_does(package: FakeOpenVino) -> None:
    planes = random_planes(SIX, 20, "threats")
    evaluator = load_evaluator("6x6x4", backend="openvino", threads=2)
    for mine, its in zip(evaluator.evaluate(planes), load_evaluator("6x6x4").evaluate(planes), strict=True):
        assert np.array_equal(mine, its)
    assert evaluator.plane_layout == "threats"
    (settings,) = package.settings
    assert (settings["INFERENCE_PRECISION_HINT"], settings["INFERENCE_NUM_THREADS"]) == ("bf16", 2)


def test_a_processor_without_bf16_computes_in_fp32(package: FakeOpenVino) -> None:
    package.capabilities = ["FP32", "INT8"]
    load_evaluator("6x6x4", backend="openvino")
    assert package.settings[0]["INFERENCE_PRECISION_HINT"] == "f32"


def test_every_thread_has_a_request_of_its_own(package: FakeOpenVino) -> None:
    evaluator = load_evaluator("6x6x4", backend="openvino")
    planes = random_planes(SIX, 4, "threats")
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        for pool in (one, other, one):
            pool.submit(evaluator.evaluate, planes).result()
    assert [request.runs for request in package.requests] == [2, 1]


def test_it_plays_and_generates_games(package: FakeOpenVino) -> None:
    position = Position.from_moves(SIX, "c3d4")
    named = "alphazero:model=6x6x4,simulations=20,batch=1"
    found = make_agent(f"{named},backend=openvino").choose(position, Limits())
    assert found.policy == make_agent(named).choose(position, Limits()).policy
    search = PuctConfig(simulations=8)
    games = []
    for backend in (Backend.ONNXRUNTIME, Backend.OPENVINO):
        openings = Openings(fraction=0.0)
        spec = SelfPlaySpec(
            ruleset=SIX, layout="threats", openings=openings, games=1, actors=1, parallel=2, seed=1, backend=backend
        )
        player = SelfPlayer(spec, parallel=2, seed=1)
        player.use(Generation(1, find_model("6x6x4").read_bytes(), search))
        finished: list[Any] = []
        while not finished:
            finished = player.step()
        games.append([game.moves for game in finished])
    assert games[0] == games[1]
    assert len(package.settings) == 2
    assert sum(request.runs for request in package.requests) > 20


def test_what_it_cannot_do_is_refused(package: FakeOpenVino, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="the openvino backend supports fp32 networks only, not int8"):
        load_evaluator("6x6x4", backend="openvino", precision="int8")
    with pytest.raises(InputError, match=r"^model "):
        OpenVinoEvaluator(b"nothing")
    with pytest.raises(InputError, match=r"supports only precision=fp32 on the CPU, not precision=int8"):
        SelfPlayConfig(backend=Backend.OPENVINO, precision="int8")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"backend=torch cannot run self-play; use onnxruntime or openvino"):
        SelfPlayConfig(backend=Backend.TORCH)
    package.spoil = True
    with pytest.raises(InputError, match="returned NaN, infinity or a value outside"):
        load_evaluator("6x6x4", backend="openvino").evaluate(random_planes(SIX, 2, "threats"))
    monkeypatch.setitem(sys.modules, "openvino", None)
    sentence = re.escape("backend openvino needs openvino: pip install 'tengen[openvino]'")
    with pytest.raises(MissingExtraError, match=sentence):
        load_evaluator("6x6x4", backend="openvino")

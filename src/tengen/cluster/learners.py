"""Training steps shared by several processes: torch's data-parallel training under Ray Train.

The driver samples the batches, and each process computes its part of every batch. Gradients are averaged over the
processes, so the steps equal those of a single learner up to rounding. After the steps of an iteration, the driver
receives the new state; checkpoints, validation and publishing work as with a single learner.
"""

from __future__ import annotations

import asyncio
import itertools
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import ray
import safetensors.torch
import torch
from ray.train import FailureConfig, RunConfig, ScalingConfig, get_context
from ray.train.torch import TorchConfig, TorchTrainer
from ray.train.torch import get_device as get_train_device
from torch.nn.parallel import DistributedDataParallel

from tengen.errors import InputError, RunError
from tengen.learning.algorithms.alphazero import BatchShare, Config, Learner
from tengen.learning.experience.replay import Samples
from tengen.learning.run.loop import channels_last
from tengen.nets.architectures import build_net
from tengen.nets.devices import torch_device

_START_S = 300.0
"""Seconds within which the processes must be ready."""
_LOOK_S = 1.0
_STEPS_AHEAD = 3
"""Maximum number of batches queued for the processes."""


@dataclass(frozen=True, slots=True)
class _Step:
    part: Samples
    share: BatchShare
    learning_rate: float


@dataclass(frozen=True, slots=True)
class _SetState:
    tensors: Mapping[str, bytes]
    steps: int


class _GetState:
    """Request for the state; the first process replies with a `_SetState`."""


class _Stop:
    """Request to exit."""


class DataParallelLearner:
    """Runs the training steps of a learner in several processes; a context manager that stops them on exit."""

    def __init__(self, learner: Learner, config: Config) -> None:
        """Start `config.learners` processes, each with `learner.threads` CPUs, or a GPU if the device is CUDA."""
        self._learner = learner
        self._count = config.learners
        uses_gpu = torch_device(config.learner.device).type == "cuda"
        _check_room(self._count, config.learner.threads, uses_gpu)
        here = ray.get_runtime_context().get_node_id()
        affinity = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
        mailboxes = ray.remote(num_cpus=0, scheduling_strategy=affinity)(_Mailbox)
        self._mailbox = mailboxes.remote(self._count)
        self._numbers = itertools.count()
        self._failure: BaseException | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="tengen-learners-")
        self._trainer = TorchTrainer(
            _learn,
            train_loop_config={"mailbox": self._mailbox, "config": config},
            torch_config=TorchConfig(backend="nccl" if uses_gpu else "gloo"),
            scaling_config=ScalingConfig(
                num_workers=self._count,
                use_gpu=uses_gpu,
                resources_per_worker={"CPU": config.learner.threads, **({"GPU": 1} if uses_gpu else {})},
            ),
            run_config=RunConfig(storage_path=self._folder.name, failure_config=FailureConfig(max_failures=0)),
        )
        self._thread = threading.Thread(target=self._fit, name="learners", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._send_all(_pack_state(self._learner), _START_S)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._failure is None:
            self._post([_Stop()] * self._count)
            self._thread.join(timeout=30.0)
        ray.kill(self._mailbox)
        self._folder.cleanup()

    def train(self, batches: Iterable[tuple[Samples, float]]) -> Iterator[dict[str, float]]:
        """Train on each batch with its learning rate and yield the losses. Then update the learner's state."""
        pending: deque[int] = deque()
        for batch, learning_rate in batches:
            pending.append(self._post(_split(batch, learning_rate, self._count)))
            if len(pending) > _STEPS_AHEAD:
                yield _mean(self._replies(pending.popleft()))
        while pending:
            yield _mean(self._replies(pending.popleft()))
        state: _SetState = self._send_all(_GetState())[0]
        _unpack_state(self._learner, state)

    # -- messages ----------------------------------------------------------------------------------------------------

    def _fit(self) -> None:
        try:
            self._trainer.fit()
        except BaseException as error:  # reported by `_replies`
            self._failure = error

    def _send_all(self, message: Any, timeout_s: float | None = None) -> list[Any]:
        return self._replies(self._post([message] * self._count), timeout_s)

    def _post(self, messages: list[Any]) -> int:
        """Send each process its message; return the number that identifies the replies."""
        number = next(self._numbers)
        self._mailbox.send.remote(number, [ray.put(message) for message in messages])
        return number

    def _replies(self, number: int, timeout_s: float | None = None) -> list[Any]:
        reference = self._mailbox.replies.remote(number)
        started = time.monotonic()
        while not ray.wait([reference], timeout=_LOOK_S)[0]:
            if not self._thread.is_alive():
                raise RunError(f"a learner process failed ({self._failure}); --resume continues the run") from None
            if timeout_s is not None and time.monotonic() - started > timeout_s:
                raise RunError(
                    f"{self._count} learner processes were not ready after {timeout_s:.0f} seconds;"
                    " check the cluster with `ray status`"
                )
        replies: list[Any] = ray.get(reference)
        return replies


class _Mailbox:
    """Messages to the processes and their replies, by number; a Ray Train driver cannot call its processes directly."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._messages: dict[int, list[Any]] = {}
        self._replies: dict[int, dict[int, Any]] = {}
        self._changed = asyncio.Condition()

    async def send(self, number: int, messages: list[Any]) -> None:
        async with self._changed:
            self._messages[number], self._replies[number] = messages, {}
            self._changed.notify_all()

    async def receive(self, number: int, rank: int) -> list[Any]:
        async with self._changed:
            await self._changed.wait_for(lambda: number in self._messages)
            return [self._messages[number][rank]]  # in a list, so that Ray does not resolve the reference here

    async def reply(self, number: int, rank: int, value: Any) -> None:
        async with self._changed:
            self._replies[number][rank] = value
            self._changed.notify_all()

    async def replies(self, number: int) -> list[Any]:
        async with self._changed:
            await self._changed.wait_for(lambda: len(self._replies.get(number, ())) == self._count)
            del self._messages[number]
            replies = self._replies.pop(number)
            return [replies[rank] for rank in range(self._count)]


# -- inside a process -------------------------------------------------------------------------------------------------


def _learn(arguments: Mapping[str, Any]) -> None:
    """Handle messages until `_Stop`. Ray Train calls this in each process after setting up the process group."""
    mailbox, config = arguments["mailbox"], arguments["config"]
    rank = get_context().get_world_rank()
    torch.set_num_threads(config.learner.threads)
    device = get_train_device() if torch_device(config.learner.device).type == "cuda" else torch.device("cpu")
    net = channels_last(build_net(config.net, config.ruleset, seed=0)).to(device)
    learner = Learner(net, config.learner, device=device, parallel=DistributedDataParallel(net))
    for number in itertools.count():
        (reference,) = ray.get(mailbox.receive.remote(number, rank))
        message = ray.get(reference)
        reply: Any = None
        match message:
            case _Step():
                reply = learner.step(message.part, message.learning_rate, message.share)
            case _SetState():
                _unpack_state(learner, message)
            case _GetState():
                reply = _pack_state(learner) if rank == 0 else None
            case _Stop():
                return
        ray.get(mailbox.reply.remote(number, rank, reply))


# -- batches and state ------------------------------------------------------------------------------------------------


def _split(batch: Samples, learning_rate: float, count: int) -> list[_Step]:
    """Split a batch into parts of nearly equal size, weighted so that their mean is the mean over the batch."""
    share = BatchShare.of(batch, count)
    bounds = [part * len(batch) // count for part in range(count + 1)]
    return [_Step(batch[slice(begin, end)], share, learning_rate) for begin, end in itertools.pairwise(bounds)]


def _mean(losses: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(part[name] for part in losses) / len(losses) for name in losses[0]}


def _pack_state(learner: Learner) -> _SetState:
    tensors = {name: safetensors.torch.save(dict(part)) for name, part in learner.tensors().items()}
    return _SetState(tensors, learner.steps)


def _unpack_state(learner: Learner, state: _SetState) -> None:
    tensors = {name: safetensors.torch.load(part) for name, part in state.tensors.items()}
    learner.restore(tensors, state.steps)


def _check_room(count: int, threads: int, uses_gpu: bool) -> None:
    """Raise `InputError` if the cluster is too small; Ray Train would wait forever."""
    cluster = ray.cluster_resources()
    for resource, needed in (("CPU", count * threads), ("GPU", count if uses_gpu else 0)):
        if cluster.get(resource, 0) < needed:
            raise InputError(
                f"{count} learners need {needed} {resource}s, but the cluster has {cluster.get(resource, 0):g}:"
                " reduce learners or learner.threads"
            )

"""Selects where a run is trained: in this process, or with games and training steps on the cluster given by `--on`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial

from tengen.cluster.connection import On, connected
from tengen.cluster.self_play import FleetSelfPlay, open_player
from tengen.core.extras import needs_extra
from tengen.errors import InputError
from tengen.learning.algorithms.alphazero import Config, Learner, LocalPlace, Place, SelfPlayConfig, Trainer
from tengen.learning.experience.game_source import Arrays, SelfPlaySpec
from tengen.nets.devices import Device

Warn = Callable[[str], None]


@contextmanager
def open_place(
    on: str, *, workers: int = 0, device: Device | None = None, warn: Warn = lambda _: None
) -> Iterator[Place]:
    """Yield the place given by `--on`, where a run is trained; `device` overrides the devices in its configuration."""
    place = On.parse(on)
    if not place.is_ray:
        if workers:
            raise InputError(
                f"--workers {workers} requires --on ray; for threads on this machine, set self_play.actors"
            )
        yield LocalPlace(device)
        return
    with connected(place):
        yield RayPlace(workers, device, warn)


@dataclass(frozen=True, slots=True)
class RayPlace:
    """The cluster that this process is connected to. The run folder and the learner stay in this process."""

    workers: int = 0
    device: Device | None = None
    warn: Warn = lambda _: None

    def self_play(self, spec: SelfPlaySpec, config: SelfPlayConfig, arrays: Arrays) -> FleetSelfPlay:
        """Return a fleet for self-play in which each worker plays as many games at once as a local thread."""
        from tengen.cluster.ray_site import RaySite

        # A worker sees a GPU only if it has requested one.
        device = Device.CPU if spec.device is Device.AUTO else spec.device
        prepare = partial(open_player, replace(spec, device=device))
        site = RaySite(prepare, gpus=config.gpus if device is Device.CUDA else 0.0)
        return FleetSelfPlay(site, site.put, spec, arrays, workers=self.workers, warn=self.warn)

    def trainer(self, learner: Learner, config: Config) -> AbstractContextManager[Trainer]:
        """Return the learner itself, or a trainer that uses several processes on the cluster."""
        if config.learners == 1:
            return nullcontext(learner)
        with needs_extra(f"learners = {config.learners}", "cluster"):
            from tengen.cluster.learners import DataParallelLearner
        return DataParallelLearner(learner, config)

"""The connection to a Ray cluster: `--on ray` starts a cluster on this machine, `--on ray=ADDRESS` joins one."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tengen.core.extras import needs_extra
from tengen.errors import InputError, RunError

OBJECT_STORE_BYTES = 200 << 20
"""Shared memory, in bytes, of a cluster started here. Ray's default is 30 % of memory; games and weights are small."""

_REACH_S = 5.0


@dataclass(frozen=True, slots=True)
class On:
    """Place where games are played, as given by `--on`.

    >>> On.parse("local").is_ray, On.parse("ray=10.0.0.1:6379").address
    (False, '10.0.0.1:6379')
    """

    is_ray: bool = False
    address: str = ""
    """Address of a running cluster; if empty, the cluster in RAY_ADDRESS, or a new one on this machine."""

    @classmethod
    def parse(cls, text: str) -> On:
        """Parse `local` or `ray[=ADDRESS]`."""
        name, equals, address = text.partition("=")
        if name == "local" and not equals:
            return cls()
        if name != "ray" or bool(equals) != bool(address):
            raise InputError(
                f"unknown value {text!r} for --on; use local, ray or ray=ADDRESS, such as ray=10.0.0.1:6379"
            )
        if address.startswith("ray://"):
            raise InputError(
                f"--on {text!r}: Ray Client is not supported; run this command on a node of the cluster, or as a job"
                " (ray job submit), with ray=auto"
            )
        return cls(True, address)


@contextmanager
def connected(on: On) -> Iterator[None]:
    """Connect to the cluster. On exit, disconnect, and stop the cluster if it was started here."""
    with needs_extra("--on ray", "cluster"):
        import ray
    if ray.is_initialized():  # keep the caller's connection
        yield
        return
    address = on.address or os.environ.get("RAY_ADDRESS", "")
    _check_reachable(address)
    try:
        if address:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        else:
            ray.init(
                address="local",
                object_store_memory=OBJECT_STORE_BYTES,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
    except (ConnectionError, ValueError, RuntimeError, OSError) as error:
        place = address or "this machine"
        raise RunError(f"cannot connect to Ray on {place}: {str(error).strip().partition(chr(10))[0]}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise `RunError` if nothing listens at HOST:PORT; Ray itself would retry for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_S).close()
    except (OSError, OverflowError) as error:
        raise RunError(
            f"cannot connect to Ray at {address} ({error}): start the head node with `ray start --head` and use"
            " the address it prints"
        ) from None

"""What workers of the tests do, as a module that they can import."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tengen.core.worker_pool import LostOrder
from tengen.core.worker_process import CarryOut, OrderContext
from tengen.errors import InputError

CRASH, HANG, REFUSE = -1, -2, -3


@contextmanager
def prepare() -> Iterator[CarryOut]:
    yield carry_out


def carry_out(order: int, context: OrderContext) -> int:
    if order == CRASH:
        os._exit(3)
    if order == HANG:
        context.expect_within(0.5, note=7)
        time.sleep(1000)
    if order == REFUSE:
        raise InputError("order -3 is refused")
    time.sleep(0.05)
    return order * order


def on_loss(order: int, loss: LostOrder) -> str:
    return f"{'hung' if loss.is_hung else 'crashed'} {loss.note}"

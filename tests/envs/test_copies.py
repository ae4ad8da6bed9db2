from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tengen.envs import GomokuVectorEnv
from tengen.envs.copies import ArrayCopies


def test_memory_of_unused_copies_is_used_again() -> None:
    copies = ArrayCopies()
    source = np.arange(6)
    address = copies.make(source).ctypes.data
    assert copies.make(source).ctypes.data == address


@pytest.mark.parametrize(
    "derive",
    [
        lambda array: array,
        lambda array: array[2:],
        lambda array: array.reshape(2, 3)[1],
        lambda array: array.view(np.uint8)[::2],
        memoryview,
        np.from_dlpack,
    ],
)
def test_memory_in_use_is_never_used_again(derive: object) -> None:
    assert callable(derive)
    copies = ArrayCopies()
    held = [derive(copies.make(np.full(6, value))) for value in range(20)]
    for value, seen in enumerate(held):
        assert np.array_equal(seen, derive(np.full(6, value)))


def test_changed_attributes_of_a_copy_do_not_affect_later_copies() -> None:
    copies = ArrayCopies()
    source = np.arange(6)
    copy = copies.make(source)
    copy.flags.writeable = False
    copy.shape = (2, 3)
    del copy
    assert np.array_equal(copies.make(source), source)
    assert copies.make(source).flags.writeable


def test_threads_never_get_the_same_memory() -> None:
    copies = ArrayCopies()

    def overwritten(number: int) -> int:
        source = np.full(64, number)
        return sum(not np.array_equal(copies.make(source), source) for _ in range(2_000))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(overwritten, range(4))) == 0
    finally:
        sys.setswitchinterval(interval)


def test_copies_equal_the_source_and_are_in_c_order() -> None:
    copies = ArrayCopies()
    for value in range(5):
        source = np.moveaxis(np.full((2, 3, 4), value), 1, -1)
        copy = copies.make(source)
        assert copy.flags.c_contiguous
        assert np.array_equal(copy, source)


def test_stored_observations_do_not_change() -> None:
    env = GomokuVectorEnv(3, "9x9")
    env.reset(seed=1)
    observations, expected = [], []
    for _ in range(12):
        seen, _, _, _, infos = env.step(env.sample_actions())
        observations.append((seen[0], infos["action_mask"][1:]))
        expected.append((seen[0].copy(), infos["action_mask"][1:].copy()))
    for got, wanted in zip(observations, expected, strict=True):
        assert all(np.array_equal(one, other) for one, other in zip(got, wanted, strict=True))

"""The stop signal: callbacks run exactly once, whenever the signal is set, and never after their block."""

from __future__ import annotations

import threading

from tengen.core.stop_signal import StopSignal


def test_a_signal_stays_set() -> None:
    stop = StopSignal()
    assert not stop.is_set()
    assert not stop.native.is_set()
    stop.set()
    stop.set()
    assert stop.is_set()
    assert stop.native.is_set()


def test_callbacks_run_once_within_their_block() -> None:
    stop = StopSignal()
    heard: list[str] = []
    with stop.calling(lambda: heard.append("left before")):
        pass
    with stop.calling(lambda: heard.append("outer")), stop.calling(lambda: heard.append("inner")):
        stop.set()
        stop.set()
    stop.set()
    assert sorted(heard) == ["inner", "outer"]


def test_a_callback_of_a_signal_that_is_set_runs_immediately() -> None:
    stop = StopSignal()
    stop.set()
    heard: list[int] = []
    with stop.calling(lambda: heard.append(1)):
        assert heard == [1]
    assert heard == [1]


def test_a_callback_may_set_its_own_signal() -> None:
    stop = StopSignal()
    with stop.calling(stop.set):
        stop.set()
    assert stop.is_set()


def test_leaving_the_block_waits_for_a_running_callback() -> None:
    stop = StopSignal()
    is_running, may_end = threading.Event(), threading.Event()
    ended: list[str] = []

    def callback() -> None:
        is_running.set()
        may_end.wait(60)
        ended.append("callback")

    setter = threading.Thread(target=stop.set, daemon=True)
    with stop.calling(callback):
        setter.start()
        assert is_running.wait(60)
        threading.Timer(0.05, may_end.set).start()
    ended.append("block")
    setter.join(60)
    assert ended == ["callback", "block"]


def test_one_signal_stops_a_chain_of_others() -> None:
    first, second = StopSignal(), StopSignal()
    with first.calling(second.set):
        first.set()
        assert second.is_set()

"""Analysis in Yixin-Board's format: conversion of snapshots to `INFO PV` blocks and back.

Evaluations use the scale of Yixin-Board and related programs, in which 200 points are one unit of log-odds of winning.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tengen.core.contracts import Analysis, AnalysisLine, Decision
from tengen.core.geometry import Point
from tengen.protocols.piskvork.notation import parse_squares, point_of_square, square_of_point, squares_of_points

_EVAL_SCALE = 200.0
_MAX_EVAL = 20_000
_CLAIMED_VALUE = 0.9999
"""Value of a win that is expected but not proved, or that an external engine reports as forced."""


def eval_of_value(value: float) -> int:
    """Convert a value in [-1, 1] to an evaluation in points.

    >>> eval_of_value(0.0), eval_of_value(0.5), eval_of_value(-1.0)
    (0, 220, -20000)
    """
    if abs(value) >= 1.0:
        return int(math.copysign(_MAX_EVAL, value))
    points = _EVAL_SCALE * math.log((1.0 + value) / (1.0 - value))
    return round(max(-_MAX_EVAL, min(_MAX_EVAL, points)))


def value_of_eval(points: float) -> float:
    """Convert an evaluation in points to a value in [-1, 1]."""
    return math.tanh(points / (2.0 * _EVAL_SCALE))


def describe_decision(decision: Decision, height: int, elapsed_ms: float) -> str:
    """Describe a move in one line (without the word MESSAGE); empty if the player reports nothing but the move."""
    parts: list[str] = []
    if decision.depth:
        parts.append(f"depth {decision.depth}")
    if decision.proof is not None:
        parts.append(f"eval {decision.proof}")
    elif decision.value_to_move is not None:
        parts.append(f"eval {eval_of_value(decision.value_to_move)}")
    if decision.nodes:
        parts.append(f"nodes {decision.nodes}")
    if not parts:
        return ""
    parts.append(f"time {round(elapsed_ms)} ms")
    if decision.line:
        parts.append(f"line {squares_of_points(decision.line, height)}")
    return " ".join(parts)


def describe_line(index: int, line: AnalysisLine, analysis: Analysis, height: int) -> str:
    """Describe one candidate for the user (without the word MESSAGE)."""
    depth = line.depth or analysis.depth
    depths = f"{depth}-{line.selective_depth}" if line.selective_depth else f"{depth}"
    return f"({index + 1}) {_eval_text(line)} | {depths} | {squares_of_points(line.line, height)}"


def describe_defences(analysis: Analysis, height: int) -> str:
    """Name the moves that do not lose, best first (without the word MESSAGE)."""
    squares = [square_of_point(line.move, height) for line in analysis.lines if not _loses(line)]
    return f"DEFEND {' '.join(squares) or 'none'}"


def info_blocks(analysis: Analysis, height: int) -> Iterator[str]:
    """Yield the `INFO` lines of a snapshot, one block per candidate."""
    for index, line in enumerate(analysis.lines):
        depth = line.depth or analysis.depth
        yield f"INFO PV {index}"
        yield f"INFO NUMPV {len(analysis.lines)}"
        if depth:
            yield f"INFO DEPTH {depth}"
        if line.selective_depth:
            yield f"INFO SELDEPTH {line.selective_depth}"
        yield f"INFO NODES {line.visits or analysis.nodes}"
        yield f"INFO TOTALNODES {analysis.nodes}"
        yield f"INFO TOTALTIME {round(analysis.elapsed_ms)}"
        yield f"INFO SPEED {round(analysis.nodes_per_second)}"
        yield f"INFO EVAL {_eval_text(line)}"
        yield f"INFO WINRATE {(1.0 + line.value_to_move) / 2.0:.6f}"
        if line.prior is not None:
            yield f"INFO PRIOR {line.prior:.6f}"
        yield f"INFO BESTLINE {squares_of_points(line.line or (line.move,), height)}"
        yield "INFO PV DONE"


def realtime_marks(analysis: Analysis, height: int) -> Iterator[str]:
    """Yield the `MESSAGE REALTIME` lines of a snapshot: the best move and the moves proved to lose."""
    yield "MESSAGE REALTIME REFRESH"
    for line in analysis.lines:
        if line.proof is not None and line.proof.result == "loss":
            yield f"MESSAGE REALTIME LOST {square_of_point(line.move, height)}"
    if analysis.lines:
        yield f"MESSAGE REALTIME BEST {square_of_point(analysis.lines[0].move, height)}"


class InfoParser:
    """Parses an engine's `INFO PV` blocks and ignores all other output.

    An engine sends one block per candidate, so a snapshot is complete after the last block. An evaluation such as +M5
    is an unverified claim by the engine, so the line gets a value close to 1 and no proof.
    """

    def __init__(self, width: int, height: int) -> None:
        self._width = width
        self._height = height
        self._values: dict[str, str] = {}
        self._lines: dict[int, AnalysisLine] = {}
        self._nodes = 0
        self._elapsed_ms = 0.0

    def feed(self, text: str) -> Analysis | None:
        """Parse one line of output; return a snapshot if the line completes one."""
        words = text.split(None, 2)
        if len(words) < 3 or words[0].upper() != "INFO":
            return None
        key, value = words[1].upper(), words[2].strip()
        if key != "PV":
            self._values[key] = value
            return None
        if value.upper() != "DONE":
            self._values = {"PV": value}
            return None
        return self._finish_block()

    def _finish_block(self) -> Analysis | None:
        values, self._values = self._values, {}
        line = self._line_of(values)
        if line is None:
            return None
        index = _parse_int(values.get("PV"))
        if index == 0:
            self._lines = {}
        self._lines[index] = line
        self._nodes = max(self._nodes, _parse_int(values.get("TOTALNODES")))
        self._elapsed_ms = max(self._elapsed_ms, float(_parse_int(values.get("TOTALTIME"))))
        if index + 1 < _parse_int(values.get("NUMPV"), 1):
            return None
        lines = tuple(self._lines[number] for number in sorted(self._lines))
        return Analysis(lines=lines, depth=lines[0].depth, nodes=self._nodes, elapsed_ms=self._elapsed_ms)

    def _line_of(self, values: dict[str, str]) -> AnalysisLine | None:
        squares = parse_squares(values.get("BESTLINE", ""))
        points: list[Point] = []
        for x, y in squares or ():
            point = point_of_square(x, y, self._width, self._height)
            if point is None:
                break
            points.append(point)
        if not points:
            return None
        claim = _claim_of(values.get("EVAL", ""))
        return AnalysisLine(
            move=points[0],
            value_to_move=_value_of(values, claim),
            line=tuple(points),
            depth=_parse_int(values.get("DEPTH")),
            selective_depth=_parse_int(values.get("SELDEPTH")),
            visits=_parse_int(values.get("NODES")),
            reason=f"the engine reports {claim}" if claim else "",
        )


def _loses(line: AnalysisLine) -> bool:
    """Whether the move is proved or expected to lose."""
    return line.value_to_move <= -_CLAIMED_VALUE or (line.proof is not None and line.proof.result == "loss")


def _eval_text(line: AnalysisLine) -> str:
    if line.proof is not None and line.proof.result != "draw":
        return str(line.proof)
    return str(eval_of_value(line.value_to_move))


def _claim_of(text: str) -> str:
    """Return an evaluation that reports a forced win or loss, such as +M5; empty for other evaluations."""
    sign, plies = text[:2].upper(), text[2:]
    return sign + plies if sign in ("+M", "-M") and plies.isdecimal() and len(plies) < 5 else ""


def _value_of(values: dict[str, str], claim: str) -> float:
    if claim:
        return _CLAIMED_VALUE if claim.startswith("+") else -_CLAIMED_VALUE
    for key, convert in (("WINRATE", lambda rate: 2.0 * rate - 1.0), ("EVAL", value_of_eval)):
        try:
            value = convert(float(values.get(key, "")))
        except ValueError:
            continue
        if math.isfinite(value):
            return max(-1.0, min(1.0, value))
    return 0.0


def _parse_int(text: str | None, default: int = 0) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 19 else default

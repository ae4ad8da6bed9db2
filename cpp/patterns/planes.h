// Writes all input planes of a position at once. play/incremental_planes.h updates them stone by stone instead.
#pragma once

#include "core/plane_layout.h"
#include "patterns/pattern_board.h"

namespace tengen {

// Write [plane_count(layout), area] floats as `viewer` sees the board. Point p is written to where[p]. `patterns` holds
// the same stones; it may be null if the layout does not need shapes.
void write_planes(const Board& board, const PatternBoard* patterns, PlaneLayout layout, Colour viewer,
                  const Point* where, float* planes);

}  // namespace tengen

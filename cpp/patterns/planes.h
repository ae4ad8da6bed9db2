// Input planes of a position, written in one go; play/incremental_planes.h follows a game stone by stone instead.
#pragma once

#include "core/plane_layout.h"
#include "patterns/pattern_board.h"

namespace tengen {

// Write [plane_count(layout), area] floats as `viewer` sees the board, every point p moved to where[p]. `patterns`, of
// the same stones, is looked at only where the layout needs it and may be null otherwise.
void write_planes(const Board& board, const PatternBoard* patterns, PlaneLayout layout, Colour viewer,
                  const Point* where, float* planes);

}  // namespace tengen

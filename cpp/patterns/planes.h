// Writes all input planes of a position at once. play/incremental_planes.h updates them stone by stone instead.
#pragma once

#include <cstdint>

#include "core/plane_layout.h"
#include "patterns/pattern_board.h"

namespace tengen {

// The memory layout of the planes: [C, area] (kFirst) or [area, C] (kLast).
enum class PlaneOrder : std::uint8_t { kFirst, kLast };

// Write the planes from the point of view of `viewer`. Point p is written to where[p]. `patterns` must have the same
// stones as `board`; it may be null if the layout does not need shapes. T is float, std::int8_t or std::uint8_t.
template <typename T>
void write_planes(const Board& board, const PatternBoard* patterns, PlaneLayout layout, Colour viewer,
                  const Point* where, T* planes, PlaneOrder order = PlaneOrder::kFirst);

extern template void write_planes(const Board&, const PatternBoard*, PlaneLayout, Colour, const Point*, float*,
                                  PlaneOrder);
extern template void write_planes(const Board&, const PatternBoard*, PlaneLayout, Colour, const Point*, std::int8_t*,
                                  PlaneOrder);
extern template void write_planes(const Board&, const PatternBoard*, PlaneLayout, Colour, const Point*, std::uint8_t*,
                                  PlaneOrder);

}  // namespace tengen

// Black's fouls in a renju game that is played move by move.
#pragma once

#include <array>
#include <cstdint>

#include "core/board.h"
#include "core/point_set.h"
#include "patterns/shapes.h"

namespace tengen {

// For every empty point, the tracker knows what a black stone would make along each line. A stone changes this only
// within reach. Few points offer an overline, two fours or two threes. Only these points are examined exactly
// (patterns/forbidden.h), because their threes may be false.
class FoulTracker {
 public:
  // Reset to the empty board.
  void clear();

  // Update the state after a stone has been placed on `point`. Call this after every move by either colour.
  void add(const Board& board, Point point);

  // The points where foul_at finds a foul.
  PointSet find(const Board& board) const;

 private:
  const PatternTables* tables_ = &PatternTables::of(Rule::kRenju, 5);
  std::array<std::uint16_t, kMaxArea> lines_{};  // four bits per direction (LineMake); 0 on occupied points
  PointSet doubtful_;
};

}  // namespace tengen

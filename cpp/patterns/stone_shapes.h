// The 100 stone shapes that a critic counts, as defined in "Final report for Gomoku project".
//
// Along each line a stone is part of a shape (blocked?, outer, middle, outer, blocked?). The middle is the unbroken row
// through the stone. On each side, an outer row may follow after exactly one empty point. A side is blocked if an enemy
// stone or the edge comes directly after its last stone. A shape and its mirror image are the same. Stones are counted,
// not rows: three in a row count three times.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/board.h"

namespace tengen {

// By the length of the middle row: 36 shapes for one stone and 36 for two (outer rows of 0–3 on two sides, each blocked
// or not), 21 for three (outer rows of 0–2), 3 each for four and five (only blocked ends matter), 1 for longer rows.
inline constexpr int kStoneShapes = 100;

// Counts of shapes, or changes in these counts, by colour.
using StoneShapeCounts = std::array<std::array<std::int16_t, kStoneShapes>, 2>;

// A board that counts the stones of each colour in each shape. A stone counts once for each of its four lines.
class StoneShapeBoard {
 public:
  explicit StoneShapeBoard(const Board& board);

  const Board& board() const { return board_; }
  int count(Colour colour, int shape) const { return counts_[colour][shape]; }

  void make(Point point);
  void unmake();

  // Call visit(colour, shape, change of the count) for every count that the last move changed.
  template <typename Visit>
  void visit_changes(Visit visit) const {
    for (std::size_t i = first_changes_.back(); i < changes_.size(); ++i)
      visit(static_cast<Colour>(changes_[i].colour), int{changes_[i].shape}, int{changes_[i].amount});
  }

 private:
  struct Change {
    std::uint8_t colour;
    std::uint8_t shape;
    std::int16_t amount;
  };

  Board board_;
  StoneShapeCounts counts_{};
  std::vector<Change> changes_;
  std::vector<std::size_t> first_changes_;  // index in changes_ of each move's first change
};

}  // namespace tengen

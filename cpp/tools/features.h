// Position features for the tuner: shape codes of the empty points, and threats.
#pragma once

#include <cstdint>
#include <vector>

#include "core/board.h"

namespace tengen {

// One sample for each position that the search would evaluate: the game is not over, neither side can make five, and
// the side to move cannot make an open four.
struct PositionFeatures {
  explicit PositionFeatures(bool with_colours) : by_colour(with_colours) {}

  // Whether each colour has its own columns (colour * kShapeCodes + code), as in renju. Otherwise both share the same
  // kShapeCodes columns.
  bool by_colour;

  // The origin of each sample: the game (in the order added), the index of the next move, and its colour.
  std::vector<std::int32_t> games;
  std::vector<std::int16_t> move_indices;
  std::vector<std::uint8_t> colours;

  // Counts of codes on empty points, +1 for the side to move and -1 for its opponent, in compressed sparse rows.
  std::vector<std::int64_t> row_starts{0};
  std::vector<std::int32_t> columns;
  std::vector<std::int16_t> counts;
  std::vector<std::int16_t> threat_bits;

  // Pairs of codes on empty points, own * kShapeCodes + other, and the number of points with each pair minus the number
  // on the empty board, in compressed sparse rows.
  std::vector<std::int64_t> pair_starts{0};
  std::vector<std::int32_t> pairs;
  std::vector<std::int16_t> pair_counts;

  // The candidate moves in each position: the code for the side to move and the opponent's code. `played` is the index
  // of the next move among the candidates of its position, or -1.
  std::vector<std::int64_t> move_starts{0};
  std::vector<std::int16_t> own_codes;
  std::vector<std::int16_t> other_codes;
  std::vector<std::int16_t> played;

  std::int32_t games_added = 0;
};

// Add samples from the game `moves` that starts at `board`, from move number `first` on. Stops at a move that cannot be
// played. The win length must be 4 or 5.
void add_features(const Board& board, const std::vector<int>& moves, int first, PositionFeatures& features);

}  // namespace tengen

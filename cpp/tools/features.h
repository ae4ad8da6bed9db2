// What the tuner sees of a position: the shape codes on its empty points and the threats that exist.
#pragma once

#include <cstdint>
#include <vector>

#include "core/board.h"

namespace tengen {

// One sample for each position of a game in which the evaluation would be asked: the game goes on, the side to move
// has no five or open four to make, and no five stands against it.
struct PositionFeatures {
  // Whether each colour has its own columns (colour * kShapeCodes + code), as for renju, or both share kShapeCodes.
  bool by_colour = false;

  // Where each sample comes from: the game (in the order of adding), the index of the move played next, its colour.
  std::vector<std::int32_t> games;
  std::vector<std::int16_t> move_indices;
  std::vector<std::uint8_t> colours;

  // Codes on empty points, side to move counted +1, opponent -1, in compressed sparse rows.
  std::vector<std::int64_t> row_starts{0};
  std::vector<std::int32_t> columns;
  std::vector<std::int16_t> counts;
  std::vector<std::int16_t> threat_bits;

  // Empty points by both codes, own * kShapeCodes + other, and how many more have them than on the board without
  // stones, in compressed sparse rows.
  std::vector<std::int64_t> pair_starts{0};
  std::vector<std::int32_t> pairs;
  std::vector<std::int16_t> pair_counts;

  // Candidate moves of the same positions: own code and opponent's code; and which of them was played, as an index
  // into the position's candidates, -1 when it was none of them.
  std::vector<std::int64_t> move_starts{0};
  std::vector<std::int16_t> own_codes;
  std::vector<std::int16_t> other_codes;
  std::vector<std::int16_t> played;

  std::int32_t games_added = 0;
};

// Add the samples of the game `moves` played on from `board`, from its `first`-th move. Win length 4 or 5. The game is
// cut short at a move that cannot be played.
void add_features(const Board& board, const std::vector<int>& moves, int first, PositionFeatures& features);

}  // namespace tengen

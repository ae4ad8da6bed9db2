// What the tuner sees of a position: the shape codes on its empty points and the threats that exist.
#pragma once

#include <cstdint>
#include <vector>

#include "core/board.h"

namespace tengen {

// One sample for each position of a game in which the evaluation would be asked: the game goes on, the side to move
// has no five or open four to make, and no five stands against it.
struct PositionFeatures {
  // Codes on empty points, side to move counted +1, opponent -1, in compressed sparse rows.
  std::vector<std::int64_t> row_starts{0};
  std::vector<std::int32_t> codes;
  std::vector<std::int8_t> counts;
  std::vector<std::int16_t> threat_bits;
  std::vector<std::int16_t> plies;

  // Candidate moves of the same positions: own code, opponent's code, whether it was played.
  std::vector<std::int64_t> move_starts{0};
  std::vector<std::int16_t> own_codes;
  std::vector<std::int16_t> other_codes;
  std::vector<std::uint8_t> played;
};

// Add the samples of the game `moves` played on from `board`, from its `first`-th move.
void add_features(const Board& board, const std::vector<int>& moves, int first, PositionFeatures& features);

}  // namespace tengen

// Perft: the number of sequences of legal moves, ply by ply. Finished games are not extended.
#pragma once

#include <cstdint>
#include <vector>

#include "core/board.h"

namespace tengen {

struct PerftPly {
  std::uint64_t nodes = 0;
  std::uint64_t wins = 0;  // sequences whose last move won
};

// Entry i counts the sequences of i + 1 moves from `board`.
std::vector<PerftPly> perft(const Board& board, int depth);

}  // namespace tengen

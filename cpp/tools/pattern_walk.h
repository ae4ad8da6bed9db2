// Random walks over a pattern board: to check its incremental state, and to measure make and unmake.
#pragma once

#include <cstdint>
#include <string>

#include "core/board.h"
#include "eval/weights.h"

namespace tengen {

// Make and unmake random moves, `steps` in all, and compare the state, random features included, with the stones after
// each. Empty text when they always agree, else what does not, with the step. Win length 4 or 5, as for all pattern
// boards.
std::string check_pattern_walk(const Board& board, std::uint64_t seed, int steps);

// Make and unmake `pairs` moves as a search does: at each position of random games from `board`, every candidate in
// turn, with the values and features of `weights`. The board must have a candidate left. Returns a number that depends
// on every state reached, so that no work can be left out.
std::uint64_t run_make_unmake(const Board& board, const Weights& weights, std::uint64_t seed, std::uint64_t pairs);

}  // namespace tengen

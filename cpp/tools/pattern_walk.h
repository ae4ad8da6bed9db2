// Random walks on a pattern board, to check its incremental state and to measure the speed of make and unmake.
#pragma once

#include <cstdint>
#include <string>

#include "core/board.h"
#include "eval/weights.h"

namespace tengen {

// Make and unmake random moves, `steps` in total, and compare the incremental state with the stones after each step.
// Returns an empty string, or the step and a description of the error. The win length must be 4 or 5.
std::string check_pattern_walk(const Board& board, std::uint64_t seed, int steps);

// Make and unmake `pairs` moves as a search does: every candidate in each position of random games that start at
// `board`, with the values and features of `weights`. The board must have a candidate. Returns a signature that depends
// on every state, so that the compiler cannot optimise any work away.
std::uint64_t run_make_unmake(const Board& board, const Weights& weights, std::uint64_t seed, std::uint64_t pairs);

}  // namespace tengen

// Random walks on a pattern board, to check its incremental state and to measure the speed of make and unmake.
#pragma once

#include <cstdint>
#include <string>

#include "core/board.h"
#include "eval/weights.h"

namespace tengen {

// Make and unmake random moves, `steps` in total, and compare the incremental state with the stones after each of them.
// Returns an empty text, or the step and a description of the fault. Win length 4 or 5, as for all pattern boards.
std::string check_pattern_walk(const Board& board, std::uint64_t seed, int steps);

// Make and unmake `pairs` moves as a search does: every candidate at each position of random games from `board`, with
// the values and features of `weights`. The board must have a candidate. Returns a number that depends on every state,
// so that the compiler cannot skip any work.
std::uint64_t run_make_unmake(const Board& board, const Weights& weights, std::uint64_t seed, std::uint64_t pairs);

}  // namespace tengen

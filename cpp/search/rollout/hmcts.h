// HMCTS, algorithm 1 of "Final report for Gomoku project": the same number of playouts for every move near a stone, and
// the move with the best mean result is played. No tree.
#pragma once

#include <cstdint>

#include "core/board.h"
#include "search/rollout/playout.h"
#include "search/rollout/search.h"

namespace tengen {

struct HmctsOptions {
  PlayoutPolicy policy = PlayoutPolicy::kHeuristic;
  int radius = 1;                          // moves lie at most so far from a stone; 0 for no bound
  std::uint64_t playouts_a_candidate = 0;  // 0 for no limit
};

class Hmcts {
 public:
  explicit Hmcts(const HmctsOptions& options) : options_(options) {}

  // Search a game that is not over. The candidates get their playouts in turns, so that they have the same number, give
  // or take one, whenever the search ends. Each playout has a seed of its own: without a time limit the report is the
  // same for any number of threads. A move that wins at once ends the search. `stop` ends it after the running
  // playouts.
  RolloutReport search(const Board& board, const RolloutLimits& limits, std::uint64_t seed,
                       const OnRolloutReport& on_report = {}, const StopSignal* stop = nullptr);

 private:
  HmctsOptions options_;
};

}  // namespace tengen

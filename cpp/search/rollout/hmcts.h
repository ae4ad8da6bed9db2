// HMCTS, algorithm 1 of "Final report for Gomoku project": every move near a stone gets the same number of playouts,
// and the move with the best mean result is played. There is no tree.
#pragma once

#include <cstdint>

#include "core/board.h"
#include "search/rollout/playout.h"
#include "search/rollout/search.h"

namespace tengen {

struct HmctsOptions {
  PlayoutPolicy policy = PlayoutPolicy::kHeuristic;
  int radius = 1;                          // largest distance of a move from a stone; 0 for no limit
  std::uint64_t playouts_a_candidate = 0;  // 0 for no limit
};

class Hmcts {
 public:
  explicit Hmcts(const HmctsOptions& options) : options_(options) {}

  // Search a position of a game that is not over. The candidates take turns, so that their numbers of playouts differ
  // by at most one when the search ends. Each playout has its own seed: without a time limit, the report does not
  // depend on the number of threads. If a move wins immediately, there is no search. `stop` ends the search after the
  // running playouts.
  RolloutReport search(const Board& board, const RolloutLimits& limits, std::uint64_t seed,
                       const OnRolloutReport& on_report = {}, const StopSignal* stop = nullptr);

 private:
  HmctsOptions options_;
};

}  // namespace tengen

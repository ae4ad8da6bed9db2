// The PUCT formula: move selection in the network-guided search.
#pragma once

#include <cmath>

#include "search/puct/options.h"

namespace tengen {

// Exploration factor c of the PUCT formula at a node with `visits` visits. It equals c_puct if c_puct_growth is 0;
// otherwise it grows with the logarithm of the visits (Silver et al. 2018, "A general reinforcement learning algorithm
// that masters chess, shogi, and Go through self-play", supplementary materials).
inline double puct_factor(const PuctOptions& options, double visits) {
  return options.c_puct + options.c_puct_growth * std::log((1.0 + visits + options.c_puct_base) / options.c_puct_base);
}

// The PUCT formula (Rosin 2011, "Multi-armed bandits with episode context", in the form of Silver et al. 2017,
// "Mastering the game of Go without human knowledge"):
//
//   score(a) = Q(a) + c * P(a) * sqrt(N) / (1 + N(a))
//
// Q(a) is the value of move a, P(a) its prior, N(a) its visit count and N the total visit count of all moves at the
// node. The search selects the move with the highest score. `width` is c * sqrt(N), the same for all moves at a node.
inline double puct_score(double value, double prior, double visits, double width) {
  return value + width * prior / (1.0 + visits);
}

}  // namespace tengen

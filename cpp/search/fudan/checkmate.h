// Checkmate search (section 2.3 of the report): wins by a sequence of threats that the enemy has to answer.
#pragma once

#include <cstdint>

#include "search/fudan/budget.h"
#include "search/fudan/point_scores.h"
#include "search/fudan/variation.h"

namespace tengen::fudan {

struct Checkmate {
  int plies = 0;   // to the five at the latest, 0 when no win was found
  Variation line;  // a line of play that begins with the winning move; empty when no win was found
};

// Look for a win of `attacker`, who is to move, in at most `max_plies` plies by fours and open threes. Every defence is
// tried, counter-fours included, so a win that is found is proved. Looks at up to `max_nodes` positions, shortest wins
// first. `scores` is left as it was.
Checkmate find_checkmate(PointScores& scores, Colour attacker, int max_plies, std::uint64_t max_nodes, Budget& budget);

// The search of the authors' program: threats are worth at least two open threes, only the six best neighbours are
// threats or defences, and positions after `max_depth` moves are given up. What it finds is no proof. Returns the
// winning move or kNoPoint.
Point find_authors_checkmate(PointScores& scores, Colour attacker, int max_depth, std::uint64_t max_nodes,
                             Budget& budget);

}  // namespace tengen::fudan

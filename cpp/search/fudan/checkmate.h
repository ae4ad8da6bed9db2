// Checkmate search (section 2.3 of the report): wins by a sequence of threats that the enemy has to answer.
#pragma once

#include <cstdint>

#include "search/fudan/budget.h"
#include "search/fudan/point_scores.h"
#include "search/fudan/variation.h"

namespace tengen::fudan {

struct Checkmate {
  int plies = 0;   // upper bound on the plies to the five; 0 if no win was found
  Variation line;  // begins with the winning move; empty if no win was found
};

// Search for a win by fours and open threes in at most `max_plies` plies, with `attacker` to move. The search tries
// every defence, including counter-fours, so the wins it finds are proved. It visits at most `max_nodes` positions,
// searches for short wins first and restores `scores`.
Checkmate find_checkmate(PointScores& scores, Colour attacker, int max_plies, std::uint64_t max_nodes, Budget& budget);

// The search in the authors' program: a threat scores at least as much as two open threes, only the six best neighbours
// are tried as threats or defences, and the search stops after `max_depth` moves. Its wins are not proved. Returns the
// winning move or kNoPoint.
Point find_authors_checkmate(PointScores& scores, Colour attacker, int max_depth, std::uint64_t max_nodes,
                             Budget& budget);

}  // namespace tengen::fudan

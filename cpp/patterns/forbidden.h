// Renju fouls according to their definition, with full recursion (docs/reference/rules.md; RIF rules, section 9).
#pragma once

#include "core/board.h"

namespace tengen {

// The foul that black would commit on the empty `point`, or Foul::kNone. A five is never a foul. Only the stones
// matter, not the side to move or the rule.
Foul foul_at(const Board& board, Point point);

// Write the result of foul_at for every empty point into fouls[area], and Foul::kNone for all other points. Faster than
// calling foul_at for each point.
void find_fouls(const Board& board, Foul* fouls);

}  // namespace tengen

// Renju fouls by their definition, with full recursion (docs/rules.md; RIF rules, section 9).
#pragma once

#include "core/board.h"

namespace tengen {

// The foul black would commit on the empty `point`, or Foul::kNone. A five is never a foul. Looks only at the stones,
// not at whose turn it is or which rule is played. Boards up to 22x22.
Foul foul_at(const Board& board, Point point);

// foul_at for every empty point, Foul::kNone for the others, into fouls[area]; quicker than asking one by one.
void find_fouls(const Board& board, Foul* fouls);

}  // namespace tengen

// The tree player of pg9: it follows each of its best points along the best replies. docs/how/players.md defines it.
#pragma once

#include "core/board.h"

namespace tengen {

// Return the move of the tree player, or kNoPoint if no legal point is near the stones. The first stone goes to the
// centre. Uses no random numbers and does not allocate memory. The game must not be over.
Point choose_by_lines(const Board& board);

}  // namespace tengen

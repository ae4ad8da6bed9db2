// Which points answer a threat: the exact set, by asking of each point whether the threat still stands with it taken.
#pragma once

#include "patterns/pattern_board.h"

namespace tengen {

// `attacker` makes five next move. The points that, taken by the other side, leave no five; empty when there are too
// many to stop. In caro a stone at the end of a line closes it, so there can be more answers than the point of the
// five.
PointSet five_defences(const PatternBoard& board, Colour attacker);

// `attacker` threatens to make an open four (or two fours) next move. The points that, taken by the other side, leave
// no such threat. Empty when nothing but a counter-four helps. The attacker must have no five to make.
PointSet open_four_defences(const PatternBoard& board, Colour attacker);

// Points that weaken what `attacker` makes on `point` to less than `below`: the point itself, and those on its lines.
PointSet defences_at(const PatternBoard& board, Colour attacker, Point point, Threat below);

}  // namespace tengen

// The points that answer a threat. The sets are exact: each point is tested by placing a defending stone there.
#pragma once

#include "patterns/pattern_board.h"

namespace tengen {

// Requires that `attacker` threatens five. Returns the points where the other side stops every five; empty if one stone
// cannot stop them all. In caro a stone at the end of a line closes it, so the completing point is not always the only
// answer.
PointSet five_defences(const PatternBoard& board, Colour attacker);

// Requires that `attacker` threatens an open four (or two fours), but no five. Returns the points where the other side
// stops all of these threats; empty if only a counter-four helps.
PointSet open_four_defences(const PatternBoard& board, Colour attacker);

// The points where a stone of the other side weakens the threat by `attacker` on `point` to less than `below`: the
// point itself, and empty points on its lines.
PointSet defences_at(const PatternBoard& board, Colour attacker, Point point, Threat below);

}  // namespace tengen

// The points that answer a threat. The sets are exact: each point is tested for whether the threat survives if the
// defender takes it.
#pragma once

#include "patterns/pattern_board.h"

namespace tengen {

// `attacker` makes five next move. Returns the points where the other side stops every five; empty if there are too
// many to stop. In caro a stone at the end of a line closes it, so the completing point is not always the only answer.
PointSet five_defences(const PatternBoard& board, Colour attacker);

// `attacker` makes an open four (or two fours) next move, and has no five to make. Returns the points where the other
// side stops every such threat; empty if only a counter-four helps.
PointSet open_four_defences(const PatternBoard& board, Colour attacker);

// The points where a stone of the other side weakens the threat of `attacker` on `point` to less than `below`: the
// point itself, and empty points on its lines.
PointSet defences_at(const PatternBoard& board, Colour attacker, Point point, Threat below);

}  // namespace tengen

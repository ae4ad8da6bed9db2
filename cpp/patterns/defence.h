// Which points answer a threat: the exact set, by asking of each point whether the threat still stands with it taken.
#pragma once

#include "patterns/pattern_board.h"

namespace tengen {

// `attacker` threatens to make an open four (or two fours) next move. The points that, taken by the other side, leave
// no such threat. Empty when nothing but a counter-four helps. The attacker must have no five to make.
PointSet open_four_defences(const PatternBoard& board, Colour attacker);

// Points that take the four-three on `point` away from `attacker`: the point itself, and those on its lines.
PointSet defences_at(const PatternBoard& board, Colour attacker, Point point, Threat below);

}  // namespace tengen

// What may be played: occupied points, finished games and renju fouls in one place.
#pragma once

#include "core/board.h"
#include "core/point_set.h"
#include "core/rng.h"
#include "patterns/forbidden.h"

namespace tengen {

// Whether the side to move has fouls to fear: black in renju.
inline bool has_fouls(const Board& board) { return board.rules().rule == Rule::kRenju && board.to_move() == kBlack; }

// Whether the side to move may play the empty `point`.
inline bool is_legal(const Board& board, Point point) {
  return board.is_empty(point) && !(has_fouls(board) && foul_at(board, point) != Foul::kNone);
}

// The legal points of the side to move; none when the game is over.
PointSet legal_points(const Board& board);

// A random one of the empty `points` that is legal; kNoPoint when none is.
Point draw_legal(const Board& board, PointSet points, Rng& rng);

// The board's result; also a win for white when black is to move and every empty point is a foul.
Outcome game_outcome(const Board& board);

}  // namespace tengen

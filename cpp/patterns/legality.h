// Legality of moves, covering occupied points, finished games and renju fouls.
#pragma once

#include <vector>

#include "core/board.h"
#include "core/point_set.h"
#include "core/rng.h"
#include "patterns/forbidden.h"

namespace tengen {

// Whether the side to move can commit fouls: black in renju.
inline bool has_fouls(const Board& board) { return board.rules().rule == Rule::kRenju && board.to_move() == kBlack; }

// Whether the side to move may play `point`. The game must not be over.
inline bool is_legal(const Board& board, Point point) {
  return board.is_empty(point) && (!has_fouls(board) || foul_at(board, point) == Foul::kNone);
}

// The legal points of the side to move; none if the game is over.
PointSet legal_points(const Board& board);

// The fouls that the side to move could commit, in index order; none if the game is over.
struct PointFoul {
  Point point;
  Foul foul;
};
std::vector<PointFoul> list_fouls(const Board& board);

// Return a random legal point among the empty `points`, or kNoPoint if none is legal.
Point draw_legal(const Board& board, PointSet points, Rng& rng);

// The result of the game so far. In renju, white also wins if black is to move and every empty point is a foul.
Outcome game_outcome(const Board& board);

}  // namespace tengen

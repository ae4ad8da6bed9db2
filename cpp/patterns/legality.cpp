#include "patterns/legality.h"

namespace tengen {

Outcome game_outcome(const Board& board) {
  if (board.is_over() || !has_fouls(board)) return board.outcome();
  for (Point p = 0; p < board.rules().area(); ++p)
    if (is_legal(board, p)) return Outcome::kOngoing;
  return Outcome::kWhiteWins;
}

}  // namespace tengen

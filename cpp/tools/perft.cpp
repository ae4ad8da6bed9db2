#include "tools/perft.h"

#include "patterns/legality.h"

namespace tengen {
namespace {

void count(Board& board, int depth, std::size_t ply, std::vector<PerftPly>& plies) {
  const bool last = ply + 1 == static_cast<std::size_t>(depth);
  const Colour mover = board.to_move();
  const bool fouls = has_fouls(board);
  for (Point p = 0; p < board.rules().area(); ++p) {
    if (!board.is_empty(p) || (fouls && foul_at(board, p) != Foul::kNone)) continue;
    ++plies[ply].nodes;
    if (board.would_win(p, mover)) {
      ++plies[ply].wins;
      continue;
    }
    if (board.empties() == 1) continue;
    // In renju, white also wins if every remaining move for black is a foul.
    const bool may_stifle = board.rules().rule == Rule::kRenju && mover == kWhite;
    if (last && !may_stifle) continue;
    board.make(p);
    if (may_stifle && game_outcome(board) != Outcome::kOngoing)
      ++plies[ply].wins;
    else if (!last)
      count(board, depth, ply + 1, plies);
    board.unmake();
  }
}

}  // namespace

std::vector<PerftPly> perft(const Board& board, int depth) {
  std::vector<PerftPly> plies(static_cast<std::size_t>(depth));
  Board scratch = board;
  if (depth > 0 && !scratch.is_over()) count(scratch, depth, 0, plies);
  return plies;
}

}  // namespace tengen

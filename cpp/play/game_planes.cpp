#include "play/game_planes.h"

#include <stdexcept>
#include <string>

#include "core/symmetry.h"
#include "patterns/planes.h"
#include "search/puct/leaf.h"

namespace tengen {
namespace {

// Make the moves of a game, up to the first one that cannot be played. Returns the number of moves made.
int make_moves(PuctBoard& board, std::span<const Point> moves) {
  int made = 0;
  for (const Point move : moves) {
    const Board& stones = board.board();
    if (move >= stones.rules().area() || !stones.is_empty(move) || stones.is_over()) break;
    board.make(move);
    ++made;
  }
  return made;
}

}  // namespace

void write_game_planes(const Board& start, PlaneLayout layout, std::span<const Point> moves,
                       std::span<const std::int32_t> counts, float* planes) {
  const std::size_t length = counts.empty() ? 0 : moves.size() / counts.size();
  for (std::size_t row = 0; row < counts.size(); ++row)
    if (counts[row] < 0 || static_cast<std::size_t>(counts[row]) > length)
      throw std::invalid_argument("row " + std::to_string(row) + " has fewer moves than its count " +
                                  std::to_string(counts[row]));
  // All rows share one board, on which each game's moves are made and unmade. This is cheaper than computing all shapes
  // for every row.
  PuctBoard board(start, needs_patterns(layout));
  const Symmetries symmetries(start.rules().width, start.rules().height);
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(plane_count(layout)) * start.rules().area();
  for (std::size_t row = 0; row < counts.size(); ++row, planes += size) {
    const int made = make_moves(board, moves.subspan(row * length, static_cast<std::size_t>(counts[row])));
    if (made < counts[row])
      throw std::invalid_argument("move " + std::to_string(made + 1) + " of row " + std::to_string(row) +
                                  " cannot be played");
    write_planes(board.board(), board.patterns(), layout, board.board().to_move(), symmetries.table(0), planes);
    board.unmake(made);
  }
}

}  // namespace tengen

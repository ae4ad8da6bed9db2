#include "patterns/legality.h"

#include <array>

namespace tengen {

PointSet legal_points(const Board& board) {
  PointSet points;
  if (board.is_over()) return points;
  std::array<Foul, kMaxArea> fouls{};
  if (has_fouls(board)) find_fouls(board, fouls.data());
  for (Point p = 0; p < board.rules().area(); ++p)
    if (board.is_empty(p) && fouls[p] == Foul::kNone) points.add(p);
  return points;
}

std::vector<PointFoul> list_fouls(const Board& board) {
  std::vector<PointFoul> found;
  if (board.is_over() || !has_fouls(board)) return found;
  std::array<Foul, kMaxArea> fouls{};
  find_fouls(board, fouls.data());
  for (Point p = 0; p < board.rules().area(); ++p)
    if (fouls[p] != Foul::kNone) found.push_back({p, fouls[p]});
  return found;
}

Point draw_legal(const Board& board, PointSet points, Rng& rng) {
  const bool fouls = has_fouls(board);
  for (int size = points.size(); size > 0; --size) {
    const Point point = points.at(static_cast<int>(rng.below(static_cast<std::uint32_t>(size))));
    if (!fouls || foul_at(board, point) == Foul::kNone) return point;
    points.remove(point);
  }
  return kNoPoint;
}

Outcome game_outcome(const Board& board) {
  if (board.is_over() || !has_fouls(board)) return board.outcome();
  for (Point p = 0; p < board.rules().area(); ++p)
    if (is_legal(board, p)) return Outcome::kOngoing;
  return Outcome::kWhiteWins;
}

}  // namespace tengen

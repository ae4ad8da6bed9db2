#include "search/rollout/search.h"

#include <algorithm>

#include "patterns/legality.h"

namespace tengen {

PointSet points_near_stones(const Board& board, int radius) {
  const Geometry& geometry = board.geometry();
  const int width = geometry.width();
  const int height = geometry.height();
  PointSet points;
  if (radius > 0 && board.stones() == 0) {
    points.add(geometry.point(width / 2, height / 2));
    return points;
  }
  // One word per row: its stones, widened by `radius` columns on both sides.
  std::array<std::uint32_t, kMaxSize> rows{};
  for (int y = 0; y < height; ++y) {
    std::uint32_t stones = 0;
    for (int x = 0; x < width; ++x)
      if (radius <= 0 || !board.is_empty(geometry.point(x, y))) stones |= 1u << x;
    for (int i = 0; i < radius; ++i) stones |= (stones << 1) | (stones >> 1);
    rows[y] = stones;
  }
  for (int y = 0; y < height; ++y) {
    std::uint32_t near = 0;
    for (int other = std::max(0, y - radius); other <= std::min(height - 1, y + radius); ++other) near |= rows[other];
    for (int x = 0; x < width; ++x)
      if (((near >> x) & 1) && board.is_empty(geometry.point(x, y))) points.add(geometry.point(x, y));
  }
  return points;
}

PointSet completing_points(const Board& board, Colour colour) {
  PointSet points;
  for (Point p = 0; p < board.rules().area(); ++p)
    if (board.is_empty(p) && board.would_win(p, colour)) points.add(p);
  return points;
}

PointSet candidate_points(const Board& board, int radius) {
  const PointSet legal = legal_points(board);
  const PointSet near = legal & points_near_stones(board, radius);
  return near.empty() ? legal : near;
}

PointSet without(const PointSet& points, const std::vector<Point>& excluded) {
  PointSet left = points;
  for (const Point p : excluded) left.remove(p);
  return left.empty() ? points : left;
}

}  // namespace tengen

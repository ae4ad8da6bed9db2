#include "patterns/defence.h"

namespace tengen {

PointSet defences_at(const PatternBoard& board, Colour attacker, Point point, Threat below) {
  PointSet set;
  set.add(point);
  const Geometry& geometry = board.geometry();
  const int reach = board.reach();
  for (int d = 0; d < kDirections; ++d) {
    if (board.shape(attacker, d, point) < shape::kOpenThree) continue;
    const LinePlace place = geometry.place(d, point);
    const std::uint64_t line = board.board().line(d, place.line);
    for (int i = -reach; i <= reach; ++i) {
      if (i == 0 || cell_in_line(line, place.offset + i) != kEmpty) continue;
      const auto block = static_cast<Point>(point + i * geometry.step(d));
      const LineShape rest = board.shape_if_blocked(attacker, d, point, block);
      if (board.threat_with(attacker, point, d, rest) < below) set.add(block);
    }
  }
  return set;
}

namespace {

// The points where a single stone answers `threat` on all of `points`.
PointSet common_defences(const PatternBoard& board, Colour attacker, const PointSet& points, Threat threat) {
  PointSet common;
  bool first = true;
  points.for_each([&](Point p) {
    if (board.threat(attacker, p) != threat) return;
    const PointSet set = defences_at(board, attacker, p, threat);
    common = first ? set : common & set;
    first = false;
  });
  return common;
}

}  // namespace

PointSet five_defences(const PatternBoard& board, Colour attacker) {
  const PointSet& fives = board.fives(attacker);
  if (lines_can_be_closed(board.rules())) return common_defences(board, attacker, fives, threat::kFive);
  return board.count(attacker, threat::kFive) == 1 ? fives : PointSet{};
}

PointSet open_four_defences(const PatternBoard& board, Colour attacker) {
  return common_defences(board, attacker, board.fours(attacker), threat::kOpenFour);
}

}  // namespace tengen

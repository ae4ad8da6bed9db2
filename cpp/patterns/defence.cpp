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

PointSet open_four_defences(const PatternBoard& board, Colour attacker) {
  PointSet common;
  bool first = true;
  board.fours(attacker).for_each([&](Point p) {
    if (board.threat(attacker, p) != threat::kOpenFour) return;
    const PointSet set = defences_at(board, attacker, p, threat::kOpenFour);
    common = first ? set : common & set;
    first = false;
  });
  return common;
}

}  // namespace tengen

#include "patterns/foul_tracker.h"

#include <algorithm>
#include <bit>

#include "patterns/forbidden.h"

namespace tengen {
namespace {

// Flags for the foul-related shapes that a black stone makes along one line.
enum LineMake : std::uint16_t { kNothing = 0, kThree = 1, kFour = 2, kFoulLine = 4, kFive = 8 };

constexpr std::array<std::uint16_t, 16> kMakes = [] {
  std::array<std::uint16_t, 16> makes{};
  makes[shape::kOpenThree] = makes[shape::kOpenThreeBest] = kThree;
  makes[shape::kFour] = makes[shape::kOpenFour] = kFour;
  makes[shape::kFoulLine] = kFoulLine;
  makes[shape::kFive] = kFive;
  return makes;
}();

constexpr std::uint16_t in_any_direction(LineMake make) { return static_cast<std::uint16_t>(0x1111 * make); }

// Whether a point would be a foul if none of its threes were false.
bool is_doubtful(std::uint16_t lines) {
  if (lines & in_any_direction(kFive)) return false;
  return lines & in_any_direction(kFoulLine) ||
         std::popcount(static_cast<unsigned>(lines & in_any_direction(kFour))) >= 2 ||
         std::popcount(static_cast<unsigned>(lines & in_any_direction(kThree))) >= 2;
}

}  // namespace

void FoulTracker::clear() {
  lines_.fill(0);
  doubtful_ = {};
}

void FoulTracker::add(const Board& board, Point point) {
  const PatternTables& tables = *tables_;
  const Geometry& geometry = board.geometry();
  lines_[point] = 0;
  doubtful_.remove(point);
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = geometry.place(d, point);
    const std::uint64_t line = board.line(d, place.line);
    // With fewer than two black stones on the line, no point makes anything on it, now or before.
    if (std::popcount(line & ~(line >> 1) & 0x5555555555555555ull) < 2) continue;
    const int reach = tables.reach();
    const std::uint64_t reached = ((1ull << (4 * reach + 2)) - 1) << (2 * (place.offset - reach));
    std::uint64_t empties = ~(line | line >> 1) & 0x5555555555555555ull & reached;
    for (; empties; empties &= empties - 1) {
      const int offset = std::countr_zero(empties) / 2;
      const auto p = static_cast<Point>(point + (offset - place.offset) * geometry.step(d));
      const std::uint16_t before = lines_[p];
      const auto others = static_cast<std::uint16_t>(before & ~(15u << (4 * d)));
      const auto after = static_cast<std::uint16_t>(others | kMakes[tables.shapes_at(line, offset) & 15] << (4 * d));
      if (after == before) continue;
      lines_[p] = after;
      if (is_doubtful(after)) {
        doubtful_.add(p);
      } else {
        doubtful_.remove(p);
      }
    }
  }
}

PointSet FoulTracker::find(const Board& board) const {
  PointSet fouls;
  doubtful_.for_each([&](Point p) {
    if (foul_at(board, p) != Foul::kNone) fouls.add(p);
  });
  return fouls;
}

}  // namespace tengen

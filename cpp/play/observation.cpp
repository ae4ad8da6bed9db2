#include "play/observation.h"

#include <array>

#include "patterns/legality.h"
#include "search/puct/leaf.h"

namespace tengen {
namespace {

constexpr auto kIdentity = [] {
  std::array<Point, kMaxArea> points{};
  for (Point p = 0; p < kMaxArea; ++p) points[p] = p;
  return points;
}();

}  // namespace

template <typename Plane>
void write_observation(const Board& board, PlaneLayout layout, Colour viewer, PlaneOrder order, Plane* planes) {
  if (needs_patterns(layout)) {
    const PuctBoard with_patterns(board, true);
    write_planes(board, with_patterns.patterns(), layout, viewer, kIdentity.data(), planes, order);
  } else {
    write_planes(board, nullptr, layout, viewer, kIdentity.data(), planes, order);
  }
}

void write_mask(const Board& board, bool resign_action, std::int8_t* mask) {
  const int area = board.rules().area();
  const PointSet legal = legal_points(board);
  for (Point p = 0; p < area; ++p) mask[p] = legal.has(p);
  if (resign_action) mask[area] = !legal.empty();
}

template void write_observation(const Board&, PlaneLayout, Colour, PlaneOrder, std::int8_t*);
template void write_observation(const Board&, PlaneLayout, Colour, PlaneOrder, std::uint8_t*);
template void write_observation(const Board&, PlaneLayout, Colour, PlaneOrder, float*);

}  // namespace tengen

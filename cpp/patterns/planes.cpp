#include "patterns/planes.h"

#include <algorithm>
#include <cstddef>

namespace tengen {
namespace {

constexpr int kThreatPlanesOfAColour = 4;

// A stone may make a four and a three at once; five and open four leave nothing else to say.
void write_threats(const PatternBoard& board, Colour colour, const Point* where, int area, float* planes) {
  const auto mark = [&](int plane, Point p) { planes[plane * area + where[p]] = 1.0f; };
  board.fives(colour).for_each([&](Point p) { mark(0, p); });
  board.fours(colour).for_each([&](Point p) {
    const Threat threat = board.threat(colour, p);
    mark(threat == threat::kOpenFour ? 1 : 2, p);
    if (threat == threat::kFourThree) mark(3, p);
  });
  board.threes(colour).for_each([&](Point p) { mark(3, p); });
}

}  // namespace

void write_planes(const Board& board, const PatternBoard* patterns, PlaneLayout layout, Colour viewer,
                  const Point* where, float* planes) {
  const int area = board.rules().area();
  const Cell own = stone(viewer);
  std::fill_n(planes, static_cast<std::ptrdiff_t>(plane_count(layout)) * area, 0.0f);
  float* const first = planes;
  float* const second = planes + area;
  const auto plane = [&](int index) { return planes + static_cast<std::ptrdiff_t>(index) * area; };
  const auto write_stones = [&](float* of_own, float* of_other, float value_of_other) {
    for (Point p = 0; p < area; ++p)
      if (const Cell cell = board.at(p); cell != kEmpty)
        (cell == own ? of_own : of_other)[where[p]] = cell == own ? 1.0f : value_of_other;
  };
  const auto write_colour = [&](int index) { std::fill_n(plane(index), area, viewer == kBlack ? 1.0f : 0.0f); };
  const auto write_move = [&](int index, int plies_ago) {
    if (board.ply() >= plies_ago) plane(index)[where[board.move(board.ply() - plies_ago)]] = 1.0f;
  };

  switch (layout) {
    case PlaneLayout::kBoard:
      write_stones(first, first, -1.0f);
      break;
    case PlaneLayout::kOwnOther:
      write_stones(first, second, 1.0f);
      break;
    case PlaneLayout::kOwnOtherLastColour:
      write_stones(first, second, 1.0f);
      write_move(2, 1);
      write_colour(3);
      break;
    case PlaneLayout::kBlackWhiteOccupied:
      for (Point p = 0; p < area; ++p)
        if (const Cell cell = board.at(p); cell != kEmpty)
          plane(cell - kBlackStone)[where[p]] = plane(2)[where[p]] = 1.0f;
      break;
    case PlaneLayout::kStones:
      write_stones(first, second, 1.0f);
      write_colour(2);
      write_move(3, 1);
      write_move(4, 2);
      break;
    case PlaneLayout::kThreatsLast:
      write_move(plane_count(PlaneLayout::kThreats), 1);
      write_move(plane_count(PlaneLayout::kThreats) + 1, 2);
      [[fallthrough]];
    case PlaneLayout::kThreats:
      write_stones(first, second, 1.0f);
      write_colour(2);
      write_threats(*patterns, viewer, where, area, plane(3));
      write_threats(*patterns, opponent(viewer), where, area, plane(3 + kThreatPlanesOfAColour));
      patterns->doubtful().for_each([&](Point p) { plane(3 + 2 * kThreatPlanesOfAColour)[where[p]] = 1.0f; });
      break;
  }
}

}  // namespace tengen

// The set of a board's empty points, with random sampling in constant time.
#pragma once

#include <array>
#include <numeric>
#include <utility>

#include "core/rng.h"
#include "patterns/legality.h"

namespace tengen {

// A sparse set: a permutation of all points. The first size() points are in the set.
class EmptyPoints {
 public:
  // All points, in index order.
  explicit EmptyPoints(int area) : area_(area), size_(area) {
    std::iota(points_.begin(), points_.begin() + area, Point{0});
    std::iota(places_.begin(), places_.begin() + area, Point{0});
  }

  int size() const { return size_; }

  // Add all points again. Their order does not change.
  void refill() { size_ = area_; }

  void remove(Point point) { swap_places(places_[point], --size_); }

  // Return a random legal point for the side to move, or kNoPoint if there is none. The set does not change; its order
  // changes only if a foul was drawn.
  Point draw_legal(const Board& board, Rng& rng) {
    const bool fouls = has_fouls(board);
    for (int left = size_; left > 0; --left) {
      const auto place = static_cast<int>(rng.below(static_cast<std::uint32_t>(left)));
      const Point point = points_[place];
      if (!fouls || foul_at(board, point) == Foul::kNone) return point;
      swap_places(place, left - 1);
    }
    return kNoPoint;
  }

 private:
  void swap_places(int a, int b) {
    std::swap(points_[a], points_[b]);
    places_[points_[a]] = static_cast<Point>(a);
    places_[points_[b]] = static_cast<Point>(b);
  }

  int area_;
  int size_;
  std::array<Point, kMaxArea> points_;
  std::array<Point, kMaxArea> places_;  // index of each point in points_
};

}  // namespace tengen

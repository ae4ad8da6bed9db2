// Lists of points in the order in which a search tries them: highest score first, ties to the lower index.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include "search/fudan/point_scores.h"

namespace tengen::fudan {

class PointList {
 public:
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Point operator[](int i) const { return points_[i]; }
  const Point* begin() const { return points_.data(); }
  const Point* end() const { return points_.data() + size_; }
  void add(Point point) { points_[size_++] = point; }

 private:
  std::array<Point, kMaxArea> points_;
  int size_ = 0;
};

// Points with their scores until they are sorted.
class Ranking {
 public:
  void add(Point point, Score score) { keys_[size_++] = static_cast<std::uint64_t>(score) << 16 | (0xFFFFu - point); }

  // The best `most` points.
  PointList best(int most) {
    most = std::min(most, size_);
    std::partial_sort(keys_.begin(), keys_.begin() + most, keys_.begin() + size_, std::greater<>());
    PointList points;
    for (int i = 0; i < most; ++i) points.add(static_cast<Point>(0xFFFFu - (keys_[i] & 0xFFFFu)));
    return points;
  }

  PointList all() { return best(size_); }

 private:
  std::array<std::uint64_t, kMaxArea> keys_;
  int size_ = 0;
};

// The best `most` empty points next to a stone, by the higher of the two colours' scores.
inline PointList best_neighbours(const PointScores& scores, int most) {
  Ranking ranking;
  scores.neighbours().for_each(
      [&](Point p) { ranking.add(p, std::max(scores.score(kBlack, p), scores.score(kWhite, p))); });
  return ranking.best(most);
}

// All empty points that are worth `at_least` to a colour.
inline PointList points_worth(const PointScores& scores, Colour colour, Score at_least) {
  Ranking ranking;
  for (Point p = 0; p < scores.area(); ++p)
    if (scores.score(colour, p) >= at_least && scores.is_empty(p)) ranking.add(p, scores.score(colour, p));
  return ranking.all();
}

}  // namespace tengen::fudan

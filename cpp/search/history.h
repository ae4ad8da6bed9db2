// What earlier cutoffs say about moves: kept by each thread for the whole search.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "core/types.h"

namespace tengen {

class History {
 public:
  static constexpr int kLimit = 8192;

  void clear() {
    for (auto& colour : scores_) colour.fill(0);
    for (auto& colour : counters_) colour.fill(kNoPoint);
  }

  int score(Colour colour, Point move) const { return scores_[colour][move]; }

  // Move the score towards +-kLimit; the nearer it is, the smaller the step.
  void update(Colour colour, Point move, int bonus) {
    bonus = std::clamp(bonus, -kLimit, kLimit);
    std::int16_t& score = scores_[colour][move];
    score = static_cast<std::int16_t>(score + bonus - score * std::abs(bonus) / kLimit);
  }

  // The move that last refuted `move` of the opponent of `colour`.
  Point counter(Colour colour, Point move) const { return move == kNoPoint ? kNoPoint : counters_[colour][move]; }
  void set_counter(Colour colour, Point move, Point answer) {
    if (move != kNoPoint) counters_[colour][move] = answer;
  }

 private:
  std::array<std::array<std::int16_t, kMaxArea>, 2> scores_{};
  std::array<std::array<Point, kMaxArea>, 2> counters_{};
};

}  // namespace tengen

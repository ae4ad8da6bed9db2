// History scores: how often moves caused cutoffs, by point and by kind of move. Each thread keeps its own history for
// the whole search.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include "core/types.h"
#include "patterns/shapes.h"

namespace tengen {

class History {
 public:
  static constexpr int kLimit = 8192;

  // The threat that a move creates, and the opponent's threat that it removes.
  struct Kind {
    Threat own;
    Threat other;
  };

  void clear() {
    for (auto& colour : scores_) colour.fill(0);
    kind_scores_ = {};
    for (auto& colour : counters_) colour.fill(kNoPoint);
  }

  int score(Colour colour, Point move) const { return scores_[colour][move]; }
  int score(Colour colour, Kind kind) const { return kind_scores_[colour][kind.own][kind.other]; }

  void update(Colour colour, Point move, Kind kind, int bonus) {
    update(scores_[colour][move], bonus);
    update(kind_scores_[colour][kind.own][kind.other], bonus);
  }

  // The move by `colour` that last refuted the opponent's `move`.
  Point counter(Colour colour, Point move) const { return move == kNoPoint ? kNoPoint : counters_[colour][move]; }
  void set_counter(Colour colour, Point move, Point answer) {
    if (move != kNoPoint) counters_[colour][move] = answer;
  }

 private:
  // Move the score towards +-kLimit, in steps that shrink as it gets closer.
  static void update(std::int16_t& score, int bonus) {
    bonus = std::clamp(bonus, -kLimit, kLimit);
    score = static_cast<std::int16_t>(score + bonus - score * std::abs(bonus) / kLimit);
  }

  std::array<std::array<std::int16_t, kMaxArea>, 2> scores_{};
  std::array<std::array<std::array<std::int16_t, threat::kCount>, threat::kCount>, 2> kind_scores_{};
  std::array<std::array<Point, kMaxArea>, 2> counters_{};
};

}  // namespace tengen

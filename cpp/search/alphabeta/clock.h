// Time control of the alpha-beta engine: how long to think about one move.
#pragma once

#include <cstdint>

#include "core/types.h"
#include "search/alphabeta/value.h"

namespace tengen {

// Time limits in milliseconds; -1 for no limit.
struct TimeLimits {
  std::int64_t time_ms = -1;      // for this move
  std::int64_t clock_ms = -1;     // left on the clock for the rest of the game
  std::int64_t increment_ms = 0;  // added to the clock after each move
};

// The result of a completed iteration.
struct Iteration {
  int depth = 0;
  std::int64_t elapsed_ms = 0;  // since the start of the search
  Point move = kNoPoint;        // the best move
  Value value = 0;              // of the best move, for the side to move
  bool is_only_move = false;    // whether all other moves lose
};

// Decides when the search for one move ends. It reads no clock itself: the search reports the elapsed time.
//
// hard_ms() is the limit at which the search is stopped, even within an iteration. soft_ms() is the time that the move
// should take on average. After each iteration, is_enough compares the elapsed time with the soft limit. The limit is
// lowered if the best move has been the same for long, and raised if the best move changes or the value falls. If all
// other moves lose, or there is only one move, the limit is much lower, because more time would not change the choice.
class MoveClock {
 public:
  // `stones` and `area` are those of the board. If `is_managed` is false, every move gets a fixed share of the clock.
  MoveClock(const TimeLimits& limits, int stones, int area, bool is_managed);

  std::int64_t soft_ms() const { return soft_ms_; }
  std::int64_t hard_ms() const { return hard_ms_; }

  // Lower the limits because there is a single move: the search only updates its value.
  void set_single_move();

  // Record a completed iteration. Returns whether the search should end now.
  bool is_enough(const Iteration& iteration);

 private:
  void share_evenly(const TimeLimits& limits);
  void plan(const TimeLimits& limits, int stones, int area);
  void note(const Iteration& iteration);
  // The factor for soft_ms, in percent.
  int need(std::int64_t elapsed_ms) const;

  std::int64_t soft_ms_ = -1;  // -1 for no limit
  std::int64_t hard_ms_ = -1;  // -1 for no limit
  bool is_managed_;
  bool is_single_move_ = false;

  Point move_ = kNoPoint;       // the best move of the last iteration
  std::int64_t chosen_ms_ = 0;  // when it became the best move
  std::int64_t last_ms_ = 0;    // when the last iteration ended
  int changes_ = 0;             // recent changes of the best move in hundredths; each iteration halves them
  int mean_score_ = 0;          // average of earlier iterations, in thousandths of a win
  int fall_ = 0;                // how far the last score is below this average
  bool has_score_ = false;
};

}  // namespace tengen

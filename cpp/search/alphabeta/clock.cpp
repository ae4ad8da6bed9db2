#include "search/alphabeta/clock.h"

#include <algorithm>
#include <cmath>

#include "eval/weights.h"

namespace tengen {
namespace {

// ---- Shares of the clock, without time management -------------------------------------------------------------------

constexpr int kPlainShare = 20;     // a move takes about a twentieth of the clock
constexpr int kPlainHardShare = 7;  // and at most a seventh

// ---- Shares of the clock, with time management ----------------------------------------------------------------------

// Time reserved on the clock for delays between the engine and the manager: one long delay, and a short delay for every
// move until the board is full, as far as the increment does not cover it.
constexpr std::int64_t kLongDelayMs = 250;
constexpr std::int64_t kDelayMs = 6;
// Expected moves to the end of the game: kMovesToGo at the start, one less for every kStonesPerMove stones, but at
// least kFewestMovesToGo.
constexpr int kMovesToGo = 16;
constexpr int kFewestMovesToGo = 11;
constexpr int kStonesPerMove = 5;
// A move takes at most 1 / kHardShare of the clock, and at most kMostTimesSoft times its soft limit.
constexpr int kHardShare = 4;
constexpr int kMostTimesSoft = 4;
// Percentage of the increment that a move may use.
constexpr int kIncrementPercent = 85;
// The clock is ignored if it is enough for kUnboundMoves moves at the full time per move.
constexpr int kUnboundMoves = 60;
// The first move of the game is simple: it gets 1 / kFirstMoveShare of the time.
constexpr int kFirstMoveShare = 8;

// If there is a single move, the search only updates the value, and its limits are divided by these numbers.
constexpr int kSingleMoveShare = 16;
constexpr int kSingleMoveHardShare = 8;
// If all other moves lose, the search ends after 1 / kOnlyMoveShare of the soft limit.
constexpr int kOnlyMoveShare = 8;

// ---- Adjustments to the soft limit, in percent ----------------------------------------------------------------------

// Iterations below this depth are ignored, because their best moves and values are unreliable.
constexpr int kFirstDepth = 4;
// The limit is scaled by kUnsettled percent if the best move has just changed, and by kSettled percent if it has never
// changed.
constexpr int kUnsettled = 160;
constexpr int kSettled = 65;
// Percentage added for each recent change of the best move, and its maximum.
constexpr int kPerChange = 30;
constexpr int kMostForChanges = 80;
// Percentage added if the score falls by a tenth of a win (a draw is 0, a win 1), and its maximum.
constexpr int kPerTenthFallen = 20;
constexpr int kMostForFall = 80;

// The expected result in thousandths of a win.
int score_of(Value value) {
  if (is_decided(value)) return value > 0 ? 1000 : -1000;
  return static_cast<int>(std::lround(1000 * std::tanh(value / (2.0 * kLogisticUnit))));
}

// The part of the clock to divide among the moves; the rest is reserved for delays. Below twice the reserve, this part
// shrinks with the square of the clock, so that a growing fraction of the clock is reserved.
std::int64_t without_delays(std::int64_t clock_ms, std::int64_t delays_ms) {
  return clock_ms >= 2 * delays_ms ? clock_ms - delays_ms : clock_ms * clock_ms / (4 * delays_ms);
}

std::int64_t least(std::int64_t limit, std::int64_t other) { return limit < 0 ? other : std::min(limit, other); }

}  // namespace

MoveClock::MoveClock(const TimeLimits& limits, int stones, int area, bool is_managed)
    : hard_ms_(limits.time_ms), is_managed_(is_managed) {
  if (limits.clock_ms < 0) return;
  if (is_managed)
    plan(limits, stones, area);
  else
    share_evenly(limits);
}

void MoveClock::share_evenly(const TimeLimits& limits) {
  const std::int64_t most = std::min(limits.clock_ms / kPlainHardShare + limits.increment_ms, limits.clock_ms);
  hard_ms_ = std::max<std::int64_t>(1, least(hard_ms_, most));
  soft_ms_ = std::clamp<std::int64_t>(limits.clock_ms / kPlainShare + limits.increment_ms * 3 / 4, 1, hard_ms_);
}

void MoveClock::plan(const TimeLimits& limits, int stones, int area) {
  const int most_moves = std::max(1, (area - stones + 1) / 2);
  const std::int64_t delays = kLongDelayMs + most_moves * std::max<std::int64_t>(0, kDelayMs - limits.increment_ms);
  const std::int64_t left = without_delays(limits.clock_ms, delays);
  // A clock that cannot run out does not shorten the time per move.
  if (limits.time_ms >= 0 && limits.time_ms * std::min(kUnboundMoves, most_moves) <= left) return;

  const int moves = std::min(std::max(kMovesToGo - stones / kStonesPerMove, kFewestMovesToGo), most_moves);
  // Below twice the reserve, moves use less of the increment, so that the clock can recover from long delays.
  const std::int64_t increment =
      limits.increment_ms * kIncrementPercent / 100 * std::min(limits.clock_ms, 2 * delays) / (2 * delays);
  soft_ms_ = std::min(left, left / moves + increment);
  if (stones == 0) soft_ms_ /= kFirstMoveShare;
  soft_ms_ = std::max<std::int64_t>(1, soft_ms_);
  const std::int64_t most = std::min({left, left / std::min(kHardShare, moves) + increment, kMostTimesSoft * soft_ms_});
  hard_ms_ = std::max<std::int64_t>(1, least(hard_ms_, most));
}

void MoveClock::set_single_move() {
  is_single_move_ = true;
  if (hard_ms_ >= 0) hard_ms_ /= kSingleMoveHardShare;
  if (soft_ms_ >= 0) soft_ms_ /= kSingleMoveShare;
}

bool MoveClock::is_enough(const Iteration& iteration) {
  if (soft_ms_ < 0) return false;
  if (!is_managed_ || is_single_move_) return iteration.elapsed_ms >= soft_ms_;
  note(iteration);
  if (iteration.is_only_move && iteration.depth >= kFirstDepth)
    return iteration.elapsed_ms >= soft_ms_ / kOnlyMoveShare;
  return 100 * iteration.elapsed_ms >= soft_ms_ * need(iteration.elapsed_ms);
}

void MoveClock::note(const Iteration& iteration) {
  if (iteration.depth < kFirstDepth) return;
  changes_ /= 2;
  if (iteration.move != move_) {
    // The move became the best at some time during this iteration; assume its start.
    if (move_ != kNoPoint) {
      chosen_ms_ = last_ms_;
      changes_ += 100;
    }
    move_ = iteration.move;
  }
  last_ms_ = iteration.elapsed_ms;
  const int score = score_of(iteration.value);
  fall_ = has_score_ ? std::max(0, mean_score_ - score) : 0;
  mean_score_ = has_score_ ? (mean_score_ + score) / 2 : score;
  has_score_ = true;
}

int MoveClock::need(std::int64_t elapsed_ms) const {
  const std::int64_t settled_ms = elapsed_ms - chosen_ms_;
  const int stability =
      kUnsettled - static_cast<int>((kUnsettled - kSettled) * settled_ms / std::max<std::int64_t>(1, elapsed_ms));
  const int changes = std::min(kMostForChanges, kPerChange * changes_ / 100);
  const int fall = std::min(kMostForFall, kPerTenthFallen * fall_ / 100);
  return stability * (100 + changes + fall) / 100;
}

}  // namespace tengen
